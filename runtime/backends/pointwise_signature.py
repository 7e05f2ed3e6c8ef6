"""What a pointwise operator does for one signature: dtypes and formula, for every backend alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runtime import errors
from runtime.core import dtype as dtypes
from runtime.core import promotion
from runtime.dispatch import signature as signatures
from runtime.dispatch.operator import Pointwise


@dataclass(frozen=True)
class PointwiseSignature:
    """compute: the dtype of the formula before opmath. result: the dtype of the results.

    arguments: for each argument of the call, 'tensor', 'scalar', 'raw' or 'absent'.
    inputs: the dtypes of the tensor arguments in order. formula: the scalar function.
    """

    operator: Pointwise
    compute: dtypes.dtype
    result: dtypes.dtype
    arguments: tuple[str, ...]
    inputs: tuple[dtypes.dtype, ...]
    formula: Any


def specialise(operator: Pointwise, signature: tuple[Any, ...]) -> PointwiseSignature:
    """Resolve dtypes and the formula.

    Raises: NotImplementedError for a dtype outside the operator's set (RuntimeError if the operator
    says why); RuntimeError for a condition that is not bool, and where an optional operand is
    needed and all are absent.
    """
    entries = dict(zip(operator.operands, signature, strict=True))
    _check_conditions(operator, entries)
    promoted = signatures.promotion_entries([entries[name] for name in operator.promoted])
    compute, result = promotion.element_types(operator.promotion, promoted)
    _check_dtypes(operator, compute, promoted)
    arguments = tuple(
        _argument_kind(entries[name]) if kind == "operand" else kind
        for name, kind in operator.arguments.items()
    )
    inputs = tuple(signatures.dtype_of(entry) for entry in signature if entry.__class__ is int)
    absent = tuple(name for name, entry in entries.items() if entry is None)
    formula = operator.formulas.get(absent)
    if formula is None:
        raise errors.operand_needed(operator.base_name, absent)
    return PointwiseSignature(operator, compute, result, arguments, inputs, formula)


def _check_dtypes(
    operator: Pointwise, compute: dtypes.dtype, promoted: list[promotion.Entry]
) -> None:
    """The common dtype must be accepted; where refusing has a reason, each operand's must be."""
    each = [dtype for dtype, _ in promoted] if errors.has_refusal(operator.base_name) else []
    for dtype in (compute, *each):
        if dtype.name not in operator.dtypes:
            accepted = ", ".join(d.name for d in dtypes.ALL if d.name in operator.dtypes)
            raise errors.dtype_not_supported(operator.base_name, dtype, accepted)


def _check_conditions(operator: Pointwise, entries: dict[str, Any]) -> None:
    """Operands outside the promotion are conditions: bool, or uint8 as before there was bool."""
    for name, entry in entries.items():
        if name not in operator.promoted and entry.__class__ is int:
            own = signatures.dtype_of(entry)
            if own not in (dtypes.bool, dtypes.uint8):
                raise errors.condition_dtype(operator.base_name, name, own)


def _argument_kind(entry: Any) -> str:
    if entry is None:
        return "absent"
    return "tensor" if entry.__class__ is int else "scalar"


def scalar_converter(compute: dtypes.dtype) -> Any:
    """What turns a Python number into one that the kernel takes for `compute`."""
    return {"b": bool, "i": _to_int, "f": _to_float, "c": complex}[compute.kind]


def _to_int(value: Any) -> int:
    if isinstance(value, float) and not value.is_integer():
        raise RuntimeError(
            "For integral input tensors, a Scalar argument must not be a floating point number."
        )
    if isinstance(value, str):
        raise errors.number_expected("a Scalar argument", value)
    number = int(value)
    if not -(2**63) <= number < 2**63:
        raise OverflowError("Overflow when unpacking long long")
    return number


def _to_float(value: Any) -> float:
    if value.__class__ is float:
        return value
    if isinstance(value, complex):
        raise RuntimeError("For real input tensors, a Scalar argument must not be complex.")
    if isinstance(value, str):
        raise errors.number_expected("a Scalar argument", value)
    return float(value)
