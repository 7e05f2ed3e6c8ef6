"""Elements under a mask, and where elements are not zero.

Flags are summed up, so that each wanted one knows its place; how many there are is waited for.
"""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.programs import run_program
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous, converted


def masked_select(queue: Queue, self: Array, mask: Array) -> Array:
    """Return the elements where `mask` is true, in row-major order."""
    if mask.dtype is not dtypes.bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    sizes = shapes.broadcast_shapes(mask.sizes, self.sizes)
    found = positions(queue, contiguous(queue, mask.expanded(sizes)))
    out = queue.result(found.sizes, self.dtype)
    if out.numel:
        x = contiguous(queue, self.expanded(sizes)).moved()
        run_program(queue, "index_select", out.moved(), x.reshaped(x.numel), 0, found)
    return out


def nonzero(queue: Queue, self: Array) -> Array:
    """Return the places of the elements that are not zero: a column for each dim, dense as a vector
    of its own, and a row for each element."""
    found = positions(queue, self)
    columns = queue.result((self.ndim, found.numel), dtypes.int64)
    for dim, size in enumerate(self.sizes if columns.numel else ()):
        column = columns.at(dim * found.numel, (found.numel,), (1,))
        numbers = (found.numel, self.strides[dim], size)
        run_elements(queue, write_coordinate, found.numel, column, found, *numbers)
    return columns.at(0, (found.numel, self.ndim), (1, found.numel))


def positions(queue: Queue, x: Array) -> Array:
    """The flat positions of the elements that are not zero. Shape: contiguous (*) -> int64 (k)."""
    n = x.numel
    if not n:
        return queue.result((0,), dtypes.int64)
    flags, sums = converted(queue, x, dtypes.bool), queue.empty((n,), dtypes.int64)
    run_program(queue, "cumsum", sums, flags.reshaped(n), 0, sums.dtype)
    found = queue.result((int(queue.read(sums.at(n - 1, (1,), (1,)))[0]),), dtypes.int64)
    if found.numel:
        run_elements(queue, write_positions, n, found, sums, n)
    return found


@device_kernel("int64* int64*", "I")
def write_positions(found, sums, n):
    """A thread owns elements at the distance of the grid; where the sum steps up, one is found."""
    i = I(cuda.grid(1))
    while i < n:
        before = sums[I(i - 1)] if i > 0 else np.int64(0)
        if sums[i] != before:
            found[before] = np.int64(i)
        i = I(i + cuda.gridsize(1))


@device_kernel("int64* int64*", "I I I")
def write_coordinate(out, found, n, step, size):
    """A thread owns positions at the distance of the grid: where they are along one dim."""
    i = I(cuda.grid(1))
    while i < n:
        along = divided(I(found[i]), step)
        out[i] = np.int64(along - divided(along, size) * size)
        i = I(i + cuda.gridsize(1))
