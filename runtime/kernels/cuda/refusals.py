"""What a caller refuses without waiting to see whether it is there: truths noted as faults."""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.faults import first_number, note
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue


def note_any(queue: Queue, broken: Array, message: str) -> None:
    """Note a fault of this message if an element of a contiguous array is true."""
    if broken.numel:
        numbers = broken.numel, first_number((message,), "{asked}")
        run_elements(queue, look_for_truth, broken.numel, broken, queue.faults, *numbers)


@device_kernel("X* int64*", "I int64")
def look_for_truth(broken, faults, n, kind):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        if broken[i] != 0:
            note(faults, kind, 0, 0)
        i = I(i + cuda.gridsize(1))
