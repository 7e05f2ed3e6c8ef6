"""Planes of another size: every result is a weighted sum of a few rows and columns.

Which rows and columns, and their weights, comes in tables over (taps, results); an absent table
leaves its dim as it is. A weight of 0 takes no part.
"""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    device_function,
    device_kernel,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous, converted


def resample(
    queue: Queue,
    out: Array,
    self: Array,
    tables: Sequence[Array | None],
    adjoint: Sequence[Array | None],
) -> None:
    """Write the weighted sums. tables: rows, their weights, columns, theirs; adjoint: for backward.

    Shape: self (*B, H, W), tables (taps, rows) and (taps, columns) -> (*B, rows, columns)
    """
    rows, columns = tables[0], tables[2]
    taps = [0 if places is None else places.sizes[0] for places in (rows, columns)]
    numbers = (out.numel, *out.sizes[-2:], *self.sizes[-2:], *taps)
    arrays = [
        None if each is None else contiguous(queue, each)
        for each in (
            rows,
            _weights(queue, tables[1], out),
            columns,
            _weights(queue, tables[3], out),
        )
    ]
    operands = (out, contiguous(queue, self), *arrays)
    run_elements(queue, resample_elements, out.numel, *operands, *numbers)


def _weights(queue: Queue, weights: Array | None, out: Array) -> Array | None:
    """Weights in the dtype in which the results are computed."""
    return None if weights is None else converted(queue, weights, out.dtype.opmath)


@device_function
def mixed_columns(x, start, columns, weights, taps, wide, j):
    """The weighted sum of elements of the row that begins at `start`, for the result's column j."""
    if taps == 0:
        return T(load_X(x[start + j]))
    total = T(0)
    k = I(0)
    while k < taps:
        weight = T(weights[k * wide + j])
        if weight != T(0):
            total = T(total + weight * load_X(x[start + I(columns[k * wide + j])]))
        k = I(k + 1)
    return total


@device_kernel("X* X* int64* T* int64* T*", "I I I I I I I")
def resample_elements(
    out, x, rows, row_weights, columns, column_weights,
    n, high, wide, from_high, from_wide, row_taps, column_taps,
):  # fmt: skip
    """A thread owns results at the distance of the grid."""
    item = I(cuda.grid(1))
    while item < n:
        rest = divided(item, wide)
        j = I(item - rest * wide)
        p = divided(rest, high)
        i = I(rest - p * high)
        base = I(p * from_high)
        if row_taps == 0:
            start = I((base + i) * from_wide)
            total = mixed_columns(x, start, columns, column_weights, column_taps, wide, j)
        else:
            total = T(0)
            k = I(0)
            while k < row_taps:
                weight = T(row_weights[k * high + i])
                if weight != T(0):
                    start = I((base + I(rows[k * high + i])) * from_wide)
                    mixed = mixed_columns(x, start, columns, column_weights, column_taps, wide, j)
                    total = T(total + weight * mixed)
                k = I(k + 1)
        out[item] = store_X(total)
        item = I(item + cuda.gridsize(1))
