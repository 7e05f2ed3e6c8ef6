"""Prints loops over indices, between their bounds, in blocks or not."""

from __future__ import annotations

from dataclasses import replace

from ..formula.result import cost
from ..model.index import Access
from ..model.loops import Loop
from ..model.place import Element, Place
from .loads import Loads
from .writer import python_name

HEAVY = 36 + 12
"""Work of formulas, in multiplications and with what they read, from which vectors pay."""


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
        if writer.phase.spread == loop.index and not last:
            first, last = "start", "stop"
        last = last or writer.extent(loop.index)
        for place in loop.lower:
            first = f"greater({first}, {writer.place(place)})"
        for place in loop.upper:
            last = f"lesser({last}, {writer.place(place)})"
        return first, last

    def fold_loops(self, without_last: bool = False) -> None:
        """The loops over what is folded, `...` outermost, the last perhaps left out."""
        writer, nest = self.writer, self.nest
        if nest.over_batch:
            self.indent("for row in range(batches):")
            for name in writer.batched():
                self.put(f"{name}_b = {name}_at + row_start(batch, dims, {name}_row, row)")
                writer.over_batch[name] = f"{name}_b"
            if writer.phase.runs_batch and not without_last:
                self.indent("for run in range(run_size):")
        for loop in nest.inner[: len(nest.inner) - without_last]:
            self.loop(loop)

    def guarded(self) -> None:
        for test in self.nest.guards:
            self.indent(f"if {self.test(test)}:")

    # Places that an innermost loop does not change

    def load_places(self, loop: Loop) -> None:
        """Load the elements that are places and stay what they are in a loop.

        LLVM loads them for every step, as the loop might write them, and then uses no vectors.
        """
        made = {each.target for each in self.nest.statements}
        for statement in self.nest.statements:
            for atom in [atom for place in statement.all_places for atom in place.atoms]:
                if not isinstance(atom, Element) or atom in self.writer.loaded:
                    continue
                own = [place.index for place in atom.places]
                if atom.tensor not in made and None not in own and loop.index not in own:
                    variable = self.writer.fresh(f"{atom.tensor}_value")
                    self.put(f"{variable} = {self.writer.atom(atom)}")
                    self.writer.loaded[atom] = variable

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
        writer = self.writer
        is_spread = writer.phase.spread == loop.index
        first, last = ("start", "stop") if is_spread else ("0", writer.extent(loop.index))
        self.indent(f"for begin in range({first}, {last}, BLOCK):")
        self.put(f"end = lesser(begin + BLOCK, {last})")
        self.stage(loop)
        self.loop(loop, "begin", "end")

    def stage(self, loop: Loop) -> None:
        """Read what is not dense along an index into blocks that are."""
        writer = self.writer
        for access in self.irregular(loop.index) if not self.nest.guards else ():
            block = writer.fresh(f"{access.tensor}_block")
            writer.lines.insert(0, f"    {block} = np.empty(BLOCK, T)")
            depth = writer.depth
            self.loop(loop, "begin", "end")
            element = f"{block}[U({python_name(loop.index)} - begin)]"
            text = self.load(access)
            self.put(f"{element} = {text}")
            writer.depth = depth
            self.values[access] = element


def _is_uneven(place: Place, index: str) -> bool:
    """Whether a place does not move by the same number with each step of an index."""
    return index in place.indices and not place.is_linear_in(index)
