"""Distinct values, distinct slices, and runs of equal neighbours. Every NaN is distinct."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.indexing import listing_plans
from torchgen_out._runtime.kernels.cpu.planned import or_arrays
from torchgen_out._runtime.kernels.cpu.sort.sort import sort_rows
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any
FIRST_COMPARED = 2  # elements of rows by which all of them are ordered
FEW_VALUES = 1 << 20
"""Integers in a range of so many, and no more than there are elements, are counted, not sorted."""
LOOKING_UP = 2
"""Work of an element that is found in a table, in moves of an element."""
Three = tuple[Array, Array, Array]


def plan_distinct(
    self: TensorSpec,
    dim: int | None,
    sorted: bool,
    neighbours: bool,
    return_inverse: bool,
    return_counts: bool,
) -> LaunchPlan | None:
    """Plan the distinct values of all elements."""
    if neighbours:
        plan = listing_plans.plan_unique_consecutive
        return plan(self, return_inverse, return_counts, dim)
    if dim is not None:
        return None
    return listing_plans.plan_unique(self, sorted, return_inverse, return_counts)


@or_arrays(plan_distinct, results=0)
def distinct(
    self: Array,
    dim: int | None,
    sorted: bool,
    neighbours: bool,
    return_inverse: bool,
    return_counts: bool,
) -> Three:
    """Return the distinct values, or slices along `dim`; which of them each is; how many are equal.

    neighbours: equal ones that stand apart are two; else all are sorted. What is not asked for has
    no elements.
    """
    if dim is None:
        count, rows, sizes = self.size, self.reshape(-1), self.shape
    else:
        count, rows = _slices(self, dim)
        sizes = (count,)
    if dim is None and not neighbours and rows.dtype.kind in "biu":
        found = _by_counting(rows, sizes, return_inverse, return_counts)
        if found is not None:
            return found
    order = None
    if not neighbours and (dim is not None or return_inverse):
        order = _places_in_order(rows)
    elif not neighbours:
        rows = np.sort(rows)
    ordered = rows if order is None else rows[order]
    starts = _run_starts(ordered)
    firsts = np.flatnonzero(starts)
    none = np.empty(0, np.int64)
    inverse = np.empty(sizes, np.int64) if return_inverse else none
    if return_inverse:
        inverse.reshape(-1)[slice(None) if order is None else order] = np.cumsum(starts) - 1
    counts = np.diff(np.append(firsts, count)) if return_counts else none
    if dim is None:
        return ordered[firsts], inverse, counts
    found = firsts if order is None else order[firsts]
    return self.take(found, axis=dim), inverse, counts


def _by_counting(
    rows: Array, sizes: tuple[int, ...], return_inverse: bool, return_counts: bool
) -> Three | None:
    """The same for integers from a range that is narrow: each is counted; None for others."""
    if not rows.size:
        return None
    dtype = rows.dtype
    rows = rows.view(np.uint8) if dtype.kind == "b" else rows
    least, greatest = int(rows.min()), int(rows.max())
    span = greatest - least + 1
    if span > min(FEW_VALUES, rows.size) or greatest >= 2**63:
        return None
    counts = np.zeros(span, np.int64)
    _count(counts, rows, least)
    firsts = np.flatnonzero(counts)
    inverse = none = np.empty(0, np.int64)
    if return_inverse:
        ranks = np.cumsum(counts > 0) - 1
        inverse = np.empty(rows.size, np.int64)
        threads.run_ranges(_look_up, rows.size, LOOKING_UP * rows.size, inverse, rows, ranks, least)
    values = (firsts + least).astype(rows.dtype).view(dtype)
    inverse = inverse.reshape(sizes if return_inverse else 0)
    return values, inverse, counts[firsts] if return_counts else none


@kernel
def _count(counts, rows, least):
    for i in range(rows.size):
        counts[np.int64(rows[i]) - least] += 1


@kernel
def _look_up(start, stop, found, rows, table, least):
    for i in range(start, stop):
        found[i] = table[np.int64(rows[i]) - least]


def _places_in_order(rows: Array) -> Array:
    """The places of elements in ascending order; of rows, whose first elements count first."""
    if not rows.size:
        return np.arange(len(rows))
    if rows.ndim > 1:
        return rows_in_order(rows)
    order = np.empty((1, rows.size), np.int64)
    sort_rows(order, rows.reshape(1, -1), False)
    return order[0]


def rows_in_order(rows: Array) -> Array:
    """The places of rows in ascending order, equal ones in theirs.

    The first elements mostly tell rows apart: only those they leave equal are ordered by more.
    """
    order, tied = np.arange(len(rows)), np.arange(len(rows))
    run, start, width = np.zeros(len(rows), np.int64), 0, FIRST_COMPARED
    while tied.size and start < rows.shape[1]:
        heads = rows[order[tied], start : start + width]
        found = np.lexsort((*heads.T[::-1], run))
        order[tied], heads, run = order[tied[found]], heads[found], run[found]
        is_nan = heads != heads
        differs = (heads[1:] != heads[:-1]) & ~(is_nan[1:] & is_nan[:-1])
        begins = np.ones(len(heads) + 1, np.bool_)
        begins[1:-1] = differs.any(axis=1) | (run[1:] != run[:-1])
        is_tied = ~(begins[1:] & begins[:-1])
        run = np.cumsum(begins[:-1])[is_tied]
        tied, start, width = tied[is_tied], start + width, 4 * width
    return order


def _slices(self: Array, dim: int) -> tuple[int, Array]:
    """The slices along `dim` as rows.

    Raises: IndexError for dim, RuntimeError where another dim has size 0.
    """
    dim = _checked_dim(self, dim)
    count = self.shape[dim]
    if not self.size:
        zeros = sum(size == 0 for size in self.shape)
        if count or zeros > 1:
            raise RuntimeError(
                "There are 0 sized dimensions, and they aren't selected, so unique cannot be "
                "applied"
            )
    return count, np.moveaxis(self, dim, 0).reshape(count, -1 if self.size else 0)


def _checked_dim(self: Array, dim: int) -> int:
    if not self.ndim:
        raise errors.dim_of_scalar(dim)
    if not -self.ndim <= dim < self.ndim:
        raise errors.dim_out_of_range(dim, self.ndim)
    return dim % self.ndim


def _run_starts(rows: Array) -> Array:
    """Whether each row (or element) differs from the one before it."""
    starts = np.ones(len(rows), np.bool_)
    if len(rows) > 1:
        differs = rows[1:] != rows[:-1]
        starts[1:] = differs if rows.ndim == 1 else differs.any(axis=1)
    return starts
