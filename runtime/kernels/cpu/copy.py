"""Copies, casts and fills on the CPU; 16-bit floats arrive as float32 where their value matters.

NumPy moves the elements, without the interpreter lock: large dense arrays are split among the
threads. It walks a transposed array against the grain, so that case has a tiled loop.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from runtime.kernels import threads
from runtime.kernels.build import kernel

Array = np.ndarray

TILED = 1 << 12  # elements from which the tiled loop beats NumPy's


def assign(out: Array, source: Array) -> None:
    """Write `source`, broadcast to `out`, cast as NumPy does."""
    if out.size < threads.GRAIN or source.shape != out.shape:
        out[...] = source
    elif out.flags.c_contiguous and source.flags.c_contiguous:
        threads.run_flat(_assign_flat, (out.reshape(-1), source.reshape(-1)))
    elif out.flags.f_contiguous and source.flags.f_contiguous:
        threads.run_flat(_assign_flat, (out.reshape(-1, order="F"), source.reshape(-1, order="F")))
    else:
        assign_strided(out, source)


def _assign_flat(out: Array, source: Array) -> None:
    out[...] = source


def assign_strided(out: Array, source: Array) -> None:
    """Write `source` of the same shape; where the fast dims differ, in tiles."""
    if out.ndim == 2 and out.size >= TILED and out.dtype == source.dtype:
        if out.strides[0] < out.strides[1]:
            out, source = out.T, source.T
        if 0 < source.strides[0] < source.strides[1]:
            threads.run_rows(copy_tiles, (out, source))
            return
    if out.ndim == 3 and out.size >= TILED and out.shape[0] <= out.shape[1] * out.shape[2] // TILED:
        for part, source_part in zip(out, source, strict=True):
            assign_strided(part, source_part)
        return
    out[...] = source


TILE = 32


@kernel
def copy_tiles(out, source):
    """Copy tile by tile: rows of `out` and columns of `source` both stay in the cache."""
    rows, columns = out.shape
    for row in range(0, rows, TILE):
        last_row = min(row + TILE, rows)
        for column in range(0, columns, TILE):
            last_column = min(column + TILE, columns)
            for i in range(row, last_row):
                for j in range(column, last_column):
                    out[i, j] = source[i, j]


def cast_into(out: Array, source: Array) -> None:
    """Write `source`, broadcast, cast as in C: floats lose their fraction, bool is non-zero."""
    if out.dtype.kind in "iu" and source.dtype.kind in "fc":
        with np.errstate(invalid="ignore"):
            out[...] = _real_part(source) if source.dtype.kind == "c" else source
    elif source.dtype.kind == "c" and out.dtype.kind not in "cb":
        out[...] = _real_part(source)
    elif source.dtype.itemsize > out.dtype.itemsize and out.dtype.kind in "fc":
        with np.errstate(over="ignore"):
            out[...] = source
    else:
        out[...] = source


def _real_part(source: Array) -> Array:
    warnings.warn(
        "Casting complex values to real discards the imaginary part", UserWarning, stacklevel=2
    )
    return source.real


def copy_(self: Array, src: Array, non_blocking: bool = False) -> None:
    """Copy `src`, broadcast to self's sizes."""
    if self.dtype == src.dtype:
        self[...] = src
    else:
        cast_into(self, src)


def clone(out: Array, self: Array, memory_format: Any = None) -> None:
    """Copy all elements."""
    out[...] = self


def to_copy(out: Array, self: Array, *options: Any) -> None:
    """Copy all elements, cast to the dtype of `out`."""
    cast_into(out, self)


def fill_(self: Array, value: Any) -> None:
    """Set all elements to one number or to the element of a 0-d array."""
    if self.dtype.kind in "fc" and value.__class__ is float:
        self.fill(value)
    else:
        cast_into(self, np.asarray(value))


def zero_(self: Array) -> None:
    """Set all elements to zero."""
    self.fill(0)


def complex_(out: Array, real: Array, imag: Array) -> None:
    """Join real and imaginary parts."""
    out.real = real
    out.imag = imag
