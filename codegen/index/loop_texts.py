"""Prints loops over indices, between their bounds, in blocks or not."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from ..formula.result import cost
from ..model import place as places
from ..model.index import Access, Statement, Test
from ..model.loops import Loop, presumed_step
from ..model.place import Atom, Element, Function, Index, Place, looked_at
from .edges import Edges, edges_of
from .loads import Loads
from .rewrite import map_places
from .sizes import size_of
from .tidy_texts import bare
from .writer import python_name

HEAVY = 36 + 12
"""Work of formulas, in multiplications and with what they read, from which vectors pay."""


DIVIDING = ("quotient", "remainder", "wrap")


class LoopWriter(Loads):
    """The loops of one nest, in blocks where uneven reads are made first."""

    def loop(self, loop: Loop, first: str = "0", last: str = "") -> None:
        """`for` over an index between its bounds; first, last: others."""
        first, last = self.bounds(loop, first, last)
        bounds = last if first == "0" else f"{first}, {last}"
        if loop.is_reversed:
            bounds = f"{last} - 1, {first} - 1, -1"
        self.indent(f"for {python_name(loop.index)} in range({bounds}):")

    def bounds(self, loop: Loop, first: str, last: str) -> tuple[str, str]:
        """Where a loop begins and ends."""
        writer = self.writer
        if not last and (loop.index, loop.lower, loop.upper) in writer.limits:
            return writer.limits[loop.index, loop.lower, loop.upper]
        if writer.phase.spread == loop.index and not last:
            first, last = "start", "stop"
        if writer.phase.tile == loop.index and not last:
            first, last = "begin", "end"
        if writer.shares_vector and loop.index == getattr(self.nest.vector, "index", None):
            first, last = (first, last) if last else ("range_start", "range_stop")
        last = last or writer.extent(loop.index)
        for place in loop.lower:
            first = self.bound(("greater", "first_turn"), first, place, loop)
        for place in loop.upper:
            last = self.bound(("lesser", "end_turn"), last, place, loop)
        return first, last

    def bound(self, names: tuple[str, str], known: str, place: Place, loop: Loop) -> str:
        """A bound of a loop and another; with the second function where that takes a step.

        One that is looked at is neither before the first element nor behind the last.
        """
        writer = self.writer
        if (looked := looked_at(place)) is not None:
            inside = writer.place(self.checked(*looked))
            is_only = known in ("0", writer.extent(loop.index))
            return inside if is_only else f"{names[0]}({known}, {inside})"
        found = presumed_step(place, writer.program.extent[loop.index])
        if found is None:
            return f"{names[0]}({known}, {writer.place(place)})"
        step, turn = found
        return f"{names[1]}({known}, {writer.place(step)}, {writer.place(turn)})"

    def limit(self, unknown: Collection[str] = ()) -> None:
        """Keep where loops begin and end that divide to know it: LLVM would divide at each turn."""
        self.limit_known({*unknown, *(loop.index for loop in self.nest.inner)})

    def limit_known(self, names: Collection[str]) -> None:
        """The same of those that need none of these indices."""
        writer = self.writer
        for loop in self.nest.inner:
            ends = (*loop.lower, *loop.upper)
            divides = any(isinstance(atom, Function) for place in ends for atom in place.atoms)
            if not divides or any(set(place.indices) & {*names} for place in ends):
                continue
            if (loop.index, loop.lower, loop.upper) in writer.limits:
                continue
            first, last = self.bounds(loop, "0", "")
            end = writer.fresh(f"{loop.index}_end")
            if loop.lower:
                first, begins = writer.fresh(f"{loop.index}_first"), first
                self.put(f"{first} = {self.as_count(begins)}")
                writer.sizes.extent[first] = writer.sizes.extent[loop.index]
            self.put(f"{end} = {self.as_count(last)}")
            writer.limits[loop.index, loop.lower, loop.upper] = first, end

    def as_element(self, count: str) -> str:
        """What has been counted, of the type that memory holds."""
        return count

    def as_count(self, bound: str) -> str:
        """A bound, of the type that loops count in."""
        return bound

    def fold_loops(self, without_last: bool = False) -> None:
        """The loops over what is folded, `...` outermost, the last perhaps left out."""
        writer, nest = self.writer, self.nest
        if nest.over_batch:
            self.indent("for row in range(batches):")
            for name in writer.batched():
                self.put(f"{name}_b = {writer.row_of(name, 'row')}")
                writer.over_batch[name] = f"{name}_b"
            if writer.phase.runs_batch and not without_last:
                self.indent("for run in range(run_size):")
        unbound = {loop.index for loop in (*nest.inner, *([nest.vector] if nest.vector else []))}
        unbound |= set(nest.scattered or ())
        self.reached(unbound)
        for loop in nest.inner[: len(nest.inner) - without_last]:
            self.fold_loop(loop, unbound)

    def fold_loop(self, loop: Loop, unbound: set[str]) -> None:
        """One of them. unbound: the indices of this one and of those further in."""
        self.loop(loop)
        unbound.discard(loop.index)
        self.reached(unbound)

    def reached(self, unbound: Collection[str]) -> None:
        """What is known where these indices are the ones that come further in."""
        self.guarded(unbound)

    def guarded(self, unbound: Collection[str] = ()) -> None:
        """Ask what has not been asked and does not need these indices, which come further in."""
        known = [test for test in self.guards if not set(unbound) & set(test.place.indices)]
        self.guards = [test for test in self.guards if test not in known]
        if known:
            self.indent(f"if {' and '.join(map(self.test, known))}:")

    # Places that an innermost loop does not change

    def load_places(self, loop: Loop, of_reads: bool = False) -> None:
        """Load the elements that are places and stay what they are in a loop.

        LLVM loads them for every step, as the loop might write them, and then uses no vectors. Nor
        does it take out divisions.
        """
        made = {each.target for each in self.nest.statements}
        for statement in self.nest.statements:
            told = _places_of_reads(statement) if of_reads else statement.all_places
            for atom in [atom for place in told for atom in place.atoms]:
                if atom in self.writer.loaded or loop.index in places.of(atom).indices:
                    continue
                if isinstance(atom, Element):
                    own = [place.index for place in atom.places]
                    if atom.tensor in made or None in own:
                        continue
                    word, text = atom.tensor, self.writer.atom(atom)
                elif isinstance(atom, Function) and _moves_division(atom):
                    word, text = atom.name, self.writer.atom(atom)
                    text = text[1:-1] if text.startswith("(") else text
                else:
                    continue
                variable = self.writer.fresh(f"{word}_value")
                self.put(f"{variable} = {text}")
                self.writer.loaded[atom] = variable

    def load_settled(self, loop: Loop) -> None:
        """Load the elements that an innermost loop does not change, and where others are."""
        self.load_places(loop, of_reads=True)
        for statement in self.nest.statements:
            self.tests = statement.fold.where if statement.fold else ()
            for read in statement.reads:
                source = read.source
                if isinstance(source, Access) and not any(
                    loop.index in place.indices for place in source.places
                ):
                    self.source(source, statement.formula, read.name)

    # Reads that are not dense

    def irregular(self, index: str) -> list[Access]:
        """The elements that are read at places that do not move evenly with an index."""
        found: dict[Access, None] = {}
        made = {each.target for each in self.nest.statements}
        for statement in self.nest.statements:
            for read in statement.reads:
                source = read.source
                if not isinstance(source, Access) or source.tensor in made:
                    continue
                atoms = {atom for place in source.places for atom in place.atoms}
                if any(isinstance(atom, Element) and atom.tensor in made for atom in atoms):
                    continue
                is_number = self.writer.tensors[source.tensor].type == "number"
                if is_number and any(_is_uneven(place, index) for place in source.places):
                    found.setdefault(source)
        return list(found)

    def in_blocks(self) -> bool:
        """Whether elements are computed in blocks, of which uneven reads are made first.

        LLVM cannot tell that such a read is not of what the loop writes, and then uses no vectors.
        """
        nest = self.nest
        if nest.is_fold or not nest.outer or nest.guards or nest.outer[-1].is_reversed:
            return False
        if any(each.reads_itself for each in nest.statements):
            return False
        work = sum(cost(replace(each.formula, arguments=())) for each in nest.statements)
        return work > HEAVY and bool(self.irregular(nest.outer[-1].index))

    def blocks(self, loop: Loop) -> None:
        """The loop over a block of an index, with its uneven reads before it."""
        self.begin_blocks(loop.index)
        self.stage(loop)
        self.loop(loop, "begin", "end")

    def begin_blocks(self, index: str) -> None:
        """The loop over blocks of an index; if an item is one of them, there is no other."""
        writer = self.writer
        if writer.phase.tile == index:
            return
        is_spread = writer.phase.spread == index
        first, last = ("start", "stop") if is_spread else ("0", writer.extent(index))
        self.indent(f"for begin in range({first}, {last}, BLOCK):")
        self.put(f"end = lesser(begin + BLOCK, {last})")

    def make_block(self, name: str, dtype: str) -> None:
        """Make room for a block, before all loops."""
        size = "TILE" if self.writer.phase.tile else "BLOCK"
        self.writer.lines.insert(0, f"    {name} = np.empty({size}, {dtype})")

    def stages(self, index: str) -> bool:
        """Whether blocks along an index are made of what is not dense before they are read."""
        sources = [read.source for each in self.nest.statements for read in each.reads]
        moved = [each.place if isinstance(each, Test) else each for each in sources]
        divided = [each for each in moved if isinstance(each, Place) and _divides(each, index)]
        return bool(divided or self.irregular(index))

    def stage(self, loop: Loop) -> None:
        """Read what is not dense along an index into blocks that are."""
        writer = self.writer
        for access in self.irregular(loop.index) if not self.nest.guards else ():
            block = writer.fresh(f"{access.tensor}_block")
            self.make_block(block, "T")
            depth = writer.depth
            element = f"{block}[U({python_name(loop.index)} - begin)]"
            periodic = self.periodic(access, loop.index)
            if periodic is None:
                self.loop(loop, "begin", "end")
                self.put(f"{element} = {self.load(access)}")
            else:
                self.turns(access, *periodic, loop, element)
            writer.depth = depth
            self.values[access] = element
        self.stage_divisions(loop)

    def stage_divisions(self, loop: Loop) -> None:
        """Compute what divides whole numbers, which has no vectors, into blocks."""
        writer = self.writer
        for statement in self.nest.statements if not self.nest.guards else ():
            for source in [read.source for read in statement.reads]:
                if isinstance(source, Access) or source in self.values:
                    continue
                place = source.place if isinstance(source, Test) else source
                if not _divides(place, loop.index):
                    continue
                word, kind = ("test", "np.bool_") if isinstance(source, Test) else ("place", "T")
                block = writer.fresh(f"{word}_block")
                self.make_block(block, kind)
                depth = writer.depth
                element = f"{block}[U({python_name(loop.index)} - begin)]"
                self.loop(loop, "begin", "end")
                text = f"T({bare(writer.place(place))})"
                if isinstance(source, Test):
                    text = self.test(source)
                self.put(f"{element} = {text}")
                writer.depth = depth
                self.values[source] = element

    def periodic(self, access: Access, index: str) -> tuple[int, Function] | None:
        """The dim along which an access goes round and round, one element at each step."""
        uneven = [(n, p) for n, p in enumerate(access.places) if _is_uneven(p, index)]
        match uneven:
            case [(dim, Place(((((Function("remainder" | "wrap") as turning),), 1),)))]:
                operand, by = turning.operands
                size = size_of(self.writer.program, access.tensor, dim)
                steps = operand.coefficient(index).constant == 1 and operand.is_linear_in(index)
                is_safe = self.writer.sizes.is_inside(access.places[dim], size)
                return (dim, turning) if steps and is_safe and index not in by.indices else None
        return None

    def turns(self, access: Access, dim: int, turning: Function, loop: Loop, element: str) -> None:
        """Read a block turn by turn, each of which is dense."""
        depth = self.writer.depth
        moved = self.turn_loop(loop, turning, "begin", "end")
        own = (*access.places[:dim], moved, *access.places[dim + 1 :])
        self.put(f"{element} = {self.load(replace(access, places=own))}")
        self.writer.depth = depth

    def turn_loop(self, loop: Loop, turning: Function, begin: str, end: str) -> Place:
        """The loop over an index turn by turn; what goes round is a sum there."""
        writer, index = self.writer, python_name(loop.index)
        operand, by = turning.operands
        turn, stop, rest = (writer.fresh(name) for name in ("turn", "turn_end", "turn_rest"))
        first = operand.substitute({Index(loop.index): places.of(Index(stop))})
        self.put(f"{stop} = {begin}")
        self.indent(f"while {stop} < {end}:")
        self.put(f"{rest} = around({writer.place(first)}, {writer.place(by)})")
        self.put(f"{turn} = {stop}")
        self.put(f"{stop} = lesser({end}, {turn} + greater({writer.place(by, 1)} - {rest}, 1))")
        self.indent(f"for {index} in range({turn}, {stop}):")
        return places.index(rest) + places.index(loop.index) - places.index(turn)

    def turning(self, loop: Loop) -> Function | None:
        """The place that goes round and round with an index, where all else goes straight on."""
        nest, index = self.nest, loop.index
        is_plain = not (nest.is_fold or nest.guards or loop.is_reversed)
        if not is_plain or any(each.reads_itself for each in nest.statements):
            return None
        uneven = self.irregular(index)
        found = {None if (p := self.periodic(each, index)) is None else p[1] for each in uneven}
        turning = found.pop() if len(found) == 1 else None
        if turning is None:
            return None
        moved: dict[Atom, Place] = {turning: Place()}
        rest = [map_places(each, lambda place: place.substitute(moved)) for each in nest.statements]
        others = [place for each in rest for place in each.all_places]
        return None if any(_is_uneven(place, index) for place in others) else turning

    def edges_along(self, loop: Loop) -> Edges | None:
        """What is outside along an index, if the loop can be cut there."""
        nest = self.nest
        is_plain = not (nest.is_fold or nest.guards or loop.is_reversed)
        if not is_plain or any(each.reads_itself for each in nest.statements):
            return None
        return edges_of(nest, loop.index, self.writer)

    def inside_bounds(self, loop: Loop, edges: Edges, first: str, last: str) -> tuple[str, str]:
        """The part of a loop's range where all of some tests hold: variables, or its own ends."""
        writer, begin, end = self.writer, first, last
        lower, upper, rows = first, last, []
        for test in edges.tests:
            slope = test.place.coefficient(loop.index)
            rest = test.place - slope * places.index(loop.index)
            if slope.constant == 1:
                lower = f"greater({lower}, {writer.place(Place() - rest)})"
            elif slope.constant == -1:
                upper = f"lesser({upper}, {writer.place(rest + places.number(1))})"
            else:
                rows.append(self.test(test))
        if lower != first:
            begin = writer.fresh("inside_begin")
            self.put(f"{begin} = lesser({lower}, {last})")
        if upper != last or rows:
            end, whole = writer.fresh("inside_end"), f"greater({begin}, {upper})"
            is_inside = f" if {' and '.join(rows)} else {begin}" if rows else ""
            self.put(f"{end} = {whole}{is_inside}")
        return begin, end

    def go_round(self, loop: Loop, turning: Function) -> None:
        """The loop over an index turn by turn, each of which is dense."""
        moved: dict[Atom, Place] = {
            turning: self.turn_loop(loop, turning, *self.bounds(loop, "0", ""))
        }
        statements = tuple(
            map_places(each, lambda place: place.substitute(moved)) for each in self.nest.statements
        )
        self.nest = replace(self.nest, statements=statements)


def _places_of_reads(statement: Statement) -> Iterator[Place]:
    """The places of what a statement's formula reads."""
    for read in statement.reads:
        if isinstance(read.source, Access):
            yield from read.source.places


def _moves_division(function: Function) -> bool:
    """Whether a function divides what moves with indices."""
    return function.name in (*DIVIDING, "reflect") and bool(places.of(function).indices)


def _divides(place: Place, index: str) -> bool:
    """Whether an index is divided by what is no constant."""
    return any(
        isinstance(atom, Function)
        and atom.name in DIVIDING
        and atom.operands[1].constant is None
        and index in atom.operands[0].indices
        for atom in place.atoms
    )


def _is_uneven(place: Place, index: str) -> bool:
    """Whether a place does not move by the same number with each step of an index."""
    return index in place.indices and not place.is_linear_in(index)
