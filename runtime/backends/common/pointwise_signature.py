"""What a pointwise operator does for one signature: dtypes and formula, for every backend alike."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import deprecation, promotion
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import number as numbers
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch.operator import Pointwise

SMALL = 2**53
"""Ints below it are floats."""


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
    promoted = signatures.promotion_entries([entries[name] for name in operator.promoted])
    compute, result = promotion.element_types(operator.promotion, promoted)
    _check_conditions(operator, entries, compute)
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


def _check_conditions(operator: Pointwise, entries: dict[str, Any], compute: dtypes.dtype) -> None:
    """Operands outside the promotion are conditions: bool, or uint8 as before there was bool.

    What may be a number is one: a tensor without dims, which becomes what the others are.
    """
    for name, entry in entries.items():
        if name not in operator.promoted and entry.__class__ is int:
            own = signatures.dtype_of(entry)
            if operator.operands[name].startswith("number"):
                _check_number(operator, name, entry, compute)
            elif operator.bool_conditions and own is not dtypes.bool:
                raise errors.boolean_mask_expected(f"{operator.base_name}_", own)
            elif own is dtypes.uint8:
                deprecation.bytes_as_condition(operator.base_name, name)
            elif own is not dtypes.bool:
                raise errors.condition_dtype(operator.base_name, name, own)


def _check_number(operator: Pointwise, name: str, entry: int, compute: dtypes.dtype) -> None:
    """A tensor in the place of a number has no dims, and is no complex one among real ones."""
    if not entry & keys.ZERO_DIM:
        raise errors.zero_dim_expected(operator.base_name, name)
    own = signatures.dtype_of(entry)
    if own.kind == "c" and compute.kind != "c":
        raise errors.complex_among_reals(operator.base_name)


def _argument_kind(entry: Any) -> str:
    if entry is None:
        return "absent"
    return "tensor" if entry.__class__ is int else "scalar"


def scalar_converters(special: PointwiseSignature) -> tuple[Any, ...]:
    """For each 'scalar' of a call, what turns a Python number into one that the kernel takes.

    Numbers in the place of operands wrap around or become infinite, as elements do, unless the
    operator says otherwise.
    """
    operator, compute = special.operator, special.compute
    found = []
    for (name, kind), given in zip(operator.arguments.items(), special.arguments, strict=True):
        if given != "scalar":
            continue
        if kind == "operand" and name not in operator.promoted:
            found.append(cast_converter(compute))
        elif name in operator.nonnegative and compute.kind in "bi":
            found.append(nonnegative_converter(compute, operator.nonnegative[name]))
        elif kind == "operand" and name not in operator.range_checked:
            found.append(scalar_converter(compute))
        else:
            found.append(checked_converter(compute))
    return tuple(found)


@cache
def checked_converter(compute: dtypes.dtype) -> Any:
    """As `scalar_converter`; refuses numbers out of the range of the type the formula computes in.

    Of 16-bit floats that is float32.
    """
    target, convert = compute.opmath, scalar_converter(compute)
    low, high = numbers.limits(target)

    def checked(value: Any) -> Any:
        if isinstance(value, Tensor) and value.requires_grad:
            raise errors.number_expected("a Scalar argument", value)  # it would have no gradient
        if hasattr(value, "__index__"):
            numbers.check_fits(value, target)  # an int may be too large to be converted
        converted = convert(value)
        numbers.check_fits(converted, target)
        return converted

    def checked_float(value: Any) -> Any:
        cls = value.__class__
        if cls is float and low <= value <= high:
            return value
        return float(value) if cls is int and -SMALL < value < SMALL else checked(value)

    def checked_int(value: Any) -> Any:
        return value if value.__class__ is int and low <= value <= high else checked(value)

    return {"f": checked_float, "i": checked_int}.get(compute.kind, checked)


@cache
def cast_converter(compute: dtypes.dtype) -> Any:
    """As `checked_converter`, of a number that becomes an element, and must be in its range: of
    fractions among whole numbers the whole part, of complex ones among real ones what is real."""
    checked, is_whole = checked_converter(compute), compute.kind == "i"
    if compute.kind not in "if":
        return checked
    low, high = numbers.limits(compute)

    def cast(value: Any) -> Any:
        if value.__class__ in (int, float, complex):
            numbers.check_fits(value, compute)
            value = int(value.real) if is_whole else value.real
        return checked(value)

    def cast_wide(value: Any) -> Any:
        return cast(value) if value.__class__ is complex else checked(value)

    def cast_whole(value: Any) -> Any:
        return value if value.__class__ is int and low <= value <= high else cast(value)

    if is_whole:
        return cast_whole
    return cast_wide if compute.opmath is compute else cast


def nonnegative_converter(compute: dtypes.dtype, sentence: str) -> Any:
    """As `checked_converter`; refuses negative numbers, too. sentence: what users are told."""
    checked = checked_converter(compute)

    def nonnegative(value: Any) -> Any:
        if value < 0:
            raise errors.negative_number(sentence, value)
        return checked(value)

    return nonnegative


@cache
def scalar_converter(compute: dtypes.dtype) -> Any:
    """What turns a Python number into one that the kernel takes for `compute`."""
    if compute is dtypes.uint64:
        return _to_uint64
    return {"b": bool, "i": _to_int, "f": _to_float, "c": complex}[compute.kind]


def _to_uint64(value: Any) -> int:
    """The signed number of the same 64 bits, as which kernels take it."""
    if hasattr(value, "__index__") and 2**63 <= value.__index__() < 2**64:
        return int(value) - 2**64
    return _to_int(value)


def _to_int(value: Any) -> int:
    if hasattr(value, "item"):  # of NumPy's, or a 0-d tensor
        value = value.item()
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
    cls = value.__class__
    if cls is float:
        number: float = value
        return number
    if cls is int:
        return float(value)
    if isinstance(value, complex):
        raise RuntimeError("For real input tensors, a Scalar argument must not be complex.")
    if isinstance(value, str):
        raise errors.number_expected("a Scalar argument", value)
    return float(value)
