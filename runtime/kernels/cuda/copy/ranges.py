"""Numbers at equal distances."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue


def spaced(queue: Queue, out: Array, start: Any, end: Any, step: Any, middle: int) -> None:
    """Fill a contiguous array; from place `middle` on it is counted from `end`, so that it is met.

    Integers are exact where nothing is counted from the end.
    """
    count = out.numel
    if start.__class__ is step.__class__ is int and middle == count:
        run_elements(queue, fill_integers, count, out, start, step, count)
    else:
        numbers = float(start), float(end), float(step)
        run_elements(queue, fill_spaced, count, out, *numbers, middle, count)


@device_kernel("X*", "int64 int64 I")
def fill_integers(out, start, step, n):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        out[i] = store_X(T(np.int64(start + step * np.int64(i))))
        i = I(i + cuda.gridsize(1))


@device_kernel("X*", "float64 float64 float64 I I")
def fill_spaced(out, start, end, step, middle, n):
    """The same. Positions are multiplied in float64, not added up: no error grows."""
    i = I(cuda.grid(1))
    while i < n:
        if i < middle:
            out[i] = store_X(T(start + step * i))
        else:
            out[i] = store_X(T(end - step * (n - I(1) - i)))
        i = I(i + cuda.gridsize(1))
