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


def powers(base: Any, exponents: Array, dtype: Any) -> Array:
    """`base` to the power of each exponent. dtype: as above."""
    if base.__class__ is complex or exponents.dtype.kind == "c":
        return np.power(base, exponents)
    out = np.empty(exponents.size, dtype) if dtype in COMPILED else exponents
    _power_entry(out.dtype)(out, exponents, float(base))
    return out


@cache
def _power_entry(dtype: Any) -> Any:
    return _raise.entry_point((dtype, np.dtype(np.float64), float))


@kernel
def _raise(out, exponents, base):
    for i in range(exponents.size):
        out[i] = math.pow(base, exponents[i])


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
