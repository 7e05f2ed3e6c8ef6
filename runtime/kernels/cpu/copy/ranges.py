"""Numbers at equal distances."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.typed import typed

Array = Any
COMPILED = frozenset(map(np.dtype, ("float32", "float64")))
COUNTED = COMPILED | frozenset(map(np.dtype, ("int32", "int64")))

Empty = Callable[[int, Any], Array]
"""empty(count, dtype): memory for numbers."""


def counted(start: int, end: int, step: int, dtype: Any, empty: Empty) -> Array:
    """start, start + step ... below `end`, of which the dtype holds every one; step is positive."""
    count = -((start - end) // step)
    if count < 2 * threads.GRAIN or dtype not in COUNTED:
        return np.arange(start, end, step, dtype)
    out = empty(count, dtype)
    entry = _count.entry_point(dtype, (int, int, dtype, int, int))
    threads.run_ranges(entry, count, count, out, start, step)
    return out


@typed
def _count(first, last, out, start, step):
    for i in range(first, last):
        out[i] = T(start + step * i)


def spaced(
    start: Any, end: Any, step: Any, count: int, middle: int, dtype: Any, empty: Empty
) -> Array:
    """`count` numbers; those from place `middle` on are counted from `end`, so that it is met.

    dtype: of the numbers if floats are compiled for it, else float64 or complex128.
    """
    if complex in (start.__class__, end.__class__):
        return _spaced_complex(start, end, step, count, middle)
    own = dtype if dtype in COMPILED else np.dtype(np.float64)
    out = empty(count, own)
    given = out, float(start), float(end), float(step), middle
    if count < 2 * threads.GRAIN:
        _entry(own)(0, count, *given)
    else:
        threads.run_ranges(_entry(own), count, count, *given)
    return out


def _spaced_complex(start: Any, end: Any, step: Any, count: int, middle: int) -> Array:
    out = np.arange(count) * step
    out[middle:] = end - out[: count - middle][::-1]
    out[:middle] += start
    return out


def spaced_powers(
    base: Any, start: Any, end: Any, step: Any, count: int, middle: int, dtype: Any
) -> Array:
    """`base` to the power of such numbers, in float64 or complex128. dtype: as above."""
    if complex in (base.__class__, start.__class__, end.__class__):
        own = np.dtype(np.float64)
        return np.power(base, spaced(start, end, step, count, middle, own, np.empty))
    own = dtype if dtype in COMPILED else np.dtype(np.float64)
    out = np.empty(count, own)
    _power_entry(own)(out, float(start), float(end), float(step), middle, float(base))
    return out


@cache
def _power_entry(dtype: Any) -> Any:
    return _raise.entry_point((dtype, float, float, float, int, float))


@kernel
def _raise(out, start, end, step, middle, base):
    for i in range(middle):
        out[i] = math.pow(base, start + step * i)
    last = out.size - 1
    for i in range(middle, out.size):
        out[i] = math.pow(base, end - step * (last - i))


@cache
def _entry(dtype: Any) -> Any:
    """The compiled loop for a dtype."""
    return _fill.entry_point(dtype, (int, int, dtype, float, float, float, int))


@typed
def _fill(first, stop, out, start, end, step, middle):
    """Positions are multiplied, not added up: no error grows. All in float64."""
    for i in range(first, min(stop, middle)):
        out[i] = T(start + step * i)
    last = out.size - 1
    for i in range(max(first, middle), stop):
        out[i] = T(end - step * (last - i))
