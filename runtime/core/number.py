"""Python numbers as elements: whether a dtype can hold one. Knows no tensor."""

from __future__ import annotations

import math

from runtime import errors
from runtime.core.dtype import dtype
from runtime.core.finfo import finfo, iinfo


def check_fits(value: bool | int | float | complex, target: dtype) -> None:
    """Check that `target` can hold `value`, rounding aside.

    A negative number fits an unsigned dtype if its magnitude does: it wraps around.
    Raises: RuntimeError if the value is out of range, or complex for a real dtype.
    """
    if target.kind == "b" or isinstance(value, bool):
        return
    if isinstance(value, complex):
        if target.kind == "c":
            return
        if value.imag:
            raise errors.number_overflows(target)
        value = value.real
    if target.kind == "i":
        limits = iinfo(target)
        low = limits.min if target.is_signed else -limits.max
        if not math.isfinite(value) or not low <= int(value) <= limits.max:
            raise errors.number_overflows(target)
    elif math.isfinite(value) and abs(value) > finfo(target).max:
        raise errors.number_overflows(target)
