"""Fused backward kernels of `auto` derivatives: one formula per set of inputs that need it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

from .. import formula as formulas
from ..formula.expressions import substitute
from ..formula.fold import number
from ..formula.result import cost
from ..model.derivative import Derivative, GradientKind
from ..model.formula import Argument, Expression, Formula
from ..model.operator import Operator, Pointwise
from ..model.program import Program
from . import naming, translate

MOST_SUBSETS = 3
"""Up to so many inputs every subset has a kernel; beyond, one kernel gives all gradients."""


@dataclass(frozen=True, slots=True)
class BackwardCase:
    """The gradients of `needs` when the optional operands in `absent` are None."""

    name: str
    """Name of the kernel, `mul_Tensor_backward_self_other`."""
    needs: tuple[str, ...]
    absent: tuple[str, ...]
    formula: Formula
    """Of `grad`, the arguments and the result that it reads."""

    @property
    def reads(self) -> tuple[str, ...]:
        """What must be saved: arguments, and `result`."""
        return tuple(a.name for a in self.formula.arguments if a.name != "grad")


def auto_inputs(derivative: Derivative) -> tuple[str, ...]:
    """The inputs whose gradient comes from the formula."""
    return tuple(
        name
        for gradient in derivative.gradients
        if gradient.kind is GradientKind.AUTO
        for name in gradient.inputs
    )


def optional_operands(operator: Operator) -> tuple[str, ...]:
    """Operands that a call may leave out."""
    return tuple(
        a.name
        for i, a in enumerate(operator.arguments)
        if translate.is_operand(a, i) and a.type.is_optional
    )


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


@cache
def _case(operator: Operator, needs: tuple[str, ...], absent: tuple[str, ...]) -> BackwardCase:
    assert isinstance(operator.kind, Pointwise)
    formula = formulas.specialize(operator.kind.formula, absent)
    gradient = formulas.backward(formula, needs, is_complex=_is_complex(operator))
    suffix = "".join(f"_without_{name}" for name in absent)
    name = naming.backward_name(operator, needs) + suffix
    return BackwardCase(name, needs, absent, _operands_first(operator, gradient))


def _operands_first(operator: Operator, formula: Formula) -> Formula:
    """The formula with its arguments in the order in which a fused kernel is called."""
    values = {
        argument.name
        for position, argument in enumerate(operator.arguments)
        if not translate.is_operand(argument, position)
    }
    ordered = sorted(formula.arguments, key=lambda argument: argument.name in values)
    return replace(formula, arguments=tuple(ordered))


def _is_complex(operator: Operator) -> bool:
    return any(name.startswith("complex") for name in operator.dtype_names)


def backward_cases(program: Program, operator: Operator) -> tuple[BackwardCase, ...]:
    """All cases of an operator's `auto` gradients, those of many needs first."""
    derivative = program.derivative(operator)
    if derivative is None or not derivative.is_auto:
        return ()
    inputs = auto_inputs(derivative)
    cases = []
    for absent in absent_sets(operator):
        present = [name for name in inputs if name not in absent]
        fewest = 1 if len(inputs) <= MOST_SUBSETS else len(present)
        for count in range(len(present), fewest - 1, -1):
            for needs in combinations(present, count):
                cases.append(_case(operator, needs, absent))
    return tuple(cases)


def scalar_defaults(operator: Operator) -> dict[str, int | float]:
    """Default values of the scalar arguments of a formula, if all of them have numbers."""
    found: dict[str, int | float] = {}
    for position, argument in enumerate(operator.arguments):
        if translate.argument_kind(argument, position) == "operand":
            continue
        value = argument.default.value if argument.default else None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return {}
        found[argument.name] = value
    return found


def at_defaults(operator: Operator) -> Formula | None:
    """The formula with all scalars at their defaults, where that makes it simpler.

    `self + alpha * other` is `self + other` for alpha = 1.
    """
    assert isinstance(operator.kind, Pointwise)
    defaults = scalar_defaults(operator)
    if not defaults or optional_operands(operator):
        return None
    formula = operator.kind.formula
    values: dict[Expression, Expression] = {
        argument: number(defaults[argument.name])
        for argument in formula.arguments
        if argument.name in defaults
    }
    outputs = tuple(substitute(output, values) for output in formula.outputs)
    remaining = tuple(a for a in formula.arguments if a not in values)
    simpler = formulas.simplify(replace(formula, arguments=remaining, outputs=outputs, names=()))
    return simpler if cost(simpler) < cost(formula) else None
