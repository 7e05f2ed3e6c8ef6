"""Nodes: what they keep of a call, which edges they have, which gradient each formula gives."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.derivative import WITHOUT, Derivative
from ..model.expression import Save, SavedValue
from ..model.operator import Operator, View
from ..model.plan import Edge, Form, Keep, NodePlan, Slot, Step, Writes
from ..model.schema import Argument
from . import fused


def plan(operator: Operator, derivative: Derivative) -> NodePlan:
    """The node of a derivative that gives some gradient."""
    wanted = derivative.differentiable_inputs
    inputs = tuple(a for name in wanted for a in operator.arguments if a.name == name)
    form, writes = _form(operator), _writes(operator)
    if derivative.is_auto:
        cases = tuple(fused.cases(operator, derivative))
        return NodePlan(operator, derivative, inputs, form, writes, cases=cases)
    saved = tuple(_slots(operator, derivative, writes))
    return NodePlan(
        operator,
        derivative,
        inputs,
        form,
        writes,
        saved,
        tuple(_edges(inputs)),
        tuple(_steps(derivative, inputs, saved)),
        grad_output=_grad_output(derivative, form),
    )


def _form(operator: Operator) -> Form:
    returns = operator.schema.returns
    if isinstance(operator.kind, View):
        return Form.VIEWS if returns[0].type.is_list else Form.VIEW
    return Form.SEVERAL if len(returns) > 1 else Form.SINGLE


def _writes(operator: Operator) -> Writes:
    if operator.is_inplace:
        return Writes.ALWAYS
    return Writes.IN_PLACE if operator.has_inplace else Writes.NEVER


def _edges(inputs: tuple[Argument, ...]) -> Iterator[Edge]:
    """One for each input. That of a sole tensor is there, or the call would not be recorded."""
    for argument in inputs:
        is_sure = len(inputs) == 1 and not argument.type.is_optional and not argument.type.is_union
        yield Edge(argument, not is_sure and not argument.type.is_tensor_list)


def _slots(operator: Operator, derivative: Derivative, writes: Writes) -> Iterator[Slot]:
    """What the formulas read, each with the inputs whose formulas they are."""
    inputs = derivative.differentiable_inputs
    for value in derivative.saved:
        readers = tuple(
            name
            for gradient in derivative.gradients
            if value in gradient.saved
            for name in gradient.inputs
            if name in inputs
        )
        is_always_read = len(inputs) == 1 or set(readers) == set(inputs)
        yield Slot(value, _keep(operator, value, writes), () if is_always_read else readers)


def _keep(operator: Operator, value: SavedValue, writes: Writes) -> Keep:
    if not value.is_tensor:
        return Keep.PART
    if value.is_result:
        return Keep.RESULT
    if value.what is Save.TENSORS:
        return Keep.TENSORS
    if value.name == operator.arguments[0].name and writes is not Writes.NEVER:
        return Keep.WRITTEN
    argument = operator.schema.argument(value.name)
    is_number = argument is not None and operator.role(argument).may_be_number
    return Keep.OPERAND if is_number else Keep.TENSOR


def _steps(
    derivative: Derivative, inputs: tuple[Argument, ...], saved: tuple[Slot, ...]
) -> Iterator[Step]:
    """The gradients of `inputs`; what a list needs is up to its own edges."""
    differentiable = {a.name for a in inputs}
    lists = {a.name for a in inputs if a.type.is_tensor_list}
    for gradient in derivative.gradients:
        names = tuple(name for name in gradient.inputs if name in differentiable)
        if gradient.kind in WITHOUT or not names:
            continue
        is_sure = len(inputs) == len(names) or not lists.isdisjoint(names)
        loads = tuple(slot for slot in saved if slot.needed_by and slot.value in gradient.saved)
        yield Step(gradient, names, not is_sure, loads)


def _grad_output(derivative: Derivative, form: Form) -> int | None:
    """Among several outputs `grad` is the gradient of the first that has one."""
    if not form.has_several_outputs:
        return None
    if not any(g.expression and g.expression.uses("grad") for g in derivative.gradients):
        return None
    which = derivative.output_differentiability
    return which.index(True) if which else 0
