"""Device kernels around factorisations: triangles and permutations."""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.faults import INDEX, note
from torchgen_out._runtime.kernels.cuda.linalg.columns import flat
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue


def copy_triangle(queue: Queue, out: Array, x: Array, upper: bool) -> None:
    """Write one triangle with its diagonal, and zeros elsewhere; of x the first rows are read."""
    if out.numel:
        seen = flat(out)
        steps = (*seen.strides, x.strides[-3] if x.ndim > 2 else 0, *x.strides[-2:])
        run_elements(
            queue, triangle, out.numel, out, x, out.numel, *seen.sizes[1:], *steps, UPPER=int(upper)
        )


@device_kernel("X* X*", "I I I I I I I I I")
def triangle(out, x, numel, rows, columns, out_batch, out_row, out_col, x_batch, x_row, x_col):
    """A thread owns every element of the result at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < numel:
        above = divided(i, columns)
        c = I(i - above * columns)
        batch = divided(above, rows)
        r = I(above - batch * rows)
        value = X(0)
        if (UPPER == 1 and r <= c) or (UPPER == 0 and r >= c):
            value = x[I(batch * x_batch + r * x_row + c * x_col)]
        out[I(batch * out_batch + r * out_row + c * out_col)] = value
        i = I(i + cuda.gridsize(1))


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
