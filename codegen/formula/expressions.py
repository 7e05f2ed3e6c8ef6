"""Constructors of expressions that keep operands well typed, and substitution."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.formula import (
    Call,
    Constant,
    Expression,
    Select,
    children,
    type_of,
)
from .primitives import PRIMITIVES

ZERO = Constant(0)
ONE = Constant(1)
TRUE = Constant(True)
FALSE = Constant(False)


def call(name: str, *operands: Expression) -> Expression:
    """Apply a primitive; truth values and numbers are converted to what it takes."""
    primitive = PRIMITIVES[name]
    if primitive.operands == "bool":
        return Call(primitive, tuple(as_condition(operand) for operand in operands))
    if name in ("eq", "ne") and all(type_of(operand) == "bool" for operand in operands):
        return Call(primitive, operands)
    return Call(primitive, tuple(as_number(operand) for operand in operands))


def select(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    """Return `then if condition else otherwise`, both branches brought to one type."""
    if type_of(then) != type_of(otherwise):
        then, otherwise = as_number(then), as_number(otherwise)
    return Select(as_condition(condition), then, otherwise)


def as_number(node: Expression) -> Expression:
    """Turn a truth value into 1 or 0 of the compute type."""
    if type_of(node) == "number":
        return node
    if isinstance(node, Constant):
        return Constant(int(node.value is True))
    return Select(node, ONE, ZERO)


def as_condition(node: Expression) -> Expression:
    """Turn a number into the truth value of being non-zero."""
    return node if type_of(node) == "bool" else Call(PRIMITIVES["ne"], (node, ZERO))


def is_call(node: Expression, name: str) -> bool:
    """Whether `node` applies the primitive `name`."""
    return isinstance(node, Call) and node.primitive.name == name


def with_children(node: Expression, parts: tuple[Expression, ...]) -> Expression:
    """Return `node` over other subexpressions; the same object if nothing changed."""
    if all(new is old for new, old in zip(parts, children(node), strict=True)):
        return node
    if isinstance(node, Call):
        return Call(node.primitive, parts)
    return Select(*parts)


def substitute(node: Expression, values: Mapping[Expression, Expression]) -> Expression:
    """Replace every occurrence of a key, outermost first."""
    done: dict[Expression, Expression] = dict(values)

    def visit(node: Expression) -> Expression:
        found = done.get(node)
        if found is None:
            found = with_children(node, tuple(visit(child) for child in children(node)))
            done[node] = found
        return found

    return visit(node)
