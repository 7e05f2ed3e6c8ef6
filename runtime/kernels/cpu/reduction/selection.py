"""Reductions that pick an element (the first of the greatest, NaN above all), and counting."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.common.folded import sizes_around
from torchgen_out._runtime.kernels.cpu.indexing import listing_plans
from torchgen_out._runtime.kernels.cpu.loop_plans import (
    NOTHING,
    operand,
    out,
    plan_call,
    plan_ranges,
)
from torchgen_out._runtime.kernels.cpu.planned import PlannedKernel
from torchgen_out._runtime.kernels.cpu.small import DTYPES, SMALL
from torchgen_out._runtime.kernels.plan import LaunchPlan

Array = Any


LONGEST, SEARCHED = 256, 48
"""Elements of a row beyond which NumPy's search is faster, and so many that begin a long row in a
large array."""
SIDE_BY_SIDE, SHORTEST = 8, 16
"""How many rows go together, and from how many elements on that is faster."""


def _best(is_greatest: bool, results: int) -> PlannedKernel:
    """The kernel of what picks an element along a dim, or of all: its place, or value and place."""

    def plan(*args: Any) -> LaunchPlan:
        """Write the greatest or the smallest element along `dim`, or its first place; NaN wins."""
        outs, (self, dim, *_) = args[:results], args[results:]
        if not outs[0].numel:
            return NOTHING
        shape = (1, self.numel, 1) if dim is None else sizes_around(self.sizes, dim)
        outer, size, inner = shape
        longest = LONGEST if self.numel <= SMALL else SEARCHED - 1
        if inner == 1 and (size > longest or self.dtype not in DTYPES):
            views = *(out(i, outer) for i in range(results)), operand(0, outer, size)
            return plan_call(search_rows, outs, [self], is_greatest, *views)
        views = *(out(i, outer, inner) for i in range(results)), operand(0, *shape)
        loop = best_places if results == 1 else best_values
        return plan_ranges(loop, outer, self.numel, outs, [self], *views, is_greatest)

    return PlannedKernel(plan, results)


def search_rows(is_greatest: bool, *arrays: Array) -> None:
    """Search long rows by NumPy."""
    *values, places, rows = arrays
    (np.argmax if is_greatest else np.argmin)(rows, axis=1, out=places)
    for each in values:
        each[...] = rows[np.arange(len(rows)), places]


argmax = _best(True, 1)
argmin = _best(False, 1)
max_dim = _best(True, 2)
min_dim = _best(False, 2)


@kernel
def best_values(start, stop, values, indices, self, is_greatest):
    """The greatest or smallest of the middle dim of folded arrays, and its first place.

    start, stop: of the outer dim.
    """
    values, indices, self = values[start:stop], indices[start:stop], self[start:stop]
    if self.shape[2] > 1:
        best_columns(values, indices, self, is_greatest)
    else:
        best_places(0, len(indices), indices, self, is_greatest)
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
def best_places(start, stop, indices, self, is_greatest):
    """Where it stands first."""
    indices, self = indices[start:stop], self[start:stop]
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


bincount = PlannedKernel(listing_plans.plan_bincount, results=0)
