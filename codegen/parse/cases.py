"""Reads `case_of`: the operator that an entry is a case of, and the arguments it is given."""

from __future__ import annotations

import ast

from ..errors import SourceLocation, did_you_mean
from ..model.operator import Case, FunctionReference, Given
from ..model.schema import Schema
from .report import Report
from .values import text_of
from .yaml_nodes import AnyNode

_HINT = "write operator(argument, name=argument): arguments of the entry, or constants"


def read_case(
    node: AnyNode, schema: Schema, meta: FunctionReference | None, report: Report
) -> Case | None:
    """Read `sort.stable(self, None, dim, descending=True)`; None if it is no such call."""
    scalar = text_of(node, "'case_of'", report)
    if scalar is None:
        return None
    start = len(scalar.text) - len(scalar.text.lstrip())
    try:
        call = ast.parse(scalar.text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        call = None
    if not isinstance(call, ast.Call) or any(isinstance(each, ast.Starred) for each in call.args):
        message = f"'case_of' must call an operator, got '{scalar.text.strip()}'"
        report.add("E343", scalar.where, message, hint=_HINT)
        return None
    names = tuple(argument.name for argument in schema.arguments)

    lines = scalar.text.strip().splitlines(keepends=True)

    def place(tree: ast.expr) -> SourceLocation:
        above = sum(map(len, lines[: tree.lineno - 1]))
        return scalar.where.at(start + above + tree.col_offset)

    found = [(None, each) for each in call.args] + [
        (each.arg, each.value) for each in call.keywords
    ]
    given = []
    for name, tree in found:
        value = _given(tree, names, place(tree), report)
        if value is None:
            return None
        given.append((name, value))
    return Case(
        ast.unparse(call.func),
        tuple(given),
        meta,
        place(call.func),
    )


def _given(
    tree: ast.expr, names: tuple[str, ...], where: SourceLocation, report: Report
) -> Given | None:
    """One argument of the call."""
    text, flag = ast.unparse(tree), tree
    is_negated = isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not)
    if isinstance(tree, ast.UnaryOp) and is_negated:
        flag = tree.operand
    if isinstance(flag, ast.Name) and flag.id in names:
        return Given(flag.id, True, is_negated, where)
    try:
        ast.literal_eval(tree)
    except (ValueError, TypeError):
        message = f"'{text}' is neither an argument of the entry nor a constant"
        hint = did_you_mean(text, names) or _HINT
        report.add("E343", where, message, hint=hint, width=len(text))
        return None
    return Given(text, False, False, where)
