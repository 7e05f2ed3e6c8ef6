"""logsumexp and the gradient of softmax for attention.

16-bit floats are computed in float32 and rounded once, at the end.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.common.folded import sizes_around
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, converted, folded_around
from torchgen_out._runtime.kernels.cuda.rows import (
    WARPS,
    first_row,
    greatest_of_group,
    group_for,
    lane_of_row,
    place_of_row,
    row_step,
    run_rows,
    sum_of_group,
)


def softmax_backward_data(
    queue: Queue, out: Array, grad_output: Array, output: Array, dim: int
) -> None:
    """Write output * (grad - sum of grad * output over `dim`)."""
    grad = converted(queue, grad_output, out.dtype)
    if out.numel:
        folded = sizes_around(out.sizes, dim)
        rows = folded.outer * folded.inner
        group = group_for(queue, folded)
        run_rows(queue, softmax_backward_rows, rows, group, out, grad, output, rows, *folded[1:])


def logsumexp(queue: Queue, out: Array, self: Array, dim: Any, keepdim: bool) -> None:
    """Write log(sum of exp(x)) over the dims of `dim`."""
    x, folded = folded_around(queue, self, dim)
    rows = folded.outer * folded.inner
    run_rows(queue, logsumexp_rows, rows, group_for(queue, folded), out, x, rows, *folded[1:])


@device_kernel("X* X* X*", "I I I")
def softmax_backward_rows(out, grad, y, rows, count, inner):
    """A group of threads owns a row; lane t takes elements t, t + GROUP ..."""
    shared = cuda.shared.array(WARPS, T)
    lane = lane_of_row()
    row = first_row()
    while row < rows:
        base = place_of_row(row, count, inner)
        # 1. The sum over the row.
        total = T(0)
        j = lane
        while j < count:
            at = I(base + j * inner)
            total = T(total + load_X(grad[at]) * load_X(y[at]))
            j = I(j + GROUP)
        total = sum_of_group(total, shared)
        # 2. The results.
        j = lane
        while j < count:
            at = I(base + j * inner)
            upstream, result = load_X(grad[at]), load_X(y[at])
            out[at] = store_X(T(result * (upstream - total)))
            j = I(j + GROUP)
        row = I(row + row_step())


@device_kernel("X* X*", "I I I")
def logsumexp_rows(out, x, rows, count, inner):
    """As softmax; an infinite maximum is not subtracted, for inf - inf is NaN."""
    shared = cuda.shared.array(WARPS, T)
    lane = lane_of_row()
    row = first_row()
    while row < rows:
        base = place_of_row(row, count, inner)
        # 1. The maximum.
        top = T(-np.inf)
        j = lane
        while j < count:
            value = load_X(x[base + j * inner])
            top = value if (value > top) | (value != value) else top
            j = I(j + GROUP)
        top = greatest_of_group(top, shared)
        if abs(top) == T(np.inf):
            top = T(0)
        # 2. The sum of exponentials.
        total = T(0)
        j = lane
        while j < count:
            total = T(total + exp(T(load_X(x[base + j * inner]) - top)))
            j = I(j + GROUP)
        total = sum_of_group(total, shared)
        if lane == 0:
            out[row] = store_X(T(log(total) + top))
        row = I(row + row_step())
