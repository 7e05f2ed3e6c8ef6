"""What a node keeps of a call for its gradients: how each slot is filled, and how it is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..model.derivative import Derivative
from ..model.expression import Save, SavedValue
from ..model.operator import Operator
from . import translate

_PARTS = {
    Save.DTYPE: "{}.dtype",
    Save.DEVICE: "{}.device",
    Save.LAYOUT: "{}.layout",
    Save.NDIM: "{}.ndim",
    Save.NUMEL: "{}.numel()",
    Save.SIZES: "{}._sizes",
    Save.STRIDES: "{}._strides",
    Save.STORAGE_OFFSET: "{}._offset",
    Save.VALUE: "{}",
}


@dataclass(frozen=True, slots=True)
class Saved:
    """One slot of a node: how it is filled at the call, and read in backward."""

    slot: str
    local: str
    condition: str
    """When it is needed, over the `needs_` flags; empty for always."""
    save: str
    load: str
    is_result: bool
    is_tensor: bool


def is_number(operator: Operator, name: str) -> bool:
    """Whether a call may give a plain number for the argument."""
    argument = operator.schema.argument(name)
    return argument is not None and "Scalar" in argument.type.names


def saved_values(operator: Operator, derivative: Derivative) -> Iterator[Saved]:
    """The slots of a node: what its formulas read."""
    inputs = derivative.differentiable_inputs
    for value in derivative.saved:
        readers = [
            name
            for gradient in derivative.gradients
            if value in gradient.saved
            for name in gradient.inputs
            if name in inputs
        ]
        condition = " or ".join(f"needs_{name}" for name in readers)
        if len(inputs) == 1 or set(readers) == set(inputs):
            condition = ""
        of = _of_result if value.is_result else _of_argument
        yield of(operator, value, condition)


def _of_result(operator: Operator, value: SavedValue, condition: str) -> Saved:
    several = len(operator.schema.returns) > 1
    target = f"result[{value.result_index}]" if several else "result"
    if value.what in (Save.TENSOR, Save.TENSORS):
        return _result(value.local, condition, f"save_result({target}, {value.result_index})")
    return _plain(value.local, condition, _PARTS[value.what].format(target), is_result=True)


def _of_argument(operator: Operator, value: SavedValue, condition: str) -> Saved:
    if value.what is Save.TENSOR:
        return _tensor(operator, value.name, condition)
    variable = translate.local(operator, value.name)
    if value.what is Save.TENSORS:
        return _tensors(value.local, condition, variable)
    part = _PARTS[value.what]
    argument = operator.schema.argument(value.name)
    if argument is not None and argument.type.is_tensor_list and value.what is not Save.VALUE:
        return _plain(value.local, condition, f"[{part.format('each')} for each in {variable}]")
    return _plain(value.local, condition, part.format(variable))


# -- one slot -----------------------------------------------------------------------------------


def _tensor(operator: Operator, name: str, condition: str) -> Saved:
    """An argument that is a tensor, or an operand that may be a number instead.

    A call in place is about to write to its first argument.
    """
    keep = "save_operand" if is_number(operator, name) else "save"
    if name == operator.arguments[0].name and (operator.is_inplace or operator.has_inplace):
        keep = "save_original" if operator.is_inplace else "keep"
    slot = f"saved_{name}"
    save = f"{keep}({translate.local(operator, name)})"
    return Saved(slot, name, condition, save, _unpack(slot), False, True)


def _tensors(local: str, condition: str, variable: str) -> Saved:
    slot, save = f"saved_{local}", f"save_all({variable})"
    return Saved(slot, local, condition, save, f"unpack_all(node.{slot}, node)", False, True)


def _result(local: str, condition: str, save: str) -> Saved:
    slot = f"saved_{local}"
    return Saved(slot, local, condition, save, _unpack(slot), True, True)


def _plain(local: str, condition: str, text: str, is_result: bool = False) -> Saved:
    """A size, a dtype, a number: what needs no unpacking."""
    slot = f"saved_{local}"
    return Saved(slot, local, condition, text, f"node.{slot}", is_result, False)


def _unpack(slot: str) -> str:
    return f"unpack(node.{slot}, node)"
