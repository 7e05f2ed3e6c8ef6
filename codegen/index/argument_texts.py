"""Prints folds over rows that tell where the largest or the smallest element is, the first of them.

A row is searched block by block for the greatest key alone, in vectors, and then the one block
that has it for its place: to compare each element with the best so far and keep two values would
wait for itself at each step.
"""

from __future__ import annotations

from ..model.index import ARGMAX, Statement
from ..model.loops import Loop
from .fold_texts import FoldWriter
from .folds import is_argument
from .writer import python_name


class ArgumentWriter(FoldWriter):
    """One nest of such folds."""

    def is_searched(self) -> bool:
        """Whether the nest is of rows in which places are looked for, and nothing else."""
        nest = self.nest
        loops = [*nest.inner, *([nest.vector] if nest.vector else [])]
        if nest.over_batch or nest.guards or nest.scattered is not None or len(loops) != 1:
            return False
        if nest.vector is not None or any(loop.lower or loop.upper for loop in loops):
            return False
        return nest.statements == nest.folds and all(map(_is_of_row, nest.statements))

    def search(self) -> None:
        """One row after the other."""
        for statement in self.nest.statements:
            self.search_row(statement, self.nest.inner[0])

    def search_row(self, statement: Statement, loop: Loop) -> None:
        """A short row element by element, a longer one in blocks."""
        writer, depth = self.writer, self.writer.depth
        first, last = (writer.fresh(f"{statement.target}_{word}") for word in ("first", "last"))
        total = writer.fresh(f"{statement.target}_total")
        for variable, bound in zip((first, last), self.bounds(loop, "0", ""), strict=True):
            self.put(f"{variable} = {bound}")
        self.put(f"{total}_at = np.int64({first})")
        self.indent(f"if {last} - {first} < SHORTEST:")
        bare = Loop(loop.index, is_reversed=False)
        self.search_few(statement, bare, first, last, total)
        writer.depth = depth
        self.indent("else:")
        self.search_blocks(statement, bare, first, last, total)
        writer.depth = depth
        self.store(statement, f"{total}_at")

    def search_few(
        self, statement: Statement, loop: Loop, first: str, last: str, total: str
    ) -> None:
        """One by one, by their keys: that is one comparison, which waits for the one before."""
        key, end_of_order = order_of(statement)
        item, better = (self.writer.fresh(word) for word in (f"{statement.target}_key", "better"))
        known = dict(self.values)
        self.put(f"{total} = {key}({end_of_order})")
        self.loop(loop, first, last)
        self.put(f"{item} = {key}({self.value(statement)})")
        self.put(f"{better} = {item} > {total}")
        self.put(f"{total} = {item} if {better} else {total}")
        at = f"{total}_at"
        self.put(f"{at} = np.int64({python_name(loop.index)}) if {better} else {at}")
        self.values = known

    def search_blocks(
        self, statement: Statement, loop: Loop, first: str, last: str, total: str
    ) -> None:
        """The greatest key of each block, then the place of the greatest of all."""
        writer, depth = self.writer, self.writer.depth
        known = dict(self.values)
        key, end_of_order = order_of(statement)
        top = writer.fresh(f"{statement.target}_top")
        item, least = writer.fresh(f"{statement.target}_item"), f"{key}({end_of_order})"
        self.put(f"{total}_key = {least}")
        self.indent(f"for begin in range({first}, {last}, SEARCHED):")
        within = writer.depth
        self.put(f"{top} = {least}")
        self.loop(loop, "begin", f"lesser(begin + SEARCHED, {last})")
        self.put(f"{item} = {self.value(statement)}")
        self.put(f"{top} = larger({top}, {key}({item}))")
        writer.depth = within
        self.indent(f"if {top} > {total}_key:")
        self.put(f"{total}_key = {top}")
        self.put(f"{total}_at = np.int64(begin)")
        writer.depth = depth
        self.values = dict(known)
        begin, end = writer.fresh("searched"), writer.fresh("searched_end")
        self.put(f"{begin} = {total}_at")
        self.put(f"{end} = lesser({begin} + SEARCHED, {last})")
        offset = writer.fresh("offset")
        self.put(f"{offset} = np.int32(SEARCHED)")
        self.loop(loop, begin, end)
        self.put(f"{item} = {self.value(statement)}")
        step = f"np.int32({python_name(loop.index)} - {begin})"
        known_at = f"{step} if {key}({item}) == {total}_key else np.int32(SEARCHED)"
        self.put(f"{offset} = lesser({offset}, {known_at})")
        writer.depth = depth
        self.put(f"{total}_at = {begin} + {offset}")
        writer.depth = depth
        self.values = dict(known)

    def compare(self, statement: Statement, best: str, place: str, index: str) -> None:
        """One element: the best so far, and where it is; a NaN is better than all numbers."""
        item, better = self.writer.fresh(f"{statement.target}_item"), self.writer.fresh("better")
        known = dict(self.values)
        self.put(f"{item} = {self.value(statement)}")
        relation = ">" if _is_largest(statement) else "<"
        first_nan = f"(({item} != {item}) & ({best} == {best}))"
        self.put(f"{better} = ({item} {relation} {best}) | {first_nan}")
        self.put(f"{best} = {item} if {better} else {best}")
        self.put(f"{place} = np.int64({index}) if {better} else {place}")
        self.values = dict(known)


def _is_of_row(statement: Statement) -> bool:
    """Whether a fold tells which element of one index is the largest."""
    fold = statement.fold
    return fold is not None and is_argument(statement) and fold.told is None


def _is_largest(statement: Statement) -> bool:
    return statement.fold is not None and statement.fold.kind == ARGMAX


def order_of(statement: Statement) -> tuple[str, str]:
    """What makes a number a key that is larger for a better one, and what no number is worse
    than."""
    return ("rising", "LOWEST") if _is_largest(statement) else ("falling", "HIGHEST")
