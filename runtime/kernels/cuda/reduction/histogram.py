"""Histograms: bins of one width, and bins between any edges, in one dim or several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous
from torchgen_out._runtime.kernels.cuda.reduction.selection import bounds
from torchgen_out._runtime.kernels.cuda.scatter.combining import sum_at_places


def histc(
    queue: Queue, out: Array, self: Array, bins: int = 100, min: Any = 0, max: Any = 0
) -> None:
    """Count the elements of each of `bins` equal intervals; the last one is closed."""
    low, high = float(min), float(max)
    if low == high and self.numel:
        low, high = (float(each) for each in bounds(queue, self))
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    counts = queue.empty((bins,), dtypes.int64)
    queue.fill(counts, 0)
    numbers = (self.numel, bins, low, high, bins / (high - low))
    run_elements(queue, count_intervals, self.numel, counts, self, *numbers)
    queue.copy(out, counts)


@device_kernel("int64* X*", "I int64 float64 float64 float64")
def count_intervals(counts, x, n, bins, low, high, scale):
    """A thread owns elements at the distance of the grid, and adds one in the bin of each.

    Bins are found in double precision, so that each element falls where it does on the CPU.
    """
    i = I(cuda.grid(1))
    while i < n:
        value = np.float64(load_X(x[i]))
        if value >= low and value <= high:
            place = np.int64((value - low) * scale)
            atomic_add(counts, min(place, np.int64(bins - 1)), np.int64(1))
        i = I(i + cuda.gridsize(1))


def bin_sums(
    queue: Queue,
    out: Array,
    points: Array,
    edges: Array,
    bins: Sequence[int],
    weights: Array | None,
) -> None:
    """Write the number of points in each bin, or the sum of their weights.

    Shape: points (N, D), edges those of every coordinate in turn, bins + 1 of each, weights (N).
    """
    points, edges = contiguous(queue, points), contiguous(queue, edges)
    count, width = points.sizes
    places, first = queue.empty((count,), dtypes.int64), 0
    queue.fill(places, 0)
    for dim, size in enumerate(bins):
        numbers = (count, width, dim, first, size)
        run_elements(queue, find_bins, count, places, points, edges, *numbers)
        first += size + 1
    if weights is None:
        weights = queue.empty((count,), out.dtype)
        queue.fill(weights, 1)
    queue.fill(out, 0)
    sum_at_places(queue, out.reshaped(out.numel), places, contiguous(queue, weights))


@device_kernel("int64* X* X*", "I I I I I")
def find_bins(places, points, edges, n, width, dim, first, size):
    """A thread owns points at the distance of the grid: places[i] * size + the bin along a dim.

    A bin has its left edge, the last one both; -1, once and for all, for what is outside of them.
    """
    i = I(cuda.grid(1))
    while i < n:
        value = load_X(points[i * width + dim])
        is_inside = value >= load_X(edges[first]) and value <= load_X(edges[first + size])
        base, left = I(first), I(size)
        while left > I(1):
            half = I(left // I(2))
            base = I(base + half) if load_X(edges[base + half]) <= value else base
            left = I(left - half)
        place = places[i] * np.int64(size) + np.int64(base - first)
        places[i] = place if is_inside and places[i] >= 0 else np.int64(-1)
        i = I(i + cuda.gridsize(1))
