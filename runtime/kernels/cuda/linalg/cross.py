"""Products of vectors of three elements."""

from __future__ import annotations

from torchgen_out._runtime.kernels.common.folded import sizes_around
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous


def cross(queue: Queue, out: Array, self: Array, other: Array, dim: int) -> None:
    """Write the vectors orthogonal to both, along a dim of size 3."""
    operands = (out, contiguous(queue, self), contiguous(queue, other))
    run_elements(
        queue, cross_elements, out.numel, *operands, out.numel, sizes_around(out.sizes, dim).inner
    )


@device_kernel("X* X* X*", "I I")
def cross_elements(out, a, b, n, inner):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        row = divided(i, inner)
        o = divided(row, 3)
        k = I(row - o * 3)
        base = I(i - k * inner)
        after = I(base + (I(0) if k == 2 else I(k + 1)) * inner)
        before = I(base + (I(2) if k == 0 else I(k - 1)) * inner)
        first = T(load_X(a[after]) * load_X(b[before]))
        second = T(load_X(a[before]) * load_X(b[after]))
        out[i] = store_X(T(first - second))
        i = I(i + cuda.gridsize(1))
