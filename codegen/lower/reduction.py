"""Folds of reductions, in the form that vectorises."""

from __future__ import annotations

from dataclasses import replace

from ..formula.expressions import ONE, ZERO, call, select
from ..model.formula import Argument, Call, Constant, Expression, Formula, Select, walk
from ..model.operator import Operator, Reduction

ACCUMULATOR = "acc"
NEUTRAL: dict[str, Constant] = {"add": ZERO, "mul": ONE}


def without_branches(operator: Operator) -> Operator:
    """A reduction whose element joins the accumulator under a condition as one that always does.

    `acc if isnan(x) else acc + x` becomes `acc + (0 if isnan(x) else x)`: of a choice between two
    accumulators a compiler makes no sum that it may reorder.
    """
    kind = operator.kind
    if not isinstance(kind, Reduction):
        return operator
    return replace(operator, kind=replace(kind, reduce=joined(kind.reduce)))


def joined(formula: Formula) -> Formula:
    """A fold that always joins the accumulator, where it can."""
    return replace(formula, outputs=tuple(map(_always, formula.outputs)))


def _always(node: Expression) -> Expression:
    if not isinstance(node, Select) or _mentions(node.condition):
        return node
    for kept, other, order in ((node.then, node.otherwise, 1), (node.otherwise, node.then, -1)):
        part = _what_joins(other) if _is_accumulator(kept) else None
        if part is not None:
            assert isinstance(other, Call)
            name = other.primitive.name
            parts = (NEUTRAL[name], part)[::order]
            return call(name, kept, select(node.condition, *parts))
    return node


def _what_joins(node: Expression) -> Expression | None:
    """What a sum or product with the accumulator adds to it; None for anything else."""
    if not isinstance(node, Call) or node.primitive.name not in NEUTRAL:
        return None
    others = [each for each in node.operands if not _is_accumulator(each)]
    return others[0] if len(others) == 1 and not _mentions(others[0]) else None


def _is_accumulator(node: Expression) -> bool:
    return isinstance(node, Argument) and node.name == ACCUMULATOR


def _mentions(node: Expression) -> bool:
    return any(map(_is_accumulator, walk((node,))))
