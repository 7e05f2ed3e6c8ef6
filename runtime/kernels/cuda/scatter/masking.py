"""Writing under a mask."""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.indexing.compaction import counted, total_of
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous
from torchgen_out._runtime.kernels.cuda.scatter.scatter import start_from


def masked_scatter(queue: Queue, out: Array, self: Array, mask: Array, source: Array) -> None:
    """Write the elements of `source` in order to the places where `mask` is true."""
    start_from(queue, out, self.expanded(out.sizes))
    sums = counted(queue, contiguous(queue, mask.expanded(out.sizes)))
    if total_of(queue, sums) > source.numel:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    operands = (out.moved(), source.moved(), sums)
    run_elements(queue, scatter_masked, out.numel, *operands, out.numel)


@device_kernel("X* X* int64*", "I")
def scatter_masked(out, source, sums, n):
    """A thread owns elements at the distance of the grid; where the sum steps up, one is wanted."""
    i = I(cuda.grid(1))
    while i < n:
        before = sums[I(i - 1)] if i > 0 else np.int64(0)
        if sums[i] != before:
            out[i] = source[before]
        i = I(i + cuda.gridsize(1))
