"""Ordering along a dim: sort, top k, order statistics. NaN is the greatest value.

Sorting is always stable and goes through NumPy's vectorised sort of plain numbers: where key and
place fit into 64 bits they are packed into one number, so equal keys stay in their order by
themselves; wider types are sorted by place and their ties put right afterwards.
Searching is in `searching.py`, distinct values in `distinct.py`.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.folding import (
    buffer_of,
    contiguous,
    is_last,
    rows_along,
    rows_of,
    settle,
    store_rows,
)
from torchgen_out._runtime.kernels.cpu.planned import or_arrays
from torchgen_out._runtime.kernels.cpu.sort import sort_plans
from torchgen_out._runtime.kernels.cpu.sort.sort_plans import float_key, settle_ties
from torchgen_out._runtime.kernels.cpu.sort.top import HEAP_SHARE, top_of_rows

Array = Any

MOST_COMPARED = 8  # elements of a line compared each with each
RUN = 256  # lines compared in step


@or_arrays(sort_plans.plan_ordered, results=2, any_order=True)
def ordered(
    values: Array, indices: Array, self: Array, k: int | None, dim: int, descending: bool
) -> None:
    """Write the first k values in order, or all, and their places; ties in order."""
    if self.ndim and 1 < self.shape[dim] <= MOST_COMPARED and values.size:
        _order_few(values, indices, self, dim, descending)
        return
    if k is not None:
        _first_of_rows(values, indices, self, k, dim, descending)
        return
    if not values.flags.c_contiguous:  # all in the order in which the results lie
        order = sorted(range(values.ndim), key=lambda each: -values.strides[each])
        values, indices, self = (each.transpose(order) for each in (values, indices, self))
        dim = order.index(dim % values.ndim)
    if is_last(self, dim):
        _sort_last(values, indices, self, descending)
    else:
        rows = rows_along(self, dim)
        row_values, row_indices = np.empty(rows.shape, self.dtype), np.empty(rows.shape, np.int64)
        _sort_last(row_values, row_indices, rows, descending)
        store_rows(values, row_values, dim)
        store_rows(indices, row_indices, dim)


def _order_few(values: Array, indices: Array, self: Array, dim: int, descending: bool) -> None:
    """The same along a dim of few elements, each compared with each, in runs of lines."""
    found = buffer_of(values), buffer_of(indices)
    shaped = [_around(each, dim) for each in (*found, contiguous(self))]
    if shaped[2].shape[2] == 1:  # rows: a run goes over several of them
        shaped = [each.transpose(2, 1, 0) for each in shaped]
    compare_each(*shaped, descending)
    settle(values, found[0])
    settle(indices, found[1])


def _around(array: Array, dim: int) -> Array:
    """The array with one dim before and one behind this one."""
    dim %= array.ndim
    return array.reshape(prod(array.shape[:dim]), array.shape[dim], prod(array.shape[dim + 1 :]))


@kernel
def compare_each(values, indices, self, descending):
    """Each element's place in the order is the number of those before it."""
    outer, size, inner = self.shape
    count, ranks = values.shape[1], np.empty((self.shape[1], RUN), np.int32)
    for o in range(outer):
        for start in range(0, inner, RUN):
            width = min(RUN, inner - start)
            for j in range(size):
                for i in range(width):
                    ranks[j, i] = 0
            for j in range(size):
                for k in range(j + 1, size):
                    for i in range(width):
                        a, b = self[o, j, start + i], self[o, k, start + i]
                        if descending:
                            is_later = (b > a) | ((b != b) & (a == a))
                        else:
                            is_later = (b < a) | ((a != a) & (b == b))
                        ranks[j, i] += np.int32(is_later)
                        ranks[k, i] += np.int32(not is_later)
            for j in range(size):
                for i in range(width):
                    rank = ranks[j, i]
                    if rank < count:
                        values[o, rank, start + i] = self[o, j, start + i]
                        indices[o, rank, start + i] = j


def _sort_last(values: Array, indices: Array, self: Array, descending: bool) -> None:
    if not self.size:
        return
    rows = rows_of(self)
    order = buffer_of(indices)
    sorted_values = buffer_of(values)
    arrays = sorted_values.reshape(rows.shape), order.reshape(rows.shape), rows
    threads.run_rows(_sort_part, arrays, descending)
    settle(values, sorted_values)
    settle(indices, order)


def _sort_part(values: Array, order: Array, rows: Array, descending: bool) -> None:
    sort_rows(order, rows, descending)
    _take_rows(values, rows, order)


def sort_rows(order: Array, rows: Array, descending: bool) -> None:
    """Write the places that sort each row, ties in order. rows, order: contiguous, 2-d."""
    place_bits = max(int(rows.shape[1] - 1).bit_length(), 1)
    if rows.dtype.itemsize <= 4 and place_bits <= 32:
        packed = np.empty(rows.shape, np.uint64)
        packer = _pack_floats if rows.dtype.kind == "f" else _pack_integers
        packer(packed, rows, descending)
        packed.sort(axis=1)
        _unpack(order, packed, np.uint64(0xFFFFFFFF))
        return
    if rows.dtype.kind in "iu" and _spread_bits(rows) + place_bits <= 64:
        packed = np.empty(rows.shape, np.uint64)
        _pack_wide(packed, rows, rows.min(), rows.max(), place_bits, descending)
        packed.sort(axis=1)
        _unpack(order, packed, np.uint64(2**place_bits - 1))
        return
    found = np.argsort(rows, axis=1)
    order[...] = found[:, ::-1] if descending else found
    run_of, begins = np.empty((2, rows.shape[1]), np.int64)
    settle_ties(order, rows, run_of, begins)


def _spread_bits(rows: Array) -> int:
    return (int(rows.max()) - int(rows.min())).bit_length()


@kernel
def _pack_floats(packed, rows, descending):
    """Upper half: a number that orders as the float does; lower half: its place in the row."""
    flip = np.uint64(0xFFFFFFFF) if descending else np.uint64(0)
    for row in range(rows.shape[0]):
        bits = rows[row].view(np.uint32)
        for i in range(rows.shape[1]):
            key = float_key(rows[row, i], bits[i])
            packed[row, i] = ((np.uint64(key) ^ flip) << np.uint64(32)) | np.uint64(i)


@kernel
def _pack_integers(packed, rows, descending):
    """The same for integers of up to 32 bits."""
    flip = np.uint64(0xFFFFFFFF) if descending else np.uint64(0)
    for row in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            key = np.uint64(np.int64(rows[row, i]) + np.int64(2147483648))
            packed[row, i] = ((key ^ flip) << np.uint64(32)) | np.uint64(i)


@kernel
def _pack_wide(packed, rows, least, greatest, place_bits, descending):
    """The same for int64 whose range leaves room for the place."""
    shift = np.uint64(place_bits)
    for row in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            value = rows[row, i]
            key = np.uint64(greatest - value if descending else value - least)
            packed[row, i] = (key << shift) | np.uint64(i)


@kernel
def _unpack(order, packed, mask):
    for row in range(packed.shape[0]):
        for i in range(packed.shape[1]):
            order[row, i] = np.int64(packed[row, i] & mask)


@kernel
def _take_rows(values, rows, order):
    for row in range(order.shape[0]):
        for i in range(order.shape[1]):
            values[row, i] = rows[row, order[row, i]]


def _first_of_rows(
    values: Array, indices: Array, self: Array, k: int, dim: int, largest: bool
) -> None:
    if not values.size:
        return
    rows = rows_along(self, dim)
    k = max(k, 1)
    shape = (rows.shape[0], k)
    row_values, row_indices = np.empty(shape, self.dtype), np.empty(shape, np.int64)
    if k * HEAP_SHARE <= rows.shape[1]:
        arrays = row_values, row_indices, rows
        threads.run_rows(top_of_rows, arrays, largest, work=rows.shape[1] // k)
    else:
        order = np.empty(rows.shape, np.int64)
        sort_rows(order, rows, largest)
        row_indices[...] = order[:, :k]
        _take_rows(row_values, rows, row_indices)
    store_rows(values, row_values, dim)
    store_rows(indices, row_indices, dim)


@or_arrays(sort_plans.plan_order_statistic, results=2)
def order_statistic(
    values: Array,
    indices: Array | None,
    self: Array,
    k: int | None,
    dim: int | None,
    keepdim: bool,
    skips_nan: bool,
) -> None:
    """Write the k-th smallest value (from 1) and its first place; without k the lower median.

    The first NaN is a median, unless they are skipped. Without a dim it is one of all elements:
    NaN, or the least integer, if there are none.
    """
    if not self.size:
        values[...] = np.nan if values.dtype.kind == "f" else np.iinfo(values.dtype).min
        return
    rows = self.reshape(1, -1) if dim is None else rows_along(self, dim)
    if k is None and skips_nan and self.dtype.kind == "f":
        found = _median_of_numbers(rows)
    else:
        place = (rows.shape[1] - 1) // 2 if k is None else k - 1
        are_few = rows.shape[1] <= MOST_COMPARED
        if are_few:
            in_order = np.empty_like(rows)
            _order_few(in_order, np.empty(rows.shape, np.int64), rows, 1, False)
        else:
            in_order = np.partition(rows, place, axis=1)
        found = contiguous(in_order[:, place])
        if k is None and self.dtype.kind == "f":
            greatest = in_order[:, -1] if are_few else rows.max(axis=1)
            found = np.where(np.isnan(greatest), greatest, found)
    if indices is not None:
        _write_found(values, indices, rows, found)
    elif skips_nan:  # of zeros the first
        _write_found(values, np.empty(1, np.int64), rows, found)
    else:
        values[...] = found[0]


def _median_of_numbers(rows: Array) -> Array:
    counts = rows.shape[1] - np.count_nonzero(np.isnan(rows), axis=1)
    ranks = np.maximum(counts - 1, 0) // 2
    return np.take_along_axis(np.sort(rows, axis=1), ranks[:, None], 1)[:, 0]


def _write_found(values: Array, indices: Array, rows: Array, found: Array) -> None:
    places = np.empty(len(rows), np.int64)
    _first_places(found, places, rows)
    values[...] = found.reshape(values.shape)
    indices[...] = places.reshape(indices.shape)


@kernel
def _first_places(found, places, rows):
    """Where each row's value stands first, and what stands there; NaN finds NaN, -0 finds 0."""
    for row in range(rows.shape[0]):
        wanted = found[row]
        for i in range(rows.shape[1]):
            value = rows[row, i]
            if value == wanted or (value != value and wanted != wanted):
                places[row] = i
                found[row] = value
                break


@or_arrays(sort_plans.plan_mode, results=2)
def mode(values: Array, indices: Array, self: Array, dim: int = -1, keepdim: bool = False) -> None:
    """Write the most frequent value, the smallest of several, and its last place."""
    rows = rows_along(self, dim)
    order = np.empty(rows.shape, np.int64)
    if not order.size:
        return
    sort_rows(order, rows, False)
    places = np.empty(len(rows), np.int64)
    _longest_run(places, rows, order)
    values[...] = np.take_along_axis(rows, places[:, None], 1).reshape(values.shape)
    indices[...] = places.reshape(indices.shape)


@kernel
def _longest_run(places, rows, order):
    """The last place of the first longest run of equal values."""
    count = rows.shape[1]
    for row in range(rows.shape[0]):
        best, length = 0, 0
        for i in range(count):
            length += 1
            here = rows[row, order[row, i]]
            if i + 1 == count or here != rows[row, order[row, i + 1]]:
                if length > best:
                    best = length
                    places[row] = order[row, i]
                length = 0
