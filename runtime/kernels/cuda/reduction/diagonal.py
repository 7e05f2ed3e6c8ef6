"""Sums of diagonals."""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, converted, walks_strides
from torchgen_out._runtime.kernels.cuda.scatter.combining import sum_at_places


@walks_strides
def trace(queue: Queue, out: Array, self: Array) -> None:
    """Write the sum of the main diagonal of a matrix, its elements in order."""
    count = min(self.sizes)
    elements = self.at(0, (count,), (sum(self.strides),))
    places = queue.empty((count,), dtypes.int64)
    queue.fill(places, 0)
    queue.fill(out, 0)
    sum_at_places(queue, out.reshaped(1), places, converted(queue, elements, out.dtype))
