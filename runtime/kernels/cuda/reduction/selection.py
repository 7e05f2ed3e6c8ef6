"""Counting, and the ends of what is counted."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.programs import run_program
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, converted
from torchgen_out._runtime.kernels.cuda.scatter.combining import sum_at_places


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


def bounds(queue: Queue, self: Array) -> list[Any]:
    """The smallest and the greatest element, both NaN if one is; waited for."""
    ends = queue.empty((2,), self.dtype.opmath)
    each = (ends.at(i, (), ()) for i in range(2))
    run_program(queue, "_ends", *each, self.reshaped(self.numel))
    return queue.read(ends)
