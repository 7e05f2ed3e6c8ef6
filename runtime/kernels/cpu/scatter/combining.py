"""Combining values into flat places, where a place may be named several times."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.folding import as_bits
from torchgen_out._runtime.kernels.typed import typed

Array = Any

COPY, SUM, PROD, AMAX, AMIN = range(5)  # what becomes of an old value and a new one
REDUCE = {"sum": SUM, "prod": PROD, "amax": AMAX, "amin": AMIN}


@typed
def combined(old, value, how):
    """What is written where `old` stood; of two orders NaN wins."""
    if how == SUM:
        return old + value
    if how == PROD:
        return old * value
    if how == AMAX:
        return value if (value > old) | (value != value) else old
    if how == AMIN:
        return value if (value < old) | (value != value) else old
    return value


def combine(out: Array, index: Array, values: Array, reduce: str, include_self: bool) -> None:
    """out[index[n]] = combine(out[index[n]], values[n]) for each n, in order.

    out, index, values: contiguous vectors; indices are valid. reduce: copy, sum, prod, mean, amax
    (or max), amin (or min). include_self: whether the old values take part; if not, only what
    `index` names is replaced.
    """
    if reduce == "copy":
        _copy(as_bits(out), index, as_bits(values))
        return
    if not include_self:
        out[index] = _identity(reduce, out.dtype)
    if out.dtype == np.bool_:
        out, values = out.view(np.uint8), values.view(np.uint8)
        reduce = {"sum": "amax", "mean": "amax", "prod": "amin"}.get(reduce, reduce)
    _COMBINE[reduce](out, index, values)
    if reduce == "mean" and out.dtype.name in ("float32", "float64"):
        average(out, index, include_self)
    elif reduce == "mean":
        counts = np.bincount(index, minlength=out.size)
        _divide(out, np.maximum(counts + include_self, 1))


def _identity(reduce: str, dtype: Any) -> Any:
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    lowest = reduce in ("amax", "max")
    if dtype.kind == "f":
        return -np.inf if lowest else np.inf
    if dtype == np.bool_:
        return not lowest
    return np.iinfo(dtype).min if lowest else np.iinfo(dtype).max


@typed
def average(out, index, include_self):
    """Divide sums by the numbers of their terms, in float64."""
    counts = np.zeros(out.size, np.int64)
    if include_self:
        counts[:] = 1
    for n in range(index.size):
        counts[np.uint64(index[n])] += 1
    for i in range(out.size):
        out[i] = T(np.float64(out[i]) / np.float64(max(counts[i], 1)))


def _divide(out: Array, counts: Array) -> None:
    """Integers are divided downwards, as PyTorch does."""
    if out.dtype.kind in "fc":
        np.divide(out, counts, out=out, casting="unsafe")
    else:
        np.floor_divide(out, counts, out=out, casting="unsafe")


@kernel
def _copy(out, index, values):
    for n in range(index.size):
        out[np.uint64(index[n])] = values[n]


@kernel
def _add(out, index, values):
    for n in range(index.size):
        out[np.uint64(index[n])] += values[n]


@kernel
def _multiply(out, index, values):
    for n in range(index.size):
        out[np.uint64(index[n])] *= values[n]


@kernel
def _maximum(out, index, values):
    """NaN wins."""
    for n in range(index.size):
        place = np.uint64(index[n])
        value, old = values[n], out[place]
        out[place] = value if (value > old) | (value != value) else old


@kernel
def _minimum(out, index, values):
    """NaN wins."""
    for n in range(index.size):
        place = np.uint64(index[n])
        value, old = values[n], out[place]
        out[place] = value if (value < old) | (value != value) else old


_COMBINE = {
    "sum": _add,
    "mean": _add,
    "prod": _multiply,
    "amax": _maximum,
    "max": _maximum,
    "amin": _minimum,
    "min": _minimum,
}
