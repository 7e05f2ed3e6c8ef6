"""Distinct values, distinct slices, and runs of equal neighbours. Every NaN is distinct."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels.cpu.indexing import listing_plans
from torchgen_out._runtime.kernels.cpu.planned import or_arrays
from torchgen_out._runtime.kernels.cpu.sort.sort import sort_rows

Array = Any
Three = tuple[Array, Array, Array]


@or_arrays(listing_plans.plan_unique, results=0)
def unique2(
    self: Array, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> Three:
    """Return the distinct values in order, the inverse map and the counts (or empty arrays)."""
    flat = np.ascontiguousarray(self).reshape(1, -1)
    inverse = np.empty(self.shape if return_inverse else 0, np.int64)
    if return_inverse:
        order = np.empty(flat.shape, np.int64)
        if flat.size:
            sort_rows(order, flat, False)
        ordered = flat[0][order[0]]
    else:
        ordered = np.sort(flat[0])
    starts = _run_starts(ordered)
    if return_inverse:
        inverse.reshape(-1)[order[0]] = np.cumsum(starts) - 1
    firsts = np.flatnonzero(starts)
    none = np.empty(0, np.int64)
    counts = np.diff(np.append(firsts, flat.size)) if return_counts else none
    return ordered[firsts], inverse, counts


def unique_dim(
    self: Array,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> Three:
    """Return the distinct slices along `dim` in lexicographic order, inverse map and counts."""
    count, rows = _slices(self, dim)
    order = np.lexsort(rows.T[::-1]) if rows.shape[1] and count else np.arange(count)
    starts = _run_starts(rows[order])
    firsts = order[starts]
    inverse = np.empty(count, np.int64)
    inverse[order] = np.cumsum(starts) - 1
    lengths = np.diff(np.append(np.flatnonzero(starts), count))
    return self.take(firsts, axis=dim), inverse, lengths


@or_arrays(listing_plans.plan_unique_consecutive, results=0)
def unique_consecutive(
    self: Array, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Three:
    """Return the first of each run of equal neighbours, the run of each element, the lengths."""
    if dim is None:
        count, rows, shape = self.size, self.reshape(-1), self.shape
    else:
        count, rows = _slices(self, dim)
        shape = (count,)
    starts = _run_starts(rows)
    firsts = np.flatnonzero(starts)
    values = self.reshape(-1)[firsts] if dim is None else self.take(firsts, axis=dim)
    inverse = (np.cumsum(starts) - 1).reshape(shape)
    return values, inverse, np.diff(np.append(firsts, count))


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
