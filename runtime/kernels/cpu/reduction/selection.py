"""Reductions that pick an element (the first of the greatest, NaN above all), and counting."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.core import shape
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.folding import (
    buffer_of,
    fold,
    folded_shape,
    is_last,
    rows_of,
    settle,
)
from torchgen_out._runtime.kernels.cpu.indexing import listing_plans
from torchgen_out._runtime.kernels.cpu.loop_plans import leading_operands, operand, out, plan_loop
from torchgen_out._runtime.kernels.cpu.planned import Planner, planned
from torchgen_out._runtime.kernels.cpu.small import DTYPES, is_small
from torchgen_out._runtime.kernels.plan import LaunchPlan

Array = Any


LONGEST = 256
"""Elements of a row that a plan compares one by one; NumPy's search is faster beyond."""
SEARCHED = 48
"""From how many elements on a row of a large array is searched by NumPy."""
SIDE_BY_SIDE, SHORTEST = 8, 16
"""How many rows go together, and from how many elements on that is faster."""


def plan_best(is_greatest: bool) -> Planner:
    """The planner of what picks an element along a dim, or of all: its place, or both."""

    def plan(*args: Any) -> LaunchPlan | None:
        count = leading_operands(args)
        *outs, self = args[:count]
        dim, sizes = args[count], self.sizes
        if not is_small(outs[0], self) or self.dtype not in DTYPES:
            return None
        shape = (1, prod(sizes), 1) if dim is None else folded_shape(sizes, dim)
        if shape[2] == 1 and shape[1] > LONGEST:
            return None
        results = [out(i, shape[0], shape[2]) for i in range(len(outs))]
        loop = best_places if len(outs) == 1 else best_values
        return plan_loop(loop, outs, [self], *results, operand(0, *shape), is_greatest)

    return plan


@kernel
def best_values(values, indices, self, is_greatest):
    """The greatest or smallest of the middle dim of folded arrays, and its first place."""
    if self.shape[2] > 1:
        best_columns(values, indices, self, is_greatest)
    else:
        best_places(indices, self, is_greatest)
        for o in range(self.shape[0]):
            values[o, 0] = self[o, indices[o, 0], 0]


@kernel
def best_columns(values, indices, self, is_greatest):
    """Walk row by row and keep the best of every column: the inner loops vectorise. NaN wins."""
    for o in range(self.shape[0]):
        best, places = values[o], indices[o]
        best[:] = self[o, 0]
        places[:] = 0
        for j in range(1, self.shape[1]):
            row = self[o, j]
            for i in range(row.size):
                value = row[i]
                better = value > best[i] if is_greatest else value < best[i]
                better |= (value != value) & (best[i] == best[i])
                best[i] = value if better else best[i]
                places[i] = j if better else places[i]


@kernel
def best_places(indices, self, is_greatest):
    """Where it stands first."""
    if self.shape[2] > 1:
        best_columns(np.empty(indices.shape, self.dtype), indices, self, is_greatest)
        return
    whole = self.shape[0] // SIDE_BY_SIDE * SIDE_BY_SIDE if self.shape[1] >= SHORTEST else 0
    if whole:
        best_side_by_side(indices, self, whole, is_greatest)
    for o in range(whole, self.shape[0]):
        best, place = self[o, 0, 0], 0
        for j in range(1, self.shape[1]):
            value = self[o, j, 0]
            better = value > best if is_greatest else value < best
            better |= (value != value) & (best == best)
            best, place = (value, j) if better else (best, place)
        indices[o, 0] = place


@kernel
def best_side_by_side(indices, self, count, is_greatest):
    """Of so many rows, a few at a time: in a row each comparison waits for the one before it."""
    best, places = np.empty(SIDE_BY_SIDE, self.dtype), np.empty(SIDE_BY_SIDE, np.int64)
    for o in range(0, count, SIDE_BY_SIDE):
        for i in range(SIDE_BY_SIDE):
            best[i], places[i] = self[o + i, 0, 0], 0
        for j in range(1, self.shape[1]):
            for i in range(SIDE_BY_SIDE):
                value = self[np.uint64(o + i), np.uint64(j), 0]
                better = value > best[i] if is_greatest else value < best[i]
                better |= (value != value) & (best[i] == best[i])
                best[i] = value if better else best[i]
                places[i] = j if better else places[i]
        for i in range(SIDE_BY_SIDE):
            indices[o + i, 0] = places[i]


@planned(plan_best(is_greatest=True))
def argmax(out: Array, self: Array, dim: int | None = None, keepdim: bool = False) -> None:
    """Write the first place of the greatest element."""
    _arg(out, self, dim, np.argmax, True)


@planned(plan_best(is_greatest=False))
def argmin(out: Array, self: Array, dim: int | None = None, keepdim: bool = False) -> None:
    """Write the first place of the smallest element; NaN wins here too."""
    _arg(out, self, dim, np.argmin, False)


def _arg(out: Array, self: Array, dim: int | None, search: Any, is_greatest: bool) -> None:
    if dim is None or self.ndim == 0:
        out[...] = search(self)
    elif is_last(self, dim):
        out[...] = _places_in_rows(rows_of(self), search, is_greatest).reshape(out.shape)
    else:
        values = np.empty(out.shape, self.dtype)
        _select_columns(values, out, self, dim, is_greatest)


def _places_in_rows(rows: Array, search: Any, is_greatest: bool) -> Array:
    """The first place of the greatest or smallest of each row."""
    if rows.shape[1] >= SEARCHED or rows.dtype not in DTYPES:
        return search(rows, axis=1)
    places = np.empty(len(rows), np.int64)
    arrays = places.reshape(-1, 1), rows[:, :, None]
    threads.run_items(best_places, arrays, len(rows), is_greatest, work=rows.size)
    return places


@planned(plan_best(is_greatest=True))
def max_dim(values: Array, indices: Array, self: Array, dim: int, keepdim: bool = False) -> None:
    """Write the greatest value along `dim` and its first place."""
    _value_and_index(values, indices, self, dim, np.argmax, True)


@planned(plan_best(is_greatest=False))
def min_dim(values: Array, indices: Array, self: Array, dim: int, keepdim: bool = False) -> None:
    """Write the smallest value along `dim` and its first place."""
    _value_and_index(values, indices, self, dim, np.argmin, False)


def _value_and_index(
    values: Array, indices: Array, self: Array, dim: int, search: Any, is_greatest: bool
) -> None:
    if not values.size:
        return
    if self.ndim == 0:
        values[...], indices[...] = self, 0
    elif is_last(self, dim):
        rows = rows_of(self)
        places = _places_in_rows(rows, search, is_greatest)
        found = np.empty(places.size, self.dtype)
        _pick(found, rows, places)
        indices[...] = places.reshape(indices.shape)
        values[...] = found.reshape(values.shape)
    else:
        _select_columns(values, indices, self, dim, is_greatest)


@kernel
def _pick(values, rows, places):
    for row in range(places.size):
        values[row] = rows[row, places[row]]


def _select_columns(
    values: Array, indices: Array, self: Array, dim: int, is_greatest: bool
) -> None:
    if not values.size:
        return
    folded = fold(self, dim)
    shape = folded.shape[0], folded.shape[2]
    value_buffer, index_buffer = buffer_of(values), buffer_of(indices)
    arrays = value_buffer.reshape(shape), index_buffer.reshape(shape), folded
    threads.run_items(best_columns, arrays, shape[0], is_greatest, work=folded.size)
    settle(values, value_buffer)
    settle(indices, index_buffer)


@planned(listing_plans.plan_bincount)
def bincount(self: Array, weights: Array | None = None, minlength: int = 0) -> Array:
    """Return the number of occurrences of each integer, or the sums of their weights."""
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if self.ndim != 1 or (self.size and self.min() < 0):
        raise listing_plans.not_countable()
    if weights is not None and weights.shape != self.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if not self.size:
        shape.check_storable((minlength,))
        return np.zeros(minlength, np.int64)
    shape.check_storable((max(int(self.max()) + 1, minlength),))
    counts = np.bincount(self.astype(np.int64, copy=False), weights, minlength)
    if weights is None:
        return counts.astype(np.int64, copy=False)
    return counts.astype(np.float32 if weights.dtype == np.float32 else np.float64, copy=False)


def histc(out: Array, self: Array, bins: int = 100, min: Any = 0, max: Any = 0) -> None:
    """Count the elements of each of `bins` equal intervals; the last one is closed."""
    low, high = float(min), float(max)
    if low == high and self.size:
        low, high = float(self.min()), float(self.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    counts = np.zeros(bins, np.int64)
    _count_bins(counts, np.ascontiguousarray(self).reshape(-1), low, high)
    out[...] = counts


@kernel
def _count_bins(counts, values, low, high):
    scale = counts.size / (high - low)
    for i in range(values.size):
        value = values[i]
        if value >= low and value <= high:
            place = np.int64((value - low) * scale)
            counts[min(place, counts.size - 1)] += 1
