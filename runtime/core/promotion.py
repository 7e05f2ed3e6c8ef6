"""Which dtype an operator computes in and returns, from the dtypes and ranks of its operands.

An *entry* is `(dtype, rank)`. Ranks order the operands: a tensor with dims (DIMENSIONED) outweighs
a 0-d tensor (ZERO_DIM), which outweighs a Python number (NUMBER). A lower rank changes the result
only where its *category* (bool < integer < floating < complex) is above that of all higher ranks.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.dtype import dtype

DIMENSIONED, ZERO_DIM, NUMBER = 2, 1, 0
Entry = tuple[dtype, int]

_CATEGORY = {"b": 0, "i": 1, "f": 2, "c": 3}
KINDS = (
    "default",
    "int_to_float",
    "always_double",
    "always_bool",
    "complex_to_float",
    "bool_to_long",
)
_SIGNED_OF_SIZE = {1: dtypes.int8, 2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """Return the smallest dtype of the higher category to which both dtypes convert.

    **Example** `promote_types(torch.int32, torch.float16) is torch.float16`
    """
    if type1 is type2:
        return type1
    type1 = _meant(type1, "promote_types", "type1", 0)
    type2 = _meant(type2, "promote_types", "type2", 1)
    if not type1.is_promoted or not type2.is_promoted:
        return _unpromoted(type1, type2)
    low, high = sorted((type1, type2), key=lambda each: _CATEGORY[each.kind])
    if low.kind != high.kind:
        if high.kind == "c" and low.kind == "f":
            return _wider(low.to_complex(), high)
        return high
    if low.kind == "i":
        return _promote_integers(low, high)
    if low.itemsize == high.itemsize:
        return dtypes.float32  # float16 and bfloat16: neither holds the other
    return _wider(low, high)


def _unpromoted(type1: dtype, type2: dtype) -> dtype:
    """Wide unsigned integers go together with floating types only."""
    low, high = sorted((type1, type2), key=lambda each: _CATEGORY[each.kind])
    if low.kind == "i" and high.kind == "f" and high.is_promoted:
        return high
    raise errors.no_promotion(type1, type2)


def _wider(a: dtype, b: dtype) -> dtype:
    return a if a.itemsize >= b.itemsize else b


def _promote_integers(a: dtype, b: dtype) -> dtype:
    """An unsigned type next to a signed one that is no wider needs the next wider signed type."""
    if a.is_signed == b.is_signed:
        return _wider(a, b)
    unsigned, signed = (b, a) if a.is_signed else (a, b)
    return _SIGNED_OF_SIZE[max(signed.itemsize, 2 * unsigned.itemsize)]


def can_cast(from_: dtype, to: dtype) -> bool:
    """Return whether an implicit cast keeps the category: no float to int, none but bool to bool.

    **Example** `can_cast(torch.float64, torch.float32)` holds, `can_cast(torch.float64,
    torch.int64)` does not.
    """
    source, target = _meant(from_, "can_cast", "from_", 0), _meant(to, "can_cast", "to", 1)
    return _CATEGORY[source.kind] <= _CATEGORY[target.kind]


def _meant(given: object, function: str, argument: str, position: int) -> dtype:
    meant = dtypes.meant_by(given)
    if meant is None:
        raise errors.wrong_argument_type(function, argument, position, "torch.dtype", given)
    return meant


def number_dtype(number: bool | int | float | complex) -> dtype:
    """Return the dtype as which a Python number takes part in promotion."""
    if isinstance(number, builtins.float):
        return dtypes.default_dtype()
    if isinstance(number, builtins.bool):
        return dtypes.bool
    if isinstance(number, builtins.int):
        return dtypes.int64
    return dtypes.default_dtype().to_complex()


def result_type(entries: Iterable[Entry]) -> dtype:
    """Return the common dtype of `entries`.

    Raises: ValueError if there are none.
    """
    found: dict[int, dtype] = {}
    for each, rank in entries:
        found[rank] = promote_types(found[rank], each) if rank in found else each
    if not found:
        raise ValueError("result_type: expected at least one operand, got none")
    combined: dtype | None = None
    for rank in sorted(found):
        combined = found[rank] if combined is None else _outweigh(found[rank], combined)
    assert combined is not None
    return combined


def _outweigh(higher: dtype, lower: dtype) -> dtype:
    """The higher rank's dtype, lifted to the lower rank's category if that is above its own."""
    if _CATEGORY[higher.kind] >= _CATEGORY[lower.kind]:
        return higher
    if higher.kind == "f":
        return higher.to_complex()
    return lower if lower.kind == "c" and higher.kind == "i" else promote_types(higher, lower)


def element_types(kind: str, entries: Iterable[Entry]) -> tuple[dtype, dtype]:
    """Return (compute dtype, result dtype) of an operator with promotion rule `kind`.

    The rules: `default` (the common dtype), `int_to_float` (integers and bool become the default
    dtype), `always_double` (float64, or complex128 if that is complex), `always_bool` (the result
    is bool), `complex_to_float` (it is real), `bool_to_long` (bool becomes int64).
    """
    common = result_type(entries)
    if kind == "default":
        return common, common
    if kind == "int_to_float":
        lifted = dtypes.default_dtype() if common.kind in "bi" else common
        return lifted, lifted
    if kind == "always_double":
        wide = dtypes.complex128 if common.kind == "c" else dtypes.float64
        return wide, wide
    if kind == "always_bool":
        return common, dtypes.bool
    if kind == "complex_to_float":
        return common, common.to_real()
    if kind == "bool_to_long":
        lifted = dtypes.int64 if common.kind == "b" else common
        return lifted, lifted
    raise ValueError(f"promotion: expected one of {', '.join(KINDS)}, got '{kind}'")


def result_dtype(kind: str, entries: Iterable[Entry]) -> dtype:
    """Return the dtype of the result of an operator with promotion rule `kind`."""
    return element_types(kind, entries)[1]


def check_inplace(name: str, kind: str, result: dtype, own: dtype) -> None:
    """Check that a result of an operator with promotion rule `kind` may be written over `own`.

    Raises: RuntimeError if the cast would lose the category, or if real parts alone would be left.
    """
    if kind == "complex_to_float" and own.is_complex:
        raise errors.inplace_of_complex(name)
    check_out(result, own, "exact" if kind == "always_double" else "cast")


def check_out(result: dtype, out: dtype, rule: str = "cast") -> None:
    """Check that a result may be stored in a tensor given as `out=` or written in place.

    The rules: `cast` (the category must not be lost), `exact` (nothing is cast), `floating` (any
    floating-point dtype), `real` (any dtype that is not complex: all can hold the result).
    Raises: RuntimeError; a TypeError, too, if a cast would lose the category.
    """
    if rule == "exact" and result is not out:
        raise errors.other_out_dtype(result, out)
    if rule == "floating" and out.kind != "f":
        raise errors.floating_out_expected(out)
    if rule == "real":
        if out.kind == "c":
            raise errors.real_out_expected(out)
        return
    if result is not out and not can_cast(result, out):
        raise errors.cannot_cast(result, out)
