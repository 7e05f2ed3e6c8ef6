"""Fused backward kernels of `auto` derivatives: one formula per set of inputs that need it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from .. import formula as formulas
from ..model.derivative import Derivative, GradientKind
from ..model.formula import Formula
from ..model.operator import Operator, Pointwise
from ..model.plan import BackwardCase
from . import pointwise

MOST_SUBSETS = 3
"""Up to so many inputs every subset has a kernel; beyond, one kernel gives all gradients."""


def cases(operator: Operator, derivative: Derivative) -> Iterator[BackwardCase]:
    """All cases of an operator's `auto` gradients, those of many needs first."""
    inputs = [
        name
        for gradient in derivative.gradients
        if gradient.kind is GradientKind.AUTO
        for name in gradient.inputs
    ]
    for absent in pointwise.absent_sets(operator):
        present = [name for name in inputs if name not in absent]
        fewest = 1 if len(inputs) <= MOST_SUBSETS else len(present)
        for count in range(len(present), fewest - 1, -1):
            for needs in combinations(present, count):
                formula = _formula(operator, needs, absent, not derivative.saves_operands)
                yield BackwardCase(operator, needs, absent, formula)


def _formula(
    operator: Operator, needs: tuple[str, ...], absent: tuple[str, ...], may_read_result: bool
) -> Formula:
    assert isinstance(operator.kind, Pointwise)
    formula = formulas.specialize(operator.kind.formula, absent)
    is_complex = any(name.startswith("complex") for name in operator.dtype_names)
    gradient = formulas.backward(
        formula, needs, is_complex=is_complex, may_read_result=may_read_result
    )
    values = {a.name for a in operator.arguments if not operator.role(a).is_operand}
    ordered = sorted(gradient.arguments, key=lambda argument: argument.name in values)
    return replace(gradient, arguments=tuple(ordered))
