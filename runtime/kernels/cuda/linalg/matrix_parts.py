"""Device kernels around factorisations: triangles and permutations."""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.faults import INDEX, note
from torchgen_out._runtime.kernels.cuda.programs import run_program
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue


def copy_triangle(queue: Queue, out: Array, x: Array, upper: bool) -> None:
    """Write one triangle with its diagonal, and zeros elsewhere; of x the first rows are read."""
    if out.numel:
        rows = x.narrowed(x.ndim - 2, 0, out.sizes[-2])
        run_program(queue, "triu" if upper else "tril", out, rows, 0)


def write_permutations(queue: Queue, out: Array, pivots: Array) -> None:
    """Write the matrices of rows swapped one after the other."""
    queue.fill(out, 0)
    rows = out.sizes[-1]
    count = out.numel // max(rows, 1)
    if count:
        numbers = (count, rows, pivots.sizes[-1])
        run_elements(queue, permutation, count, out, pivots, queue.faults, *numbers)


@device_kernel("X* int32* int64*", "I I I")
def permutation(out, pivots, faults, count, rows, swaps):
    """A thread owns every column of a result at the distance of the grid: it goes back through the
    swaps to find where the column's row came from. A swap with a row outside is left out."""
    i = I(cuda.grid(1))
    while i < count:
        batch = divided(i, rows)
        c = I(i - batch * rows)
        place = c
        s = I(swaps - 1)
        while s >= 0:
            other = I(pivots[I(batch * swaps + s)] - 1)
            if (other < 0) | (other >= rows):
                note(faults, INDEX, other, rows)
                other = s
            if place == s:
                place = other
            elif place == other:
                place = s
            s = I(s - 1)
        out[I((batch * rows + place) * rows + c)] = store_X(T(1))
        i = I(i + cuda.gridsize(1))
