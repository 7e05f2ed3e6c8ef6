"""Reading at places given by index tensors; writing is in `scatter.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime import errors
from runtime.kernels.build import kernel
from runtime.kernels.cpu import places
from runtime.kernels.cpu.folding import (
    as_bits,
    as_int64,
    buffer_of,
    fold,
    settle,
)

Array = Any


def gather(out: Array, self: Array, dim: int, index: Array, sparse_grad: bool = False) -> None:
    """out[o, j, i] = self[o, index[o, j, i], i] around `dim`."""
    if not index.size:
        return
    self = within(self, index.shape, dim)
    buffer = buffer_of(out)
    source, slots = fold(as_bits(self), dim), fold(as_int64(index), dim)
    target = as_bits(buffer).reshape(slots.shape)
    gather_rows = _gather_last if slots.shape[2] == 1 else _gather
    if not gather_rows(target, source, slots):
        raise places.bad_scatter_index(index, dim, source.shape[1])
    settle(out, buffer)


def within(array: Array, shape: Sequence[int], dim: int) -> Array:
    """Cut `array` down to `shape` in all dims but `dim`."""
    if array.ndim != len(shape) or not array.ndim:
        return array.reshape(-1)[: array.size] if not array.ndim else array
    dim %= array.ndim
    if all(a == b for i, (a, b) in enumerate(zip(array.shape, shape, strict=True)) if i != dim):
        return array
    return array[tuple(slice(None) if i == dim else slice(n) for i, n in enumerate(shape))]


@kernel
def _gather_last(out, self, index):
    """The last dim: each row of self is read at its own places."""
    rows, count, _ = index.shape
    size = np.uint64(self.shape[1])
    fine = True
    for row in range(rows):
        for j in range(count):
            k = np.uint64(index[row, j, 0])
            inside = k < size
            fine &= inside
            out[row, j, 0] = self[row, k if inside else np.uint64(0), 0]
    return fine


@kernel
def _gather(out, self, index):
    """Another dim: the elements behind it are neighbours in memory."""
    outer, count, inner = index.shape
    size = np.uint64(self.shape[1])
    fine = True
    for o in range(outer):
        for j in range(count):
            for i in range(inner):
                k = np.uint64(index[o, j, i])
                inside = k < size
                fine &= inside
                out[o, j, i] = self[o, k if inside else np.uint64(0), i]
    return fine


def index_select(out: Array, self: Array, dim: int, index: Array) -> None:
    """Write the slices that `index` names."""
    size = self.shape[dim] if self.ndim else 1
    places.check_range(index, size, lambda bad: errors.index_out_of_range_in_self())
    if not self.ndim:
        out[...] = self
        return
    take_slices(out, self, dim, index.reshape(-1))


def take_slices(out: Array, self: Array, dim: int, index: Array) -> None:
    """np.take into `out`, indices checked before. Its mode 'raise' would buffer the output."""
    if not self.flags.c_contiguous and 4 * index.size < self.shape[dim]:
        out[...] = self[(slice(None),) * (dim % self.ndim) + (index,)]
        return
    np.take(self, index, axis=dim, out=out, mode="clip")


def index(self: Array, indices: Sequence[Array | None]) -> Array:
    """Return self[indices] as a new array."""
    if len(indices) == 1 and _is_full_mask(self, indices[0]):
        return self[indices[0].astype(np.bool_, copy=False)]
    plain = places.plain_indices(self.shape, indices)
    linear = places.linear_places(self.shape, plain)
    if linear is None:
        return self[places.numpy_index(plain)]
    first, stop, place = linear
    shape = places.result_shape(self.shape, first, stop, place)
    if stop - first == 1:
        out = np.empty(shape, self.dtype)
        if out.size:
            np.take(self, place, axis=first, out=out, mode="clip")
        return out
    if not self.flags.c_contiguous:
        return self[places.numpy_index(plain)]
    merged = places.merged(self, first, stop)
    if not place.size or not merged.size:
        return np.empty(shape, self.dtype)
    return merged.take(place.reshape(-1), axis=1, mode="clip").reshape(shape)


def _is_full_mask(self: Array, mask: Array | None) -> bool:
    return (
        mask is not None
        and mask.dtype in (np.bool_, np.uint8)
        and mask.shape == self.shape
        and mask.ndim > 0
    )


def take(out: Array, self: Array, index: Array) -> None:
    """Write the elements at `index` of the flattened array."""
    slots = places.nonnegative_flat(index.reshape(-1), self.size).reshape(index.shape)
    if out.size:
        np.take(self.reshape(-1), slots, out=out, mode="clip")


def masked_select(self: Array, mask: Array) -> Array:
    """Return the elements where `mask` is true, in row-major order."""
    if mask.dtype != np.bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    if self.shape != mask.shape:
        mask, self = _broadcast_pair(mask, self)
    return self[mask] if self.ndim else self.reshape(1)[mask.reshape(1)]


def _broadcast_pair(mask: Array, self: Array) -> tuple[Array, Array]:
    ndim = max(mask.ndim, self.ndim)
    a, b = ((1,) * (ndim - x.ndim) + x.shape for x in (mask, self))
    for dim in reversed(range(ndim)):
        if a[dim] != b[dim] and a[dim] != 1 and b[dim] != 1:
            raise errors.broadcast_mismatch(a[dim], b[dim], dim)
    return tuple(np.broadcast_arrays(mask, self))  # type: ignore[return-value]


def nonzero(self: Array) -> Array:
    """Return the places of the nonzero elements, one row each."""
    if not self.ndim:
        return np.empty((int(self != 0), 0), np.int64)
    found = np.nonzero(self)
    out = np.empty((found[0].size, self.ndim), np.int64)
    for dim, column in enumerate(found):
        out[:, dim] = column
    return out


def embedding(
    out: Array,
    weight: Array,
    indices: Array,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> None:
    """Write the rows of `weight` that `indices` names."""
    places.check_range(indices, len(weight), lambda bad: errors.index_out_of_range_in_self())
    if out.size:
        take_slices(out, weight, 0, indices)


def embedding_dense_backward(
    out: Array,
    grad_output: Array,
    indices: Array,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> None:
    """Add each row of `grad_output` to the row of `out` that its index names."""
    buffer = buffer_of(out)
    buffer[...] = 0
    rows = np.ascontiguousarray(grad_output).reshape(-1, out.shape[1])
    index = as_int64(indices).reshape(-1)
    counts = np.bincount(index, minlength=num_weights) if scale_grad_by_freq else index[:0]
    if index.size:
        _add_rows(buffer, rows, index, padding_idx, counts)
    settle(out, buffer)


@kernel
def _add_rows(out, rows, index, padding_idx, counts):
    """out[index[n]] += rows[n], divided by the index's count where counts are given."""
    for n in range(index.size):
        row = index[n]
        if row == padding_idx:
            continue
        if counts.size:
            for i in range(rows.shape[1]):
                out[row, i] += rows[n, i] / counts[row]
        else:
            for i in range(rows.shape[1]):
                out[row, i] += rows[n, i]


def repeat_interleave(repeats: Array, output_size: int | None = None) -> Array:
    """Return index i repeats[i] times."""
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if repeats.size and repeats.min() < 0:
        raise RuntimeError("repeats can not be negative")
    result = np.repeat(np.arange(repeats.size, dtype=repeats.dtype), repeats)
    if output_size is not None and output_size != result.size:
        raise RuntimeError("allocated size does not match required size")
    return result
