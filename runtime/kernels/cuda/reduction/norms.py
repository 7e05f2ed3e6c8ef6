"""Norms of vectors: sums of powers of magnitudes, the greatest or the smallest, over some dims.

Few long rows are cut into slices, whose results are joined by the same kernel.
"""

from __future__ import annotations

from math import inf
from typing import Any

from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    device_function,
    device_kernel,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, converted, folded_around
from torchgen_out._runtime.kernels.cuda.rows import (
    WARPS,
    cut,
    first_row,
    greatest_of_group,
    lane_of_row,
    place_of_row,
    row_step,
    run_rows,
    sum_of_group,
)

COUNT, SUM, SQUARES, POWERS, GREATEST, SMALLEST = range(6)
KINDS = {0: COUNT, 1: SUM, 2: SQUARES, inf: GREATEST, -inf: SMALLEST}
"""What is summed or picked, by the order of a norm; powers for all others."""


def linalg_vector_norm(
    queue: Queue, out: Array, self: Array, ord: Any, dim: Any, keepdim: bool, dtype: Any
) -> None:
    """Write the `ord`-norm over `dim`."""
    if self.dtype.is_complex:
        sizes = queue.empty(self.sizes, self.dtype.to_real())
        run_elements(queue, write_magnitudes, self.numel, sizes, self, self.numel)
        self = sizes
    x, folded = folded_around(queue, converted(queue, self, out.dtype), dim)
    if not folded.count:
        queue.fill(out, inf if ord < 0 else 0)
        return
    rows = folded.outer * folded.inner
    group, splits, chunk = cut(queue, folded)
    given = {"KIND": KINDS.get(ord, POWERS)}
    numbers = (rows * splits, *folded[1:], splits, chunk, float(ord))
    if splits == 1:
        flags = given | {"IS_PART": False, "IS_WHOLE": True}
        run_rows(queue, norm_slices, rows, group, out, x, None, *numbers, **flags)
        return
    parts = queue.empty((rows, splits), out.dtype.opmath)
    flags = given | {"IS_PART": True, "IS_WHOLE": False}
    run_rows(queue, norm_slices, rows * splits, group, out, x, parts, *numbers, **flags)
    folded = Folded(rows, splits, 1)
    numbers = (rows, *folded[1:], 1, splits, float(ord))
    flags = given | {"IS_PART": False, "IS_WHOLE": False}
    run_rows(queue, norm_slices, rows, group, out, x, parts, *numbers, **flags)


@device_kernel("Y* X*", "I")
def write_magnitudes(out, x, n):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        out[i] = Y(abs(load_X(x[i])))
        i = I(i + cuda.gridsize(1))


@device_function
def term_of(value, order):
    """What an element adds to the sum, or takes part with."""
    if KIND == COUNT:
        return T(1) if value != T(0) else T(0)
    if KIND == SQUARES:
        return T(value * value)
    if KIND == POWERS:
        return T(pow(abs(value), order))
    return T(-abs(value)) if KIND == SMALLEST else T(abs(value))


@device_function
def norm_of(total, order):
    """The norm that a sum, or an extreme, stands for."""
    if KIND == SQUARES:
        return T(sqrt(total))
    if KIND == POWERS:
        return T(pow(total, T(T(1) / order)))
    return T(-total) if KIND == SMALLEST else total


@device_kernel("X* X* T*", "I I I I I T")
def norm_slices(out, x, parts, pieces, count, inner, splits, chunk, order):
    """A group of threads owns a slice of a row: lane t takes elements t, t + GROUP ...

    IS_PART: results are parts. IS_WHOLE: neither results nor elements are.
    """
    shared = cuda.shared.array(WARPS, T)
    lane = lane_of_row()
    piece = first_row()
    while piece < pieces:
        row = divided(piece, splits)
        begin = I((piece - row * splits) * chunk)
        stop = I(min(begin + chunk, count))
        base = place_of_row(row, count, inner)
        total = T(0) if KIND < GREATEST else T(-np.inf)
        j = I(begin + lane)
        while j < stop:
            at = I(base + j * inner)
            term = term_of(load_X(x[at]), order) if IS_PART or IS_WHOLE else parts[at]
            if KIND < GREATEST:
                total = T(total + term)
            else:
                total = term if (term > total) | (term != term) else total
            j = I(j + GROUP)
        total = sum_of_group(total, shared) if KIND < GREATEST else greatest_of_group(total, shared)
        if lane == 0:
            if IS_PART:
                parts[piece] = total
            else:
                out[piece] = store_X(norm_of(total, order))
        piece = I(piece + row_step())
