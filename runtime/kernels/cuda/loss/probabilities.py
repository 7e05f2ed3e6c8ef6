"""Probabilities that are looked at without waiting for what is seen."""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.faults import PROBABILITY, note
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous


def note_outside_unit(queue: Queue, self: Array) -> None:
    """Note a fault if an element is below 0 or above 1; NaN passes, as on the CPU."""
    if self.numel:
        self = contiguous(queue, self)
        run_elements(queue, look_at_probabilities, self.numel, self, queue.faults, self.numel)


@device_kernel("X* int64*", "I")
def look_at_probabilities(x, faults, n):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        p = load_X(x[i])
        if (p < T(0)) | (p > T(1)):
            note(faults, PROBABILITY, 0, 0)
        i = I(i + cuda.gridsize(1))
