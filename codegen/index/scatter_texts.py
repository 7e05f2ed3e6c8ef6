"""Prints scatters: an element of a fold goes where its condition says, if that is in the result."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ..formula.expressions import ZERO
from ..formula.result import cost
from ..model import place as places
from ..model.index import LAST, NAMED, Access, Read, Source, Statement, Test
from ..model.loops import Loop, Nest
from ..model.place import LOOKED_AT, Atom, Function, Index, Place
from .bisection_texts import BisectionWriter
from .fold_texts import combined
from .loop_texts import HEAVY
from .rewrite import map_places, without_twins
from .writer import Writer, own_places, python_name


class ScatterWriter(BisectionWriter):
    """One nest whose values are put together, perhaps at places that they tell."""

    def __init__(self, writer: Writer, nest: Nest) -> None:
        super().__init__(writer, nest)
        self.moved: dict[Atom, Place] = {}
        """Where indices of the result are, as far as that is known."""
        self.starts: dict[str, tuple[str, str]] = {}
        """Those that move with a loop further in: its index, and where they are at its 0."""
        self.item: str | None = None
        """The value, where no loop further in changes it."""

    def scatter(self) -> None:
        """First all elements of the result are nothing, then each value meets its own."""
        writer, nest = self.writer, self.nest
        (statement,) = nest.statements
        assert nest.scattered is not None
        start = writer.depth
        loops = [*map(Loop, nest.scattered), *([nest.vector] if nest.vector else [])]
        loops.sort(key=lambda loop: statement.indices.index(loop.index))
        self.begin_apart(statement)
        begun = self.beginning(statement)
        if self.fills_at_once(statement, loops):
            self.fill_at_once(statement, loops, begun)
        for loop in loops:
            self.loop(replace(loop, lower=(), upper=()))
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

    def fills_at_once(self, statement: Statement, loops: Sequence[Loop]) -> bool:
        """Whether a result of two dims begins as the same number everywhere, its rows as wholes:
        where threads share a row, each has a part of it."""
        fold = statement.fold
        is_same = fold is not None and fold.start is None and len(loops) == 2
        if not is_same or tuple(loop.index for loop in loops) != statement.indices[-2:]:
            return False
        row = replace(loops[1], lower=(), upper=())
        return self.bounds(row, "0", "") == ("0", self.writer.extent(row.index))

    def fill_at_once(self, statement: Statement, loops: Sequence[Loop], begun: str) -> None:
        """Rows without gaps in one loop, which becomes one call of C; else what follows."""
        outer, inner = loops
        rank, extent = len(statement.indices), self.writer.extent(inner.index)
        first, last = self.bounds(replace(outer, lower=(), upper=()), "0", "")
        name = self.writer.fresh(f"{statement.target}_element")
        target = self.target(statement)
        places_ = (*target.places[:-2], Place(), places.of(Index(name)))
        memory = self.writer.memory(replace(target, places=places_))
        steps = [f"{statement.target}_s{dim}" for dim in (rank - 2, rank - 1)]
        depth = self.writer.depth
        self.indent(f"if {steps[0]} == {extent} * {steps[1]}:")
        start = "0" if first == "0" else f"{first} * {extent}"
        self.indent(f"for {name} in range({start}, {last} * {extent}):")
        self.put(f"{memory} = {begun}")
        self.writer.depth = depth
        self.indent("else:")

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
        self.fold_loops()
        if nest.vector is not None:
            self.fold_loop(nest.vector, {nest.vector.index, *(nest.scattered or ())})
        self.guarded()
        item = self.item or self.made_item(statement)
        self.combine(statement, self.position(statement), item)

    def made_item(self, statement: Statement) -> str:
        """A variable that holds the value."""
        at = map_places(statement, lambda place: place.substitute(self.moved))
        item = self.writer.fresh(f"{statement.target}_item")
        self.put(f"{item} = {self.value(at)}")
        return item

    def reached(self, unbound: Collection[str]) -> None:
        """Of a scatter also the ends of loops that divide, the value, and where it goes."""
        if self.nest.scattered is None:
            return super().reached(unbound)
        self.limit_known(unbound)
        self.guarded(unbound)
        if self.is_settled(unbound):
            self.item = self.made_item(self.nest.statements[0])
        self.place_known(unbound)
        self.start_known(unbound)

    def fold_loop(self, loop: Loop, unbound: set[str]) -> None:
        """Only as far as places are inside that move with it."""
        moving = {n: start for n, (index, start) in self.starts.items() if index == loop.index}
        if self.nest.scattered is None or not moving:
            return super().fold_loop(loop, unbound)
        first, last = self.bounds(loop, "0", "")
        for name, start in moving.items():
            if not self.writer.sizes.is_never_negative(self.nest.scattered[name]):
                first = f"greater({first}, -{start})"
            last = f"lesser({last}, {self.writer.extent(name)} - {start})"
        self.loop(replace(loop, lower=(), upper=()), first, last)
        unbound.discard(loop.index)
        for name, start in moving.items():
            self.placed(name, f"{start} + {python_name(loop.index)}")
        self.reached(unbound)

    def is_settled(self, unbound: Collection[str]) -> bool:
        """Whether all that the value is made of is known here, and loops go on inside."""
        (statement,) = self.nest.statements
        loops = {loop.index for loop in self.nest.inner}
        if self.item or self.guards or self.nest.vector or not loops & set(unbound):
            return False
        return not _needed(statement) & set(unbound) and all(map(_is_plain, statement.accesses))

    def place_known(self, unbound: Collection[str]) -> None:
        """Where indices of the result are, if that is in it, as far as it can be told here."""
        writer = self.writer
        for name, place in (self.nest.scattered or {}).items():
            if Index(name) in self.moved or set(unbound) & set(place.indices):
                continue
            variable = self.placed(name, writer.place(self.settled(place)))
            if not is_looked_at(place):
                self.indent(f"if {self.is_inside(variable, writer.sizes.extent[name])}:")

    def placed(self, name: str, text: str) -> str:
        """Keep where an index of the result is."""
        variable = self.writer.fresh(f"to_{name}_place")
        self.moved[Index(name)] = places.of(Index(variable))
        self.writer.sizes.extent[variable] = self.writer.sizes.extent[name]
        self.put(f"{variable} = {text}")
        return variable

    def start_known(self, unbound: Collection[str]) -> None:
        """Where places are at the 0 of the only loop with which they still move, step by step."""
        loops = [loop.index for loop in self.nest.inner]
        for name, place in (self.nest.scattered or {}).items():
            moving = [each for each in loops if each in place.indices and each in unbound]
            if Index(name) in self.moved or name in self.starts or len(moving) != 1:
                continue
            (index,) = moving
            rest = place - places.index(index)
            is_plain = index not in rest.indices and set(rest.indices).isdisjoint(unbound)
            if is_plain and any(isinstance(atom, Function) for atom in rest.atoms):
                start = self.writer.fresh(f"{name}_start")
                self.put(f"{start} = {self.writer.place(rest)}")
                self.starts[name] = index, start

    def position(self, statement: Statement) -> str:
        """Where in memory an element of the result is."""
        target = self.target(statement)
        own = tuple(place.substitute(self.moved) for place in target.places)
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
        loops = [*self.nest.inner, *([self.nest.vector] if self.nest.vector else [])]
        if work <= HEAVY or not loops or self.nest.guards:
            return False
        return loops[-1].index in _needed(statement)

    def scatter_blocks(self, statement: Statement) -> None:
        """Blocks of values, then of their places."""
        nest = self.nest
        assert nest.scattered is not None
        inner = nest.vector or nest.inner[-1]
        self.fold_loops(without_last=nest.vector is None)
        first, last = self.bounds(inner, "0", "")
        self.indent(f"for begin in range({first}, {last}, BLOCK):")
        self.put(f"end = lesser(begin + BLOCK, {last})")
        block = self.value_block(statement, replace(inner, lower=(), upper=()))
        self.loop(replace(inner, lower=(), upper=()), "begin", "end")
        self.place_known(nest.scattered)
        self.combine(statement, self.position(statement), block)

    def value_block(self, statement: Statement, loop: Loop) -> str:
        """Compute a block of values; what it is called in the loop over these."""
        writer, nest = self.writer, self.nest
        assert nest.scattered is not None
        told: dict[Atom, Place] = {Index(name): place for name, place in nest.scattered.items()}
        at = _read_at(statement, {**told, **self.moved})
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


def _needed(statement: Statement) -> set[str]:
    """The indices on which the value depends."""
    found: set[str] = set()
    for read in statement.reads:
        source = read.source.place if isinstance(read.source, Test) else read.source
        for place in source.places if isinstance(source, Access) else (source,):
            found.update(place.indices)
    return found


def _is_plain(access: Access) -> bool:
    """Whether an element is read where indices of the loops say, which is inside."""
    return access.outside is None and all(place.index for place in access.places)


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
