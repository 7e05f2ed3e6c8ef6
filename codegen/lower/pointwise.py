"""Scalar functions of pointwise operators: without absent operands, and at default values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from .. import formula as formulas
from ..formula import zeros
from ..formula.expressions import substitute
from ..formula.fold import number
from ..formula.result import cost
from ..model.formula import Argument, Expression, Formula
from ..model.operator import Operator, Pointwise
from ..model.plan import PointwisePlan


def plan(operator: Operator) -> PointwisePlan:
    """The formula of every set of absent operands, and that at the scalars' defaults."""
    assert isinstance(operator.kind, Pointwise)
    formula = operator.kind.formula
    if optional_operands(operator):
        forms = tuple(
            (absent, formulas.specialize(formula, absent)) for absent in absent_sets(operator)
        )
        return PointwisePlan(forms, _scalar_defaults(operator), None)
    defaults = _scalar_defaults(operator)
    sets = zeros.vanishing_sets(formula)
    return PointwisePlan(
        (((), formula),),
        defaults,
        _at_defaults(formula, defaults),
        sets,
        tuple(names[0] for names in sets if zeros.is_linear(formula, names)),
    )


def optional_operands(operator: Operator) -> tuple[str, ...]:
    """Operands that a call may leave out."""
    return tuple(a.name for a in operator.operands if a.type.is_optional)


def absent_sets(operator: Operator) -> Iterator[tuple[str, ...]]:
    """Every set of optional operands that may be missing, in schema order.

    Not that of all, if nothing is left to compute: `clamp(x)` without bounds is a mistake.
    """
    names = optional_operands(operator)
    for count in range(len(names)):
        yield from combinations(names, count)
    if not names or not _is_identity(operator, names):
        yield names


def _is_identity(operator: Operator, absent: tuple[str, ...]) -> bool:
    """Whether the formula hands an argument back when the operands in `absent` are None."""
    assert isinstance(operator.kind, Pointwise)
    formula = formulas.specialize(operator.kind.formula, absent)
    return all(isinstance(output, Argument) for output in formula.outputs)


def _scalar_defaults(operator: Operator) -> dict[str, int | float]:
    """Default values of the scalar arguments of a formula, if all of them have numbers."""
    found: dict[str, int | float] = {}
    for argument in operator.arguments:
        if operator.role(argument).is_operand:
            continue
        value = argument.default.value if argument.default else None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return {}
        found[argument.name] = value
    return found


def _at_defaults(formula: Formula, defaults: dict[str, int | float]) -> Formula | None:
    """The formula with all scalars at their defaults, where that makes it simpler.

    `self + alpha * other` is `self + other` for alpha = 1.
    """
    if not defaults:
        return None
    values: dict[Expression, Expression] = {
        argument: number(defaults[argument.name])
        for argument in formula.arguments
        if argument.name in defaults
    }
    outputs = tuple(substitute(output, values) for output in formula.outputs)
    remaining = tuple(a for a in formula.arguments if a not in values)
    simpler = formulas.simplify(replace(formula, arguments=remaining, outputs=outputs, names=()))
    return simpler if cost(simpler) < cost(formula) else None
