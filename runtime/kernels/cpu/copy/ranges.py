"""Numbers at equal distances."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.typed import typed

Array = Any
COMPILED = frozenset(map(np.dtype, ("float32", "float64")))


def spaced(start: Any, end: Any, step: Any, count: int, middle: int, dtype: Any) -> Array:
    """`count` numbers; those from place `middle` on are counted from `end`, so that it is met.

    dtype: of the numbers if floats are compiled for it, else float64 or complex128.
    """
    if complex in (start.__class__, end.__class__):
        return _spaced_complex(start, end, step, count, middle)
    own = dtype if dtype in COMPILED else np.dtype(np.float64)
    out = np.empty(count, own)
    _entry(own)(out, float(start), float(end), float(step), middle)
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
        return np.power(base, spaced(start, end, step, count, middle, np.dtype(np.float64)))
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
    return _fill.entry_point(dtype, (dtype, float, float, float, int))


@typed
def _fill(out, start, end, step, middle):
    """Positions are multiplied, not added up: no error grows. All in float64."""
    for i in range(middle):
        out[i] = T(start + step * i)
    last = out.size - 1
    for i in range(middle, out.size):
        out[i] = T(end - step * (last - i))
