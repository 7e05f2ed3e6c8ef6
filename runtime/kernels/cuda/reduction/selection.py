"""Counting, and the smallest and the greatest element that it needs beforehand."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, converted
from torchgen_out._runtime.kernels.cuda.rows import (
    BLOCKS_WANTED,
    LEAST_PER_SLICE,
    WARP,
    first_row,
    greatest,
    lane_of_row,
    row_step,
    run_rows,
)
from torchgen_out._runtime.kernels.cuda.scatter.combining import smaller, sum_at_places


def bincount(queue: Queue, self: Array, weights: Array | None = None, minlength: int = 0) -> Array:
    """Return the number of occurrences of each integer, or the sums of their weights."""
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    low, high = bounds(queue, self) if self.numel else (0, -1)
    if self.ndim != 1 or low < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and weights.sizes != self.sizes:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    size = max(high + 1, minlength)
    if weights is None:
        counts = queue.result((size,), dtypes.int64)
        queue.fill(counts, 0)
        run_elements(queue, count_numbers, self.numel, counts, self, self.numel)
        return counts
    dtype = dtypes.float32 if weights.dtype is dtypes.float32 else dtypes.float64
    sums = queue.result((size,), dtype)
    queue.fill(sums, 0)
    places = converted(queue, self, dtypes.int64)
    sum_at_places(queue, sums, places, converted(queue, weights, dtype))
    return sums


@device_kernel("int64* X*", "I")
def count_numbers(counts, x, n):
    """A thread owns elements at the distance of the grid, and adds one at the place of each."""
    i = I(cuda.grid(1))
    while i < n:
        atomic_add(counts, np.int64(x[i]), np.int64(1))
        i = I(i + cuda.gridsize(1))


def bounds(queue: Queue, self: Array) -> tuple[Any, Any]:
    """The smallest and the greatest element, both NaN if one is; waited for."""
    count = self.numel
    wanted = max(1, min(count // LEAST_PER_SLICE, queue.processors * BLOCKS_WANTED))
    chunk = -(-count // wanted)
    pieces = -(-count // chunk)
    ends = queue.empty((2, pieces), self.dtype.opmath)
    run_rows(queue, find_ends, pieces, WARP, self, ends, pieces, count, chunk)
    found = queue.read(ends)
    unordered = [each for each in found if each != each]
    return (unordered or [min(found)])[0], (unordered or [max(found)])[0]


@device_kernel("X* T*", "I I I")
def find_ends(x, ends, pieces, count, chunk):
    """A warp owns a slice: lane t looks at elements t, t + 32 ... of it."""
    lane = lane_of_row()
    piece = first_row()
    while piece < pieces:
        begin = I(piece * chunk)
        stop = I(min(begin + chunk, count))
        low = load_X(x[begin])
        high = low
        j = I(begin + lane)
        while j < stop:
            value = load_X(x[j])
            low, high = smaller(low, value), greatest(high, value)
            j = I(j + GROUP)
        for bits in (16, 8, 4, 2, 1):
            low = smaller(low, shuffled_across(low, bits))
            high = greatest(high, shuffled_across(high, bits))
        if lane == 0:
            ends[piece], ends[I(pieces + piece)] = low, high
        piece = I(piece + row_step())
