"""Prints what looks for the range that a whole number lies in, of ranges one behind another."""

from __future__ import annotations

from ..model import place as places
from ..model.index import Statement
from ..model.place import Atom, Index, Place, looked_at
from .argument_texts import ArgumentWriter
from .segments import segment_of
from .writer import python_name


class BisectionWriter(ArgumentWriter):
    """One nest of such a fold."""

    def locate(self) -> None:
        """Look at the ranges, each item at its share of them, and then for the first one that ends
        behind the number: it lies in this, or in none."""
        (statement,) = self.nest.statements
        segment = segment_of(statement)
        assert segment is not None
        first, end = map(_value, (segment.first, segment.end))
        self.look_at_ranges(statement, segment.index, first, end)
        writer, depth = self.writer, self.writer.depth
        name, count = python_name(segment.index), writer.extent(segment.index)
        low, high, found = (writer.fresh(each) for each in ("low", "high", "found"))
        number = writer.place(segment.number)
        self.put(f"{low} = {self.as_count('0')}")
        self.put(f"{high} = {self.as_count(count)}")
        self.indent(f"while {low} < {high}:")
        self.put(f"{name} = {self.as_count(f'{low} + ({high} - {low}) // 2')}")
        self.put(f"is_behind = {writer.place(end)} > {number}")
        self.put(f"{high} = {name} if is_behind else {high}")
        self.put(f"{low} = {low} if is_behind else {self.as_count(f'{name} + 1')}")
        writer.depth = depth
        self.put(f"{found} = {self.as_count('-1')}")
        self.indent(f"if {low} < {count}:")
        self.put(f"{name} = {low}")
        self.indent(f"if {writer.place(first)} <= {number}:")
        self.put(f"{found} = {low}")
        writer.depth = depth
        self.store(statement, self.as_element(found))

    def look_at_ranges(self, statement: Statement, index: str, first: Place, end: Place) -> None:
        """Each range must end where the next one begins, or before, and that one not end sooner."""
        writer, depth = self.writer, self.writer.depth
        own, step = python_name(statement.indices[-1]), writer.extent(statement.indices[-1])
        last = f"{writer.extent(index)} - 1"
        self.indent(f"for {python_name(index)} in range({own}, {self.as_count(last)}, {step}):")
        following: dict[Atom, Place] = {Index(index): places.index(index) + places.number(1)}
        for behind in dict.fromkeys(each.substitute(following) for each in (first, end)):
            if behind != end:
                self.refuse_unordered(end, behind)
        writer.depth = depth

    def refuse_unordered(self, one: Place, other: Place) -> None:
        """End the launch where a range begins or ends before the one that stands before it."""
        self.indent(f"if {self.writer.place(other)} < {self.writer.place(one)}:")
        self.put("return False")
        self.writer.depth -= 1


def _value(bound: Place) -> Place:
    """A bound that has been looked at."""
    found = looked_at(bound)
    assert found is not None
    return found[0]
