"""Python numbers as elements: whether a dtype can hold one. Knows no tensor."""

from __future__ import annotations

import math

from runtime import errors
from runtime.core import dtype as dtypes
from runtime.core.dtype import dtype
from runtime.core.finfo import finfo, iinfo

# The largest magnitude or value of each dtype that has a limit. Unsigned dtypes go as far down as
# up: a negative number wraps around.
_RANGES: list[tuple[float, float] | None] = [None] * len(dtypes.BY_INDEX)
for _each in dtypes.ALL:
    if _each.kind == "f":
        _RANGES[_each.index] = (finfo(_each).min, finfo(_each).max)
    elif _each.kind == "i":
        _limits = iinfo(_each)
        _RANGES[_each.index] = (_limits.min or -_limits.max, _limits.max)


def check_fits(value: bool | int | float | complex, target: dtype) -> None:
    """Check that `target` can hold `value`, rounding aside.

    A negative number fits an unsigned dtype if its magnitude does: it wraps around.
    Raises: RuntimeError if the value is out of range, or complex for a real dtype.
    """
    limits = _RANGES[target.index]
    if limits is None:
        return
    if isinstance(value, complex):
        if value.imag:
            raise errors.number_overflows(target)
        value = value.real
    if limits[0] <= value <= limits[1]:
        return
    if target.kind == "i" or math.isfinite(value):
        raise errors.number_overflows(target)
