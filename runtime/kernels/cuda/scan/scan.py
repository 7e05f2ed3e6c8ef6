"""Running sums, of which sorts and what is compacted tell places."""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.programs import run_program
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue


def summed(queue: Queue, x: Array, rows: int = 1) -> Array:
    """x[0] + ... x[j], along the rows of a contiguous array."""
    out = queue.empty(x.sizes, x.dtype)
    if x.numel:
        sizes = rows, x.numel // rows
        run_program(queue, "cumsum", out.reshaped(*sizes), x.reshaped(*sizes), 1, None)
    return out
