"""How a node computes its gradients: by hand-written formulas or by fused backward kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..model.derivative import Derivative, Gradient, GradientKind
from ..model.operator import Operator
from ..model.program import Program
from ..model.schema import Argument
from . import automatic, expressions, translate
from .saved_values import Saved, is_number


@dataclass(frozen=True, slots=True)
class Step:
    """One gradient, or several at once: `if condition: targets = value`."""

    condition: str
    targets: str
    value: str
    loads: tuple[str, ...]
    """What only this step reads from the node."""
    needs_mask: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """A fused backward kernel for one set of needs."""

    needs: str
    loads: tuple[str, ...]
    numbers: tuple[str, ...]
    """Operands read that may be plain numbers."""
    kernel: str
    key: str
    arguments: str
    result: str
    """What `apply` returns, over `grads`."""


@dataclass(frozen=True, slots=True)
class Flag:
    """`saves_x = needs in (...)`: whether any kernel of these needs reads x."""

    name: str
    needs: str


# -- hand-written formulas ----------------------------------------------------------------------


def steps(
    program: Program,
    operator: Operator,
    derivative: Derivative,
    inputs: list[Argument],
    saved: tuple[Saved, ...],
) -> Iterator[Step]:
    """The gradients of `inputs`, each computed if its edge is there."""
    positions = {a.name: i for i, a in enumerate(inputs)}
    locals_ = {a.name: translate.local(operator, a.name) for a in operator.arguments}
    lists = {a.name for a in inputs if a.type.is_tensor_list}
    for gradient in derivative.gradients:
        names = [name for name in gradient.inputs if name in positions]
        if gradient.kind is GradientKind.NON_DIFFERENTIABLE or not names:
            continue
        alone = len(inputs) == len(names) or lists & set(names)
        tests = [] if alone else [f"edges[{positions[name]}] is not None" for name in names]
        own = {value.local for value in gradient.saved}
        loads = tuple(
            f"{locals_.get(s.local, s.local)} = {s.load}"
            for s in saved
            if s.condition and s.local in own
        )
        mask = gradient.expression is not None and gradient.expression.uses("grad_input_mask")
        targets = ", ".join(f"grad_{name}" for name in names)
        value = _value(gradient, _homes(program), locals_)
        yield Step(" or ".join(tests), targets, value, loads, mask)


def _homes(program: Program) -> dict[str, str]:
    """The module, as imported, of every function for derivative formulas."""
    library = dict.fromkeys(program.formulas, "formulas")
    return library | dict.fromkeys(program.own_formulas, "own_formulas")


def _value(gradient: Gradient, homes: Mapping[str, str], names: Mapping[str, str]) -> str:
    if gradient.kind is GradientKind.NOT_IMPLEMENTED:
        return f'errors.raise_not_differentiable("{gradient.message}")'
    assert gradient.expression is not None
    return expressions.spelled(gradient.expression, homes=homes, names=names)


# -- fused kernels ------------------------------------------------------------------------------


def _needs_value(case: automatic.BackwardCase, inputs: list[str]) -> str:
    needs = ["None" if name in case.absent else str(name in case.needs) for name in inputs]
    return _tuple(needs)


def _tuple(parts: Sequence[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def flags(
    operator: Operator, cases: tuple[automatic.BackwardCase, ...], inputs: list[Argument]
) -> Iterator[Flag]:
    """The values that some of the kernels read and others do not."""
    names = [a.name for a in inputs]
    if len(names) < 2:
        return
    for name in (*(a.name for a in operator.arguments), "result"):
        readers = [case for case in cases if name in case.reads]
        if not readers or len(readers) == len(cases):
            continue
        yield Flag(name, _tuple([_needs_value(case, names) for case in readers]))


def fused_case(
    operator: Operator,
    case: automatic.BackwardCase,
    inputs: list[str],
    saved: tuple[Saved, ...],
) -> Case:
    """How a node calls one of its kernels."""
    read = [a.name for a in case.formula.arguments]
    loads = tuple(
        f"{translate.local(operator, s.local)} = {s.load}" for s in saved if s.local in read
    )
    numbers = tuple(
        translate.local(operator, name)
        for name in case.reads
        if name != "result"
        and is_number(operator, name)
        and any(s.local == name and s.is_tensor for s in saved)
    )
    return Case(
        _needs_value(case, inputs),
        loads,
        numbers,
        case.name,
        ", ".join(_key_entries(operator, read)),
        ", ".join(translate.local(operator, name) for name in read),
        _case_result(case, inputs),
    )


def _key_entries(operator: Operator, read: list[str]) -> Iterator[str]:
    """What each operand of a fused kernel contributes to its signature."""
    positions = {argument.name: i for i, argument in enumerate(operator.arguments)}
    for name in read:
        position = positions.get(name)
        if position is None:  # `grad` or `result`
            yield f"{name}._key"
        elif translate.is_operand(operator.arguments[position], position):
            local = translate.local(operator, name)
            yield f"kind_of({local})" if is_number(operator, name) else f"{local}._key"


def _case_result(case: automatic.BackwardCase, inputs: list[str]) -> str:
    if len(inputs) == 1:
        return "(grads,)"
    if len(case.needs) == 1:
        parts = ["grads" if name in case.needs else "None" for name in inputs]
    elif len(case.needs) == len(inputs):
        return "grads"
    else:
        parts = [
            f"grads[{case.needs.index(name)}]" if name in case.needs else "None" for name in inputs
        ]
    return f"({', '.join(parts)})"
