"""Arrays seen around one dim: as (outer, size, inner), so that one loop serves every ndim and dim.

Kernels along a dim take folded, C-contiguous arrays: one Numba type instead of one per ndim and
layout. A contiguous array is folded for free; any other is copied once, and an output that is not
contiguous is computed in a buffer and copied back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.common.folded import sizes_around
from torchgen_out._runtime.kernels.cpu import pool
from torchgen_out._runtime.kernels.cpu.copy.strided_copy import (
    are_crosswise,
    copy_elements,
    copy_flat,
)

Array = Any

# Moving data needs no arithmetic: one kernel serves all types of a width.
_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}


def fold(array: Array, dim: int) -> Array:
    """Return `array` as (outer, size, inner) around `dim`, C-contiguous; 0-d gives (1, 1, 1)."""
    return contiguous(array).reshape(sizes_around(array.shape, dim))


def is_last(array: Array, dim: int) -> bool:
    """Whether the elements of a slice along `dim` are neighbours: a kernel of rows will do."""
    return dim == -1 or dim == array.ndim - 1 or not array.ndim


def rows_of(array: Array) -> Array:
    """Return `array` as contiguous rows along its last dim; 0-d is one row of one element."""
    if array.ndim == 2 and array.flags.c_contiguous:
        return array
    return contiguous(array).reshape(sizes_around(array.shape, -1)[:2])


def rows_along(array: Array, dim: int) -> Array:
    """Return the slices along `dim` as contiguous rows, in row-major order of the other dims."""
    return rows_of(array if is_last(array, dim) else np.moveaxis(array, dim, -1))


def store_rows(out: Array, rows: Array, dim: int) -> None:
    """Write rows back along `dim`: the reverse of `rows_along`."""
    target = out if is_last(out, dim) else np.moveaxis(out, dim, -1)
    target[...] = rows.reshape(target.shape)


def buffer_of(out: Array) -> Array:
    """Return `out` itself if it is C-contiguous, else an uninitialised array for its values."""
    return out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)


def settle(out: Array, buffer: Array) -> None:
    """Copy back what was computed in a buffer."""
    if buffer is not out:
        copy_parts((out, buffer))


def start_from(out: Array, self: Array) -> None:
    """Give `out` the values of `self`, unless the operator runs in place."""
    if out is not self:
        copy_parts((out, self))


def contiguous(array: Array) -> Array:
    """The array itself if it is C-contiguous, else a copy."""
    if array.flags.c_contiguous:
        return array
    dense = pool.maker(array.nbytes, array.dtype)(array.size).reshape(array.shape)
    copy_parts((dense, array))
    return dense


def as_bits(array: Array) -> Array:
    """Return the array as unsigned numbers of the same width."""
    return array.view(_BITS[array.dtype.itemsize])


def as_int64(index: Array) -> Array:
    """Return an index array as contiguous int64."""
    return np.ascontiguousarray(index, np.int64)


def broadcast(array: Array, shape: tuple[int, ...]) -> Array:
    """Return the array with the sizes to which it broadcasts, of one type with all others.

    NumPy's own answer is read-only, which to Numba is another type, compiled apart or unknown.
    Raises: ValueError if it does not broadcast.
    """
    if array.shape == shape:
        return array
    wide = np.broadcast_to(array, shape)
    return np.lib.stride_tricks.as_strided(array, shape, wide.strides)


TURNED = 1 << 15
"""Elements from which on crosswise memory is turned in tiles: that takes 9 us to begin, in which
NumPy copies 20,000 elements."""
FEW_ROWS = 1 << 8
"""Rows up to which it does not matter how each is copied."""
NARROW = 16
"""Bytes of a row up to which it is a word, or columns are copied one after the other."""


def _pieces(out: Array, source: Array) -> Iterator[tuple[Array, Array]]:
    """What is to be copied, without rows of a few bytes: to begin one takes 5 ns."""
    size, n = out.itemsize, out.shape[-1] if out.ndim > 1 else 0
    is_narrow = 2 <= n <= NARROW // size and out.size >= n * FEW_ROWS
    if not is_narrow or out.shape != source.shape or are_dense(out, source):
        yield out, source
        return
    row = n * size
    if row in _BITS and all(_has_words(each, row) for each in (out, source)):
        out, source = (each.view(_BITS[row]) for each in (out, source))
        n = 1
    yield from ((out[..., k], source[..., k]) for k in range(n))


def _has_words(array: Array, row: int) -> bool:
    """Whether rows of so many bytes are words, and as far from each other as some words are."""
    *steps, last = array.strides
    return last == array.itemsize and not any(step % row for step in steps)


def are_dense(*arrays: Array) -> bool:
    """Whether all are contiguous."""
    return all(each.flags.c_contiguous for each in arrays)


def _is_turned(out: Array, source: Array) -> bool:
    return out.size >= TURNED and out.shape == source.shape and are_crosswise(out, source)


def copy_parts(*pairs: tuple[Array, Array]) -> None:
    """Copy the second of each pair, broadcast, of the same dtype, into the first; large ones on
    several threads."""
    for out, source in (piece for pair in pairs for piece in _pieces(*pair)):
        is_large = threads.part_count(out.size, out.size) > 1
        if not is_large and not _is_turned(out, source):
            np.copyto(out, source)
        elif out.shape == source.shape and are_dense(out, source):
            copy_flat(out.reshape(-1), source.reshape(-1))
        else:
            copy_elements(as_bits(out), as_bits(broadcast(source, out.shape)))
