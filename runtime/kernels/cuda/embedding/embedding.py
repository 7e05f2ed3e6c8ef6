"""Rows of a table by their indices, and their gradient, on CUDA."""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.faults import INDEX, note
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, converted
from torchgen_out._runtime.kernels.cuda.scan.scan import plus
from torchgen_out._runtime.kernels.cuda.scatter.combining import combine_at_places


def embedding_dense_backward(
    queue: Queue,
    out: Array,
    grad_output: Array,
    indices: Array,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> None:
    """Add each row of `grad_output` to the row of `out` that its index names, in order."""
    queue.fill(out, 0)
    places = queue.empty((indices.numel,), dtypes.int64)
    given = converted(queue, indices, dtypes.int64)
    numbers = (places.numel, padding_idx, num_weights)
    run_elements(queue, leave_out, places.numel, places, given, queue.faults, *numbers)
    folded = Folded(1, num_weights, out.sizes[1])
    # A row starts at zero, so that a mean over what is added is its sum over its frequency.
    combine_at_places(
        queue, out, places, grad_output, folded, plus, not scale_grad_by_freq, scale_grad_by_freq
    )


@device_kernel("int64* int64* int64*", "I int64 int64")
def leave_out(places, index, faults, n, left, size):
    """A thread owns indices at the distance of the grid: -1 for the one left out and those
    outside."""
    i = I(cuda.grid(1))
    while i < n:
        k = index[i]
        is_inside = (k >= 0) & (k < size)
        if not is_inside:
            note(faults, INDEX, k, size)
        places[i] = k if (k != left) & is_inside else np.int64(-1)
        i = I(i + cuda.gridsize(1))
