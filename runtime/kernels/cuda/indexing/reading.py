"""Reading slices at places, and elements under a mask; and where elements are not zero.

Nothing waits for a place to be looked at: what one outside names is read as zero, and noted
(`faults`).
"""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.indexing.compaction import positions
from torchgen_out._runtime.kernels.cuda.programs import run_program
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous


def read_slices(queue: Queue, out: Array, x: Array, places: Array, folded: Folded) -> None:
    """out[o, j, i] = x[o, places[j], i]; x as `folded` says, all contiguous; zero if outside."""
    source = x.moved().reshaped(*folded)
    target = out.moved().reshaped(folded.outer, places.numel, folded.inner)
    run_program(queue, "index_select", target, source, 1, places.reshaped(places.numel))


def masked_select(queue: Queue, self: Array, mask: Array) -> Array:
    """Return the elements where `mask` is true, in row-major order."""
    if mask.dtype is not dtypes.bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    sizes = shapes.broadcast_shapes(mask.sizes, self.sizes)
    found = positions(queue, contiguous(queue, mask.expanded(sizes)))
    out = queue.result(found.sizes, self.dtype)
    if out.numel:
        x = contiguous(queue, self.expanded(sizes))
        read_slices(queue, out, x, found, Folded(1, x.numel, 1))
    return out


def nonzero(queue: Queue, self: Array) -> Array:
    """Return the places of the elements that are not zero, one row each."""
    found = positions(queue, self)
    out = queue.result((found.numel, self.ndim), dtypes.int64)
    for dim, size in enumerate(self.sizes if out.numel else ()):
        column = out.at(dim, (found.numel,), (self.ndim,))
        numbers = (found.numel, self.ndim, self.strides[dim], size)
        run_elements(queue, write_coordinate, found.numel, column, found, *numbers)
    return out


@device_kernel("int64* int64*", "I I I I")
def write_coordinate(out, found, n, distance, step, size):
    """A thread owns positions at the distance of the grid: where they are along one dim."""
    i = I(cuda.grid(1))
    while i < n:
        along = divided(I(found[i]), step)
        out[I(i * distance)] = np.int64(along - divided(along, size) * size)
        i = I(i + cuda.gridsize(1))
