"""Prints scatters: an element of a fold goes where its condition says, if that is in the result."""

from __future__ import annotations

from dataclasses import replace

from ..formula.expressions import ZERO
from ..formula.result import cost
from ..model import place as places
from ..model.index import LAST, NAMED, Access, Read, Source, Statement
from ..model.loops import Loop
from ..model.place import LOOKED_AT, Atom, Function, Index, Place
from .argument_texts import ArgumentWriter
from .fold_texts import combined
from .loop_texts import HEAVY
from .rewrite import map_places, without_twins
from .writer import own_places, python_name


class ScatterWriter(ArgumentWriter):
    """One nest whose values are put together, perhaps at places that they tell."""

    def scatter(self) -> None:
        """First all elements of the result are nothing, then each value meets its own."""
        writer, nest = self.writer, self.nest
        (statement,) = nest.statements
        assert nest.scattered is not None
        start = writer.depth
        free = [Loop(name) for name in nest.scattered]
        self.begin_apart(statement)
        for loop in (*free, *([nest.vector] if nest.vector else [])):
            self.loop(replace(loop, lower=(), upper=()))
        begun = self.beginning(statement)
        if statement.fold is not None and statement.fold.start is not None:
            self.put(f"before = {begun}")
            begun = "before"
        self.put(f"{writer.memory(self.target(statement))} = {begun}")
        writer.depth = start
        if self.scatters_in_blocks(statement):
            self.scatter_blocks(statement)
        else:
            self.scatter_one_by_one(statement)
        writer.over_batch = {}
        writer.depth = start

    def begin_apart(self, statement: Statement) -> None:
        """Ask whether the result is what it begins from, in place: then nothing is copied."""
        begun = statement.fold.start if statement.fold else None
        if begun is None or begun.tensor not in self.writer.inputs:
            return
        self.writer.arrays.setdefault(begun.tensor)
        self.writer.arrays.setdefault(statement.target)
        names = [python_name(name) for name in (statement.target, begun.tensor)]
        given = ", ".join([*names, f"{statement.target}_at", f"{begun.tensor}_at"])
        self.writer.lines.insert(0, f"    is_apart = apart({given})")
        self.indent("if is_apart:")

    @staticmethod
    def target(statement: Statement) -> Access:
        """A statement's own element."""
        return Access(statement.target, statement.has_batch, own_places(statement))

    def scatter_one_by_one(self, statement: Statement) -> None:
        """Each value goes to its place as soon as it is known."""
        nest = self.nest
        assert nest.scattered is not None
        self.fold_loops()
        inner = None if nest.vector is None else nest.vector.index
        before = [n for n, place in nest.scattered.items() if inner not in place.indices]
        moved = self.placed(before)
        if nest.vector is not None:
            self.loop(nest.vector)
        moved |= self.placed([name for name in nest.scattered if name not in before])
        self.guarded()
        at = map_places(statement, lambda place: place.substitute(moved))
        item = self.writer.fresh(f"{statement.target}_item")
        self.put(f"{item} = {self.value(at)}")
        self.combine(statement, self.position(statement, moved), item)

    def placed(self, names: list[str]) -> dict[Atom, Place]:
        """Where indices of the result are, if that is in it."""
        writer = self.writer
        assert self.nest.scattered is not None
        moved: dict[Atom, Place] = {}
        for name in names:
            variable = writer.fresh(f"to_{name}_place")
            moved[Index(name)] = places.of(Index(variable))
            writer.sizes.extent[variable] = writer.sizes.extent[name]
            place = self.nest.scattered[name]
            self.put(f"{variable} = {writer.place(place)}")
            if is_looked_at(place):
                continue
            self.indent(f"if {self.is_inside(variable, writer.sizes.extent[name])}:")
        return moved

    def position(self, statement: Statement, moved: dict[Atom, Place]) -> str:
        """Where in memory an element of the result is."""
        target = self.target(statement)
        own = tuple(place.substitute(moved) for place in target.places)
        return self.writer.offset(replace(target, places=own))

    def combine(self, statement: Statement, position: str, item: str) -> None:
        """Add a value to what its element has so far, or whatever the fold does."""
        assert statement.fold is not None
        element = f"{python_name(statement.target)}[at]"
        if statement.fold.kind == LAST:
            self.put(f"{python_name(statement.target)}[U({position})] = {item}")
            return
        self.put(f"at = U({position})")
        self.put(f"before = {element}")
        if statement.fold.kind == NAMED:
            self.put(f"arriving = {item}")
            item = "arriving"
        self.put(f"{element} = {combined(statement, 'before', item)}")

    # In blocks: what is costly is computed in vectors, before the values go to their places

    def scatters_in_blocks(self, statement: Statement) -> bool:
        """Whether values are worth a block of their own."""
        work = cost(replace(statement.formula, arguments=()))
        has_loop = bool(self.nest.vector or self.nest.inner)
        return work > HEAVY and has_loop and not self.nest.guards

    def scatter_blocks(self, statement: Statement) -> None:
        """Blocks of values, then of their places."""
        nest = self.nest
        assert nest.scattered is not None
        inner = nest.vector or nest.inner[-1]
        self.fold_loops(without_last=nest.vector is None)
        before = [n for n, place in nest.scattered.items() if inner.index not in place.indices]
        moved = self.placed(before)
        first, last = self.bounds(inner, "0", "")
        self.indent(f"for begin in range({first}, {last}, BLOCK):")
        self.put(f"end = lesser(begin + BLOCK, {last})")
        block = self.value_block(statement, replace(inner, lower=(), upper=()), moved)
        self.loop(replace(inner, lower=(), upper=()), "begin", "end")
        moved |= self.placed([name for name in nest.scattered if name not in before])
        self.combine(statement, self.position(statement, moved), block)

    def value_block(self, statement: Statement, loop: Loop, moved: dict[Atom, Place]) -> str:
        """Compute a block of values; what it is called in the loop over these."""
        writer, nest = self.writer, self.nest
        assert nest.scattered is not None
        told: dict[Atom, Place] = {Index(name): place for name, place in nest.scattered.items()}
        at = _read_at(statement, {**told, **moved})
        block = writer.fresh(f"{statement.target}_items")
        writer.lines.insert(0, f"    {block} = np.empty(BLOCK, T)")
        self.nest = replace(nest, statements=(at,))
        self.stage(loop)
        depth = writer.depth
        self.loop(loop, "begin", "end")
        element = f"{block}[U({python_name(loop.index)} - begin)]"
        self.put(f"{element} = {self.value(at)}")
        writer.depth = depth
        self.nest = nest
        return element


def is_looked_at(place: Place) -> bool:
    """Whether a place is looked at before anything is written."""
    rule = place.atoms[0] if place.atoms and place == places.of(place.atoms[0]) else None
    return isinstance(rule, Function) and rule.name in LOOKED_AT


def _read_at(statement: Statement, told: dict[Atom, Place]) -> Statement:
    """The statement with places for indices of its result, which may be outside of that."""

    def change(source: Source) -> Source:
        if isinstance(source, Access) and source.outside is None:
            found = tuple(place.substitute(told) for place in source.places)
            return source if found == source.places else replace(source, places=found, outside=ZERO)
        return source

    sources = without_twins({read.name: change(read.source) for read in statement.reads})
    reads = tuple(Read(name, source) for name, source in sources.items())
    return map_places(replace(statement, reads=reads), lambda place: place.substitute(told))
