"""Reading at places given by index tensors; writing is in `scatter.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import shape
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.copy.copy import fill
from torchgen_out._runtime.kernels.cpu.folding import (
    as_bits,
    as_int64,
    buffer_of,
    fold,
    is_last,
    rows_of,
    settle,
)
from torchgen_out._runtime.kernels.cpu.indexing import listing_plans, places, reading_plans
from torchgen_out._runtime.kernels.cpu.planned import or_arrays

Array = Any


@or_arrays(reading_plans.plan_gather)
def gather(out: Array, self: Array, dim: int, index: Array, sparse_grad: bool = False) -> None:
    """out[o, j, i] = self[o, index[o, j, i], i] around `dim`."""
    if not index.size:
        return
    self, index = as_bits(within(self, index.shape, dim)), as_int64(index)
    buffer = buffer_of(out)
    if is_last(index, dim):
        source = self if self.ndim == 2 else rows_of(self)
        target, slots = rows_of(as_bits(buffer)), rows_of(index)
        if len(slots) == 1:
            fine = threads.run_rows(_gather_row, (target[0], slots[0]), source[0])
        else:
            fine = threads.run_rows(_gather_rows, (target, source, slots))
    else:
        slots = fold(index, dim)
        target, source = as_bits(buffer).reshape(slots.shape), fold(self, dim)
        if len(slots) == 1:
            fine = threads.run_rows(_gather_slices, (target[0], slots[0]), source[0])
        else:
            fine = threads.run_rows(_gather, (target, source, slots))
    if not fine:
        raise places.bad_scatter_index(index, dim, self.shape[dim] if self.ndim else 1)
    settle(out, buffer)


def within(array: Array, shape: tuple[int, ...], dim: int) -> Array:
    """Cut `array` down to `shape` in all dims but `dim`."""
    own = array.shape
    if own == shape or len(own) != len(shape) or not own:
        return array
    dim %= len(own)
    if own[:dim] == shape[:dim] and own[dim + 1 :] == shape[dim + 1 :]:
        return array
    return array[tuple(slice(None) if i == dim else slice(n) for i, n in enumerate(shape))]


@kernel
def _gather_row(out, index, self):
    """One row is read at all places. False for a place outside."""
    size = np.uint64(self.size)
    for j in range(index.size):
        k = np.uint64(index[j])
        if k >= size:
            return False
        out[j] = self[k]
    return True


@kernel
def _gather_rows(out, self, index):
    """The last dim: each row of self is read at its own places.

    Often at one alone: no row is taken out, since views count references, at 15 ns each.
    """
    size = np.uint64(self.shape[1])
    for row in range(index.shape[0]):
        for j in range(index.shape[1]):
            k = np.uint64(index[row, j])
            if k >= size:
                return False
            out[row, j] = self[row, k]
    return True


@kernel
def _gather_slices(out, index, self):
    """The first dim: the elements of a slice are neighbours in memory."""
    size = np.uint64(self.shape[0])
    for j in range(index.shape[0]):
        for i in range(index.shape[1]):
            k = np.uint64(index[j, i])
            if k >= size:
                return False
            out[j, i] = self[k, i]
    return True


@kernel
def _gather(out, self, index):
    """A dim between others."""
    fine = True
    for o in range(index.shape[0]):
        fine &= _gather_slices(out[o], index[o], self[o])
    return fine


@or_arrays(reading_plans.plan_index_select)
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
    if not out.flags.c_contiguous:
        np.take(self, index, axis=dim, out=out, mode="clip")
        return
    slots, target = as_int64(index).reshape(-1), as_bits(out)
    if self.ndim == 1:
        row = as_bits(np.ascontiguousarray(self))
        threads.run_rows(_gather_row, (target.reshape(-1), slots), row)
    elif is_last(self, dim):
        source = rows_of(as_bits(self))
        rows = target.reshape(len(source), slots.size), source
        threads.run_rows(_take_columns, rows, slots, work=reading_plans.SCATTERED)
    else:
        source = fold(as_bits(self), dim)
        target = target.reshape(len(source), slots.size, source.shape[2])
        lines = len(source) * slots.size
        threads.run_ranges(_take_slices, lines, out.size, target, source, slots)


@kernel
def _take_slices(start, stop, out, self, index):
    """out[o, j] = self[o, index[j]], lines start to stop of all in `out`."""
    for line in range(start, stop):
        o, j = divmod(line, index.size)
        source, target = self[o, index[j]], out[o, j]
        for i in range(target.size):
            target[i] = source[i]


@kernel
def _take_columns(out, self, index):
    """The same columns of every row."""
    for row in range(self.shape[0]):
        source, target = self[row], out[row]
        for j in range(index.size):
            target[j] = source[np.uint64(index[j])]


def index(self: Array, indices: Sequence[Array | None]) -> Array:
    """Return self[indices] as a new array."""
    if len(indices) == 1 and _is_full_mask(self, indices[0]):
        return _compress(self, indices[0])
    plain = places.plain_indices(self.shape, indices)
    linear = places.linear_places(self.shape, plain)
    if linear is None:
        return self[places.numpy_index(self.shape, plain)]
    first, stop, place = linear
    shape = places.result_shape(self.shape, first, stop, place)
    if stop - first == 1:
        out = np.empty(shape, self.dtype)
        if out.size:
            take_slices(out, self, first, place)
        return out
    if not self.flags.c_contiguous:
        return self[places.numpy_index(self.shape, plain)]
    merged = places.merged(self, first, stop)
    if not place.size or not merged.size:
        return np.empty(shape, self.dtype)
    if merged.shape[0] == merged.shape[2] == 1:
        out = np.empty(shape, self.dtype)
        _take_flat(out, self, place)
        return out
    return merged.take(place.reshape(-1), axis=1, mode="clip").reshape(shape)


def _is_full_mask(self: Array, mask: Array | None) -> bool:
    return (
        mask is not None
        and mask.dtype in (np.bool_, np.uint8)
        and mask.shape == self.shape
        and mask.ndim > 0
    )


@or_arrays(reading_plans.plan_take)
def take(out: Array, self: Array, index: Array) -> None:
    """Write the elements at `index` of the flattened array."""
    buffer, slots = buffer_of(out), as_int64(index).reshape(-1)
    flat = as_bits(np.ascontiguousarray(self)).reshape(-1)
    if out.size and not threads.run_rows(_take_counted, (as_bits(buffer).reshape(-1), slots), flat):
        places.nonnegative_flat(slots, self.size)  # raises
    settle(out, buffer)


@kernel
def _take_counted(out, index, self):
    """out[j] = self[index[j]], counted from the end if negative; False for a place outside."""
    size = self.size
    for j in range(index.size):
        k = index[j]
        k = k + size if k < 0 else k
        if np.uint64(k) >= np.uint64(size):
            return False
        out[j] = self[np.uint64(k)]
    return True


def _take_flat(out: Array, self: Array, place: Array) -> None:
    """The elements at valid places of the flattened array. out, place: contiguous."""
    if out.size:
        arrays = as_bits(out).reshape(-1), place.reshape(-1)
        threads.run_rows(_gather_row, arrays, as_bits(np.ascontiguousarray(self)).reshape(-1))


def masked_select(self: Array, mask: Array) -> Array:
    """Return the elements where `mask` is true, in row-major order."""
    if mask.dtype != np.bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    if self.shape != mask.shape:
        mask, self = _broadcast_pair(mask, self)
    return _compress(self, mask)


def _compress(self: Array, mask: Array) -> Array:
    """The elements under a mask of the same shape."""
    count = int(np.count_nonzero(mask))
    out = np.empty(count, self.dtype)
    flags = np.ascontiguousarray(mask).reshape(-1).view(np.uint8)
    if count:
        _pack(as_bits(out), as_bits(np.ascontiguousarray(self).reshape(-1)), flags)
    return out


@kernel
def _pack(out, self, mask):
    """Write every element and step on after those wanted: no branch to mispredict."""
    place = 0
    last = out.size - 1
    for i in range(self.size):
        out[place if place < last else last] = self[i]
        place += 1 if mask[i] else 0
        if place > last:
            break


def _broadcast_pair(mask: Array, self: Array) -> tuple[Array, Array]:
    ndim = max(mask.ndim, self.ndim)
    a, b = ((1,) * (ndim - x.ndim) + x.shape for x in (mask, self))
    for dim in reversed(range(ndim)):
        if a[dim] != b[dim] and a[dim] != 1 and b[dim] != 1:
            raise errors.broadcast_mismatch(a[dim], b[dim], dim)
    return tuple(np.broadcast_arrays(mask, self))  # type: ignore[return-value]


@or_arrays(listing_plans.plan_nonzero, results=0)
def nonzero(self: Array) -> Array:
    """Return the places of the nonzero elements, one row each."""
    count = int(np.count_nonzero(self))
    out = np.empty((count, self.ndim), np.int64)
    if not out.size:
        return out
    flags = self if self.dtype == np.bool_ else self != 0
    rows = rows_of(flags)
    outer = np.array(self.shape[:-1], np.int64)
    _list_places(out, rows, outer, np.empty(rows.shape[1] + 1, np.int64))
    return out


@kernel
def _list_places(out, rows, outer, found):
    """Row by row: first the columns, without a branch, then the coordinates of each."""
    counter = np.zeros(outer.size, np.int64)
    place = 0
    for row in range(rows.shape[0]):
        flags = rows[row]
        count = 0
        for j in range(flags.size):
            found[count] = j
            count += 1 if flags[j] else 0
        for n in range(count):
            for dim in range(outer.size):
                out[place, dim] = counter[dim]
            out[place, outer.size] = found[n]
            place += 1
        for dim in range(outer.size - 1, -1, -1):
            counter[dim] += 1
            if counter[dim] < outer[dim]:
                break
            counter[dim] = 0


@or_arrays(reading_plans.plan_embedding)
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
    if out.size and out.flags.c_contiguous:
        take_slices(out.reshape(-1, out.shape[-1]), weight, 0, indices.reshape(-1))
    elif out.size:
        take_slices(out, weight, 0, indices)


def embedding_dense_backward(
    out: Array,
    grad_output: Array,
    indices: Array,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> None:
    """Add each row of `grad_output` to the row of `out` that its index names.

    Raises: IndexError for an index that is no row.
    """
    places.check_range(indices, num_weights, lambda bad: errors.index_out_of_range_in_self())
    buffer = buffer_of(out)
    fill(buffer, 0)
    index = as_int64(indices).reshape(-1)
    rows = np.ascontiguousarray(grad_output).reshape(index.size, out.shape[1])
    counts = np.bincount(index, minlength=num_weights) if scale_grad_by_freq else index[:0]
    if index.size:
        arrays = buffer, rows, index, padding_idx, counts
        threads.run_ranges(_add_rows, rows.shape[1], rows.size, *arrays)
    settle(out, buffer)


@kernel
def _add_rows(start, stop, out, rows, index, padding_idx, counts):
    """out[index[n]] += rows[n] in columns start to stop, divided by the index's count where counts
    are given."""
    for n in range(index.size):
        k = index[n]
        if k == padding_idx:
            continue
        target, row = out[k, start:stop], rows[n, start:stop]
        if counts.size:
            for i in range(row.size):
                target[i] += row[i] / counts[k]
        else:
            for i in range(row.size):
                target[i] += row[i]


@or_arrays(listing_plans.plan_repeat_interleave, results=0)
def repeat_interleave(repeats: Array, output_size: int | None = None) -> Array:
    """Return index i repeats[i] times."""
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if repeats.size and repeats.min() < 0:
        raise errors.negative_repeats()
    shape.check_storable((sum(repeats.tolist()),))
    result = np.repeat(np.arange(repeats.size, dtype=repeats.dtype), repeats)
    if output_size is not None and output_size != result.size:
        raise RuntimeError("allocated size does not match required size")
    return result


@or_arrays(listing_plans.plan_one_hot, results=0)
def one_hot(self: Array, num_classes: int = -1) -> Array:
    """Return rows of zeros with a one at each class.

    Raises: RuntimeError for another dtype than int64, or classes outside [0, num_classes).
    """
    if self.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not self.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        shape.check_storable((*self.shape, num_classes))
        return np.zeros((*self.shape, num_classes), np.int64)
    greatest = -1 if self.min() < 0 else int(self.max())
    num_classes = listing_plans.class_count(greatest, num_classes)
    shape.check_storable((*self.shape, num_classes))
    out = np.zeros((*self.shape, num_classes), np.int64)
    rows = out.reshape(-1, num_classes)
    rows[np.arange(len(rows)), self.reshape(-1)] = 1
    return out
