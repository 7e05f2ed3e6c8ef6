"""Emits the page that says which operators take sparse tensors, and how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from ..model.operator import Operator, Pointwise
from ..model.plan import LoweredProgram
from ..record import record
from ..write import File
from .environment import render

PAGE = "reference/sparse.md"
COO, COMPRESSED = "Sparse", "SparseCsr"
"""The dispatch keys of COO, and of the four compressed layouts."""
_KEYS = (COO, COMPRESSED)


@record
class Row:
    """What an operator does for sparse operands.

    coo, compressed: "yes" or nothing. how: the composite of its entry, or the operands with which
    its formula vanishes.
    """

    name: str
    coo: str
    compressed: str
    how: str


def emit(program: LoweredProgram) -> Iterable[File]:
    """Emit `reference/sparse.md`."""
    rows = list(_rows(program))
    if rows:
        yield render(PAGE, "sparse_reference.md.jinja", rows=rows)


def _rows(program: LoweredProgram) -> Iterator[Row]:
    for operators in program.families.values():
        for operator in operators:
            row = None if operator.is_internal else _row(program, operator)
            if row is not None:
                yield row


def _row(program: LoweredProgram, operator: Operator) -> Row | None:
    named = dict(operator.layouts)
    if named:
        how = ", ".join(dict.fromkeys(f"`{each}`" for each in named.values()))
        coo, compressed = ("yes" if key in named else "" for key in _KEYS)
        return Row(operator.name, coo, compressed, how)
    if not isinstance(operator.kind, Pointwise):
        return None
    vanishes = program.texts.of("vanishes", operator.name, partial(_vanishes, program, operator))
    return Row(operator.name, "yes", "yes", f"entries of {vanishes}") if vanishes else None


def _vanishes(program: LoweredProgram, operator: Operator) -> str:
    """The operands with which a formula does: `self` or `other`; `self` and `other` together."""
    sets = program.pointwise[operator.name].zeros
    return " or ".join(" and ".join(f"`{name}`" for name in names) for names in sets)
