"""Histograms of bins of one width."""

from __future__ import annotations

import math
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.programs import run_program
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue


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


def bounds(queue: Queue, self: Array) -> list[Any]:
    """The smallest and the greatest element, both NaN if one is; waited for."""
    ends = queue.empty((2,), self.dtype.opmath)
    each = (ends.at(i, (), ()) for i in range(2))
    run_program(queue, "_ends", *each, self.reshaped(self.numel))
    return queue.read(ends)


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
