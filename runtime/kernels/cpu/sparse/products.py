"""Products over the entries of sparse matrices, row by row.

Threads share rows by the number of their entries; one row is one thread's, so that sums do not
depend on how many there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.planned import contiguous
from torchgen_out._runtime.kernels.typed import typed, typed_sum

Array = Any
SHARES = 64
"""Shares of about equally many entries, which threads take: several for each."""
ROW_COST = 4
"""What a row costs beside its entries, in entries."""
NO_ORDER = np.empty(0, np.int64)


def spmm(
    out: Array, offsets: Array, others: Array, values: Array, mat: Array, order: Array | None
) -> None:
    """out[row] = the sum of values[e] * mat[others[e]] over a row's entries, in their order.

    The entries of a row are those from offsets[row] to offsets[row + 1]; order: where the value of
    each lies, if not there.
    """
    rows, width = out.shape
    if not out.size:
        return
    places = NO_ORDER if order is None else order
    arrays = [contiguous(each) for each in (offsets, others, places, values, mat)]
    target = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
    work = (others.size + rows) * (width + 2)
    if width == 1:
        flat = target.reshape(-1), *arrays[:4], arrays[4].reshape(-1)
        run_shares(fold_narrow.of(out.dtype), offsets, work, *flat)
    else:
        run_shares(fold_wide.of(out.dtype), offsets, work, target, *arrays)
    if target is not out:
        out[...] = target


def run_shares(loop: Any, offsets: Array, work: int, *arrays: Array) -> None:
    """loop(first, last, *arrays, bounds) over shares of rows, several for each thread."""
    if work < 2 * threads.GRAIN:
        loop(0, 1, *arrays, np.array([0, offsets.size - 1]))
        return
    bounds = shares_of(offsets)
    threads.run_ranges(loop, bounds.size - 1, work, *arrays, bounds)


def shares_of(offsets: Array) -> Array:
    """The rows at which shares of about equal work begin, and the end."""
    rows = offsets.size - 1
    costs = offsets + ROW_COST * np.arange(rows + 1)
    steps = np.linspace(costs[0], costs[-1], min(SHARES, rows) + 1)
    bounds = np.searchsorted(costs, steps)
    bounds[0], bounds[-1] = 0, rows
    return bounds


@typed
def fold_wide(first, last, out, offsets, others, order, values, mat, bounds):
    """Rows of several columns; four entries at a time are added to what is stored.

    Rows are not taken out of arrays, as that counts references.
    """
    width, has_order = np.uint64(mat.shape[1]), order.size > 0
    for row in range(bounds[first], bounds[last]):
        r, k, stop = np.uint64(row), offsets[row], offsets[row + 1]
        for i in range(width):
            out[r, i] = T(0)
        while k + 4 <= stop:
            p, q = np.uint64(others[k]), np.uint64(others[k + 1])
            s, t = np.uint64(others[k + 2]), np.uint64(others[k + 3])
            if has_order:
                a, b = values[order[k]], values[order[k + 1]]
                c, d = values[order[k + 2]], values[order[k + 3]]
            else:
                a, b, c, d = values[k], values[k + 1], values[k + 2], values[k + 3]
            for i in range(width):
                total = out[r, i] + a * mat[p, i] + b * mat[q, i]
                out[r, i] = total + c * mat[s, i] + d * mat[t, i]
            k += 4
        while k < stop:
            p = np.uint64(others[k])
            a = values[order[k]] if has_order else values[k]
            for i in range(width):
                out[r, i] += a * mat[p, i]
            k += 1


@typed
def fold_narrow(first, last, out, offsets, others, order, values, mat, bounds):
    """Rows of one column."""
    if order.size > 0:
        for row in range(bounds[first], bounds[last]):
            total = T(0)
            for k in range(np.uint64(offsets[row]), np.uint64(offsets[row + 1])):
                total += values[np.uint64(order[k])] * mat[np.uint64(others[k])]
            out[row] = total
        return
    for row in range(bounds[first], bounds[last]):
        total = T(0)
        for k in range(np.uint64(offsets[row]), np.uint64(offsets[row + 1])):
            total += values[k] * mat[np.uint64(others[k])]
        out[row] = total


def spmm_extreme(
    out: Array,
    chosen: Array,
    offsets: Array,
    others: Array,
    values: Array,
    mat: Array,
    is_max: bool,
    order: Array | None,
) -> None:
    """As `spmm` with the greatest or the least product in place of their sum, and its entry.

    Rows without entries are zero; their entry is -1. NaN wins, the first of several.
    """
    if not out.size:
        return
    places = NO_ORDER if order is None else order
    arrays = [contiguous(each) for each in (offsets, others, places, values, mat)]
    work = (others.size + out.shape[0]) * (out.shape[1] + 2) * 2
    run_shares(keep_extremes.of(out.dtype), offsets, work, out, chosen, *arrays, is_max)


@typed
def keep_extremes(first, last, out, chosen, offsets, others, order, values, mat, is_max, bounds):
    """Each column's extreme product, and where it comes from; without branches, so that columns
    vectorise."""
    width, has_order, sign = np.uint64(mat.shape[1]), order.size > 0, T(1) if is_max else T(-1)
    for row in range(bounds[first], bounds[last]):
        r, begin, stop = np.uint64(row), np.uint64(offsets[row]), np.uint64(offsets[row + 1])
        for i in range(width):
            out[r, i], chosen[r, i] = T(0), -1
        for k in range(begin, stop):
            e, p = order[k] if has_order else np.int64(k), np.uint64(others[k])
            value, is_first = values[np.uint64(e)], k == begin
            for i in range(width):
                product, old, before = value * mat[p, i], out[r, i], chosen[r, i]
                is_beyond = (sign * product > sign * old) | ((product != product) & (old == old))
                is_new = is_beyond | is_first
                out[r, i] = product if is_new else old
                chosen[r, i] = e if is_new else before


def sampled_products(out: Array, rows: Array, columns: Array, left: Array, right: Array) -> None:
    """out[e] = the sum of left[rows[e], i] * right[columns[e], i] over i."""
    arrays = map(contiguous, (rows, columns, left, right))
    loop = inner_products.of(out.dtype)
    threads.run_ranges(loop, out.size, out.size * (left.shape[1] + 4), out, *arrays)


@typed_sum
def inner_products(first, last, out, rows, columns, left, right):
    """Entries one by one; a product's sum is reordered, so that it vectorises."""
    width = np.uint64(left.shape[1])
    for e in range(first, last):
        r, c = np.uint64(rows[e]), np.uint64(columns[e])
        total = T(0)
        for i in range(width):
            total += left[r, i] * right[c, i]
        out[e] = total
