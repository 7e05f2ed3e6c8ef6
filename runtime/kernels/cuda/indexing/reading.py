"""Reading slices at places, and elements under a mask; and where elements are not zero.

Nothing waits for a place to be looked at: what one outside names is read as zero, and noted
(`faults`).
"""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.faults import INDEX, note
from torchgen_out._runtime.kernels.cuda.indexing.compaction import positions
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous


def read_slices(queue: Queue, out: Array, x: Array, places: Array, folded: Folded) -> None:
    """out[o, j, i] = x[o, places[j], i]; x as `folded` says, all contiguous; zero if outside."""
    numbers = (out.numel, places.numel, folded.count, folded.inner)
    operands = (out.moved(), x.moved(), places, queue.faults)
    run_elements(queue, read_elements, out.numel, *operands, *numbers)


@device_kernel("X* X* int64* int64*", "I I I I")
def read_elements(out, x, places, faults, n, count, size, inner):
    """A thread owns elements at the distance of the grid."""
    item = I(cuda.grid(1))
    while item < n:
        row = divided(item, inner)
        o = divided(row, count)
        k = places[row - o * count]
        is_inside = (k >= 0) & (k < size)
        if not is_inside:
            note(faults, INDEX, k, size)
        at = I((o * size + (I(k) if is_inside else I(0))) * inner + (item - row * inner))
        out[item] = x[at] if is_inside else X(0)
        item = I(item + cuda.gridsize(1))


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
