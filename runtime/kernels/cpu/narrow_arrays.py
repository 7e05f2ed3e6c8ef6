"""Arrays of narrow types, stored as bits, to those they are computed in and back; bit-exact.

Rounding is to nearest, ties to even; NaN stays NaN. Numbers go through loops that vectorise, two of
a type, compiled once for all operators: of a few elements NumPy's calls take ten times as long.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec
from torchgen_out._runtime.kernels.cpu import pool
from torchgen_out._runtime.kernels.cpu.copy.casting import cast
from torchgen_out._runtime.kernels.cpu.folding import contiguous
from torchgen_out._runtime.kernels.cpu.loops.pointwise import contiguous_kernel
from torchgen_out._runtime.kernels.vecmath import half

_SINGLE = np.dtype(np.float32)


def widen(stored: np.ndarray, source: dtype) -> np.ndarray:
    """Return the elements of an array that holds `source`, a narrow dtype, in its `opmath`.

    Shape: any, also strided; the result is C-contiguous and new.
    """
    if source.is_complex:
        parts = contiguous(stored).reshape(-1).view(source.to_real().numpy)
        wide = widen(parts, source.to_real())
        return wide.view(source.opmath.numpy).reshape(stored.shape)
    if source.itemsize == 1:
        return _table(source)[stored]
    flat = contiguous(stored).reshape(-1)
    wide = pool.maker(4 * flat.size, _SINGLE)(flat.size)
    threads.run_flat(casts(source, source.opmath), (wide, flat))
    return wide.reshape(stored.shape)


def narrow(values: np.ndarray, target: dtype, out: np.ndarray | None = None) -> np.ndarray:
    """Return values of a narrow dtype's `opmath`, rounded to it, as the dtype stores them.

    Shape: any, also strided. out: an array of the stored type to write to, of any strides.
    """
    is_dense = out is None or out.flags.c_contiguous
    rounded = np.empty(values.shape, target.numpy) if out is None or not is_dense else out
    if target.is_complex:
        real = target.to_real()
        parts = contiguous(values).reshape(-1).view(real.opmath.numpy)
        narrow(parts, real, rounded.reshape(-1).view(real.numpy))
    else:
        _round(values, target, rounded)
    if out is not None and not is_dense:
        out[...] = rounded
        return out
    return rounded


def _round(values: np.ndarray, target: dtype, rounded: np.ndarray) -> None:
    """Write float32 values into a contiguous array of a narrow float type."""
    flat = contiguous(values).reshape(-1)
    threads.run_flat(casts(target.opmath, target), (rounded.reshape(-1), flat))


def bits_of(value: complex, target: dtype) -> int:
    """Return a number, rounded to a narrow dtype, as the dtype stores it."""
    is_remembered = value and value.__class__ is not complex
    return (_bits_of if is_remembered else _bits_of.__wrapped__)(value, target)


@lru_cache(maxsize=256)
def _bits_of(value: complex, target: dtype) -> int:
    """The same of real numbers but 0: zeros, parts too, have a sign but compare equal."""
    return int(narrow(np.array([value], target.opmath.numpy), target)[0])


@cache
def _table(source: dtype) -> np.ndarray:
    """The values of all bytes."""
    convert = getattr(half, f"{source.name}_to_float32")
    return np.array([convert(byte) for byte in np.arange(256, dtype=np.uint8)], np.float32)


@cache
def casts(own: dtype, wanted: dtype) -> Any:
    """The loop of casts between a narrow type and its `opmath`, in either direction."""
    return contiguous_kernel(PointwiseSpec(cast, ("tensor",), (own,), (wanted,), dtypes.float32))
