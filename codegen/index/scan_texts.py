"""Prints scans: what they carry is a variable, or a block along an index within."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..model.index import SUM, Access, Statement
from ..model.loops import Loop
from .scans import Carried, has_costly_steps
from .scatter_texts import ScatterWriter
from .writer import python_name


class ScanWriter(ScatterWriter):
    """One nest whose statements read their own last elements."""

    def scan(self, carried: Mapping[str, Carried]) -> None:
        """From the first element to the last, or back; running sums are of the wider type."""
        step, *within = self.nest.outer
        if within:
            self.scan_columns(carried, step, within[0])
        else:
            self.scan_row(carried, step)

    def scan_row(self, carried: Mapping[str, Carried], step: Loop) -> None:
        """What is carried is a variable."""
        totals = {name: self.writer.fresh(f"{name}_so_far") for name in carried}
        for name, each in carried.items():
            self.put(f"{totals[name]} = {self.start(each)}")
        self.load_places(step)
        self.loop(step)
        for statement, value in self.steps(carried, totals):
            self.store(statement, value)

    def scan_columns(self, carried: Mapping[str, Carried], step: Loop, column: Loop) -> None:
        """What is carried is a block, for so many columns side by side."""
        writer, index = self.writer, python_name(column.index)
        is_spread = writer.phase.spread == column.index
        first, last = ("start", "stop") if is_spread else ("0", writer.extent(column.index))
        blocks = {name: writer.fresh(f"{name}_block") for name in carried}
        for name, each in carried.items():
            kind = "WIDE" if self.is_widened(each) else writer.dtype(name)
            writer.lines.insert(0, f"    {blocks[name]} = np.empty(COLUMNS, {kind})")
        if writer.phase.tile != column.index:
            self.indent(f"for begin in range({first}, {last}, COLUMNS):")
            self.put(f"end = lesser(begin + COLUMNS, {last})")
        depth = writer.depth
        self.indent(f"for {index} in range(begin, end):")
        for name, each in carried.items():
            self.put(f"{blocks[name]}[U({index} - begin)] = {self.start(each)}")
        writer.depth = depth
        self.loop(step)
        if has_costly_steps(self.nest):
            self.read_columns(column)
        self.load_places(column)
        self.indent(f"for {index} in range(begin, end):")
        self.put(f"at = U({index} - begin)")
        totals = {name: writer.fresh(f"{name}_so_far") for name in carried}
        for name, block in blocks.items():
            self.put(f"{totals[name]} = {block}[at]")
        stores = self.steps(carried, totals)
        for name, block in blocks.items():
            self.put(f"{block}[at] = {totals[name]}")
        if has_costly_steps(self.nest) and {s.target for s, _ in stores} == set(blocks):
            writer.depth -= 1
            self.indent(f"for {index} in range(begin, end):")
            stores = [(s, f"{blocks[s.target]}[U({index} - begin)]") for s, _ in stores]
        for statement, value in stores:
            self.store(statement, value)

    def read_columns(self, column: Loop) -> None:
        """Read one element of each column, so that what is computed of them is dense."""
        writer, index = self.writer, python_name(column.index)
        own = {statement.target for statement in self.nest.statements}
        reads = [read.source for each in self.nest.statements for read in each.reads]
        for access in dict.fromkeys(each for each in reads if isinstance(each, Access)):
            if access.tensor in own or column.index not in _indices(access):
                continue
            block = writer.fresh(f"{access.tensor}_column")
            kind = writer.dtype(access.tensor)
            writer.lines.insert(0, f"    {block} = np.empty(COLUMNS, {kind})")
            depth = writer.depth
            self.indent(f"for {index} in range(begin, end):")
            self.put(f"{block}[U({index} - begin)] = {self.load(access)}")
            writer.depth = depth
            self.values[access] = f"{block}[at]"

    def steps(
        self, carried: Mapping[str, Carried], totals: Mapping[str, str]
    ) -> list[tuple[Statement, str]]:
        """One element of each statement, to be stored. totals: variables of what is carried."""
        stores, following = [], {}
        for statement in self.nest.statements:
            each = carried.get(statement.target)
            value = self.next_value(statement, each, totals.get(statement.target, ""))
            if each is not None:
                following[totals[statement.target]] = value
                value = f"T({value})" if self.is_widened(each) else value
            variable = self.writer.fresh(f"{statement.target}_value")
            self.put(f"{variable} = {value}")
            if each is not None and not self.is_widened(each):
                following[totals[statement.target]] = variable
            self.made[statement.target] = variable
            stores.append((statement, variable))
        for total, value in following.items():
            if total != value:
                self.put(f"{total} = {value}")
        return stores

    def next_value(self, statement: Statement, each: Carried | None, total: str) -> str:
        """What a statement comes to at one element."""
        if each is None:
            return self.whole(statement, self.value(statement))
        self.values[each.access] = total
        if not self.is_widened(each):
            return self.whole(statement, self.value(statement))
        assert each.term is not None
        term = replace(statement, formula=replace(statement.formula, outputs=(each.term,)))
        variable = self.writer.fresh(f"{statement.target}_total")
        operator = "+" if each.kind == SUM else "*"
        self.put(f"{variable} = {total} {operator} WIDE({self.value(term)})")
        return variable

    @staticmethod
    def whole(statement: Statement, value: str) -> str:
        """A value as what its tensor holds."""
        return f"np.int64({value})" if statement.type == "int" else value

    def start(self, each: Carried) -> str:
        """What is carried to the first element."""
        kind = self.writer.tensors[each.access.tensor].type
        literal = self.literal(each.begin, kind)
        return f"WIDE({literal})" if self.is_widened(each) else literal

    def is_widened(self, each: Carried) -> bool:
        """Whether a running sum or product is of the wider type."""
        is_number = self.writer.tensors[each.access.tensor].type == "number"
        return each.kind is not None and is_number


def _indices(access: Access) -> set[str]:
    return {name for place in access.places for name in place.indices}
