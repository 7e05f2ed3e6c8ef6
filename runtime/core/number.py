"""Python numbers as elements: whether a dtype can hold one. Knows no tensor."""

from __future__ import annotations

import math
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.finfo import finfo, iinfo

Range = tuple[float, float]

LONG: Range = (-(2**63), 2**63 - 1)
_SCALAR: Range = (-(2**63), 2**64 - 1)
"""The ints that a Scalar argument may be: of 64 bits, signed or not."""


def _ranges(own: dtype) -> tuple[Range, Range | None]:
    """The ints and the floats that a dtype holds; None is all of them.

    An unsigned dtype takes negative ints as far down as up, since they wrap around, but no
    negative floats.
    """
    if own.kind == "i":
        limits = iinfo(own)
        low, high = limits.min, limits.max
        return (low or -high, high), (low, high)
    if own.kind == "b":
        return _SCALAR, None
    parts = finfo(own.to_real() if own.kind == "c" else own)
    low, high = max(_SCALAR[0], parts.min), min(_SCALAR[1], parts.max)
    return (low, high), (parts.min, parts.max)


_RANGES: list[tuple[Range, Range | None] | None] = [None] * len(dtypes.BY_INDEX)
for _each in dtypes.ALL:
    _RANGES[_each.index] = _ranges(_each)


def limits(target: dtype) -> Range:
    """The numbers that `target` surely holds, whether they are ints or floats."""
    found = _RANGES[target.index]
    assert found is not None
    ints, floats = found
    return floats or ints


def is_in_range(value: int, target: dtype) -> bool:
    """Whether a dtype of whole numbers holds the value."""
    found = _RANGES[target.index]
    return found is not None and found[0][0] <= value <= found[0][1]


def check_fits(value: bool | int | float | complex, target: dtype) -> None:
    """Check that `target` can hold `value`, rounding aside.

    Raises: RuntimeError if the value is out of range, or complex for a real dtype; OverflowError
    for an int of more than 64 bits.
    """
    found = _RANGES[target.index]
    if found is None:
        return
    ints, floats = found
    if value.__class__ is float and floats is not None:
        if not floats[0] <= value <= floats[1]:
            _check_part(value, floats, target)
    elif hasattr(value, "__index__"):
        if not ints[0] <= value <= ints[1]:  # type: ignore[operator]
            raise _too_large(value, target)  # type: ignore[arg-type]
    elif floats is None:
        return
    elif not isinstance(value, complex):
        if not floats[0] <= value <= floats[1]:
            _check_part(value, floats, target)
    elif target.kind == "c" or not value.imag:
        _check_part(value.real, floats, target)
        _check_part(value.imag, floats, target)
    else:
        raise errors.number_overflows(target)


def _check_part(value: float, limits: Range, target: dtype) -> None:
    if limits[0] <= value <= limits[1]:
        return
    if target.kind == "i" or math.isfinite(value) or (math.isinf(value) and _is_finite(target)):
        raise errors.number_overflows(target)


def _is_finite(target: dtype) -> bool:
    """Whether a dtype has no infinities: `fn` stands for finite."""
    return "fn" in target.name


def _too_large(value: int, target: dtype) -> Exception:
    if not _SCALAR[0] <= value <= _SCALAR[1]:
        return errors.int_too_big()
    return errors.number_overflows(target)


def check_long(value: int) -> None:
    """Check that an int that becomes an element has 64 bits. Raises: ValueError if it has more."""
    if not LONG[0] <= value <= LONG[1]:
        raise errors.long_overflows()


def check_float(value: Any, argument: str) -> None:
    """Refuse a tensor in the place of a number if it requires grad, which it would not get."""
    if getattr(value, "requires_grad", False):
        raise errors.float_expected(argument, value)
