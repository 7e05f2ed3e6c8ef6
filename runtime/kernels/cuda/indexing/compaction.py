"""Which elements are wanted, in order: flags are summed up, and each wanted one knows its place."""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.programs import run_program
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, converted


def counted(queue: Queue, x: Array) -> Array:
    """How many elements up to each one are not zero. Shape: contiguous (*) -> int64 (n)."""
    sums = queue.empty((x.numel,), dtypes.int64)
    if x.numel:
        flags = converted(queue, x, dtypes.bool)
        run_program(queue, "cumsum", sums, flags.reshaped(x.numel), 0, sums.dtype)
    return sums


def total_of(queue: Queue, sums: Array) -> int:
    """The last of what `counted` returned, waited for."""
    n = sums.numel
    return int(queue.read(sums.at(n - 1, (1,), (1,)))[0]) if n else 0


def positions(queue: Queue, x: Array) -> Array:
    """The flat positions of the elements that are not zero. Shape: contiguous (*) -> int64 (k)."""
    sums = counted(queue, x)
    found = queue.result((total_of(queue, sums),), dtypes.int64)
    if found.numel:
        run_elements(queue, write_positions, x.numel, found, sums, x.numel)
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
