"""Prints statements as the index language writes them."""

from __future__ import annotations

from collections.abc import Iterator

from ..formula.printer import Printer, enclose
from ..formula.python import _KernelPrinter
from ..model import place as places
from ..model.formula import (
    Argument,
    Call,
    Constant,
    Expression,
    Named,
    Select,
    walk,
    written_size,
)
from ..model.index import LOCATED, Access, Fold, IndexProgram, Outside, Read, Statement, Test
from ..model.place import Place, looked_at
from .segments import segment_of


def program_text(program: IndexProgram) -> Iterator[str]:
    """One line per statement, with the extents of the indices where they first stand."""
    seen: set[str] = set()
    for statement in program.statements:
        yield statement_text(statement, program, seen)


def statement_text(
    statement: Statement, program: IndexProgram | None = None, seen: set[str] | None = None
) -> str:
    """One statement. seen: indices whose extents are known; others are printed with theirs."""
    known = seen if seen is not None else set(statement.loops)

    def binder(name: str) -> str:
        if name in known or program is None:
            return name
        known.add(name)
        return f"{name} : {program.extent[name]}"

    left = [*["..."] * statement.has_batch, *map(binder, statement.indices)]
    printer = _StatementPrinter(statement)
    named = printer.named_parts()
    value = printer.text(statement.formula.outputs[0], 0)
    if statement.type == "int" and statement.fold is None:
        value = f"int({value})"
    if statement.is_detached:
        value = f"detach({value})"
    fold = statement.fold
    if fold is not None:
        ranges, tests = _ranges(fold)
        own = [f"{binder(name)}{ranges.get(name, '')}" for name in fold.indices]
        over = ", ".join([*["..."] * fold.has_batch, *own])
        begin = f" from {access_text(fold.start)}" if fold.start else ""
        where = " and ".join(map(test_text, tests))
        told = "" if fold.told is None else f", {fold.told}"
        condition = f" where {where}" if where else ""
        value = f"{fold.kind}({over}{begin}{condition}: {value}{told})"
        if fold.kind == LOCATED and (segment := segment_of(statement)) is not None:
            first, end = map(_value, (segment.first, segment.end))
            value = f"{fold.kind}({over}: {segment.number} in {first} .. {end})"
    text = f"{statement.target}[{', '.join(left)}] = {value}"
    return f"{text} with {', '.join(named)}" if named else text


def _ranges(fold: Fold) -> tuple[dict[str, str], list[Test]]:
    """Where indices begin and end whose bounds are looked at, and the other conditions."""
    found, left = {}, list(fold.where)
    for name in fold.indices:
        index = places.index(name)
        bounding = [test for test in left if test.relation == ">="]
        firsts = {test: index - test.place for test in bounding}
        ends = {test: test.place + index + places.number(1) for test in bounding}
        firsts, ends = (
            {test: bound for test, bound in each.items() if looked_at(bound)}
            for each in (firsts, ends)
        )
        if firsts or ends:
            first, end = (next(map(_value, each.values()), None) for each in (firsts, ends))
            found[name] = f" in {first or 0} .. {end or f'size({name})'}"
            left = [test for test in left if test not in firsts and test not in ends]
    return found, left


def _value(bound: Place) -> str:
    """A bound that is looked at, as a text writes it."""
    looked = looked_at(bound)
    return str(bound if looked is None else looked[0])


def source_text(source: Access | Place | Test) -> str:
    """What a formula reads, as the language writes it."""
    if isinstance(source, Test):
        return test_text(source)
    return access_text(source) if isinstance(source, Access) else str(source)


def access_text(access: Access) -> str:
    """An element of a tensor."""
    parts = [*["..."] * access.has_batch, *map(str, access.places)]
    outside = "" if access.outside is None else f" else {_plain(access.outside)}"
    return f"{access.tensor}[{', '.join(parts)}{outside}]"


def test_text(test: Test) -> str:
    """A comparison, its negative terms on the other side."""
    positive = Place(tuple(term for term in test.place.terms if term[1] > 0))
    return f"{positive} {test.relation} {positive - test.place}"


def _plain(value: Outside) -> str:
    return value.name if isinstance(value, Named | Argument) else repr(value.value)


LONGEST = 60
"""Operations of a statement from which on what it reads twice is printed once, with a name."""


class _StatementPrinter(_KernelPrinter):
    """Formulas with what they read in the place of their arguments."""

    def __init__(self, statement: Statement) -> None:
        Printer.__init__(self, statement.formula)
        self.sources = {read.name: read for read in statement.reads}

    def named_parts(self) -> list[str]:
        """Name what a long formula reads more than once: each name and what it stands for."""
        outputs = self.formula.outputs
        if written_size(outputs[0]) <= LONGEST:
            return []
        parts = []
        for node in walk(outputs):
            if node in self._shared and isinstance(node, Call | Select):
                name = self._fresh(None)
                parts.append(f"{name} = {self.text(node, 0)}")
                self.names[node] = name
        return parts

    def text(self, node: Expression, strength: int) -> str:
        if node in self.names:
            return self.names[node]
        match node:
            case Constant():
                return repr(node.value)
            case Named():
                return node.name
            case Argument(name=name) if name in self.sources:
                return self._source(self.sources[name], strength)
        return super().text(node, strength)

    def _source(self, read: Read, strength: int) -> str:
        text = source_text(read.source)
        if isinstance(read.source, Test):
            return enclose(text, 5, strength)
        is_sum = isinstance(read.source, Place) and len(read.source.terms) > 1
        return enclose(text, 10 if is_sum else 14, strength)
