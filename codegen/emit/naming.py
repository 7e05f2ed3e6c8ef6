"""Names inside the generated package: which module holds what, and what it is called there."""

from __future__ import annotations

from collections.abc import Iterable

from ..formula.printer import defined_name
from ..model.operator import (
    Case,
    Composite,
    Dispatch,
    Index,
    Operator,
    Pointwise,
    Reduction,
    View,
)
from ..model.plan import NodePlan
from ..model.program import Program
from ..model.stream import Draw

KINDS = {
    Pointwise: "pointwise",
    Reduction: "reduction",
    View: "view",
    Composite: "composite",
    Dispatch: "dispatch",
    Index: "dispatch",
    Draw: "dispatch",
    Case: "dispatch",
}

KIND_NAMES = ("pointwise", "reduction", "view", "composite", "dispatch")
TABLED = ("pointwise", "reduction", "view", "dispatch")
"""Kinds whose operators have tables; a composite calls others."""


def kind_of(operator: Operator) -> str:
    """The kind's name, which is also its module's."""
    return KINDS[type(operator.kind)]


def of_kind(program: Program, kind: str) -> list[Operator]:
    """The operators of one kind, in file order."""
    return [operator for operator in program.operators if kind_of(operator) == kind]


def modules(program: Program, kinds: Iterable[str]) -> list[str]:
    """The kinds that have a module: all in the library, those that occur outside the tree."""
    return [kind for kind in kinds if program.is_library or of_kind(program, kind)]


def is_overloaded(program: Program, operator: Operator) -> bool:
    """Whether several entries share the base name."""
    return len(program.families[operator.base_name]) > 1


def function_name(program: Program, operator: Operator) -> str:
    """The binding of one entry: the base name, or for one of several `max__dim`."""
    if not is_overloaded(program, operator):
        return operator.base_name
    return f"{operator.base_name}__{operator.overload or 'default'}"


def has_own_method(operator: Operator) -> bool:
    """Whether the method cannot be the function: self is not its first argument."""
    return operator.has_method and operator.has_function and operator.arguments[0].name != "self"


def method_name(program: Program, operator: Operator) -> str:
    """The binding of the method: the function's, unless that takes other arguments before self."""
    name = function_name(program, operator)
    return f"{name}_of_self" if has_own_method(operator) else name


def inplace_name(program: Program, operator: Operator) -> str:
    """The binding of the derived in-place variant."""
    if not is_overloaded(program, operator):
        return f"{operator.base_name}_"
    return f"{operator.base_name}___{operator.overload or 'default'}"


def named_tuple(operator: Operator) -> str | None:
    """The class of several named results, `return_types.max`; one for a family."""
    return f"return_types.{operator.base_name}" if operator.has_named_results else None


def record_name(plan: NodePlan) -> str:
    """The maker of the recording wrapper: a fused node's method, or a function of its own."""
    if plan.cases:
        return f"{plan.derivative.node}.recording"
    return f"recording_{plan.operator.identifier}"


def kernel_name(operator: Operator, absent: tuple[str, ...] = ()) -> str:
    """The scalar formula; one that is called like a primitive gets an underscore."""
    suffix = "".join(f"_without_{name}" for name in absent)
    return defined_name(operator.identifier + suffix)
