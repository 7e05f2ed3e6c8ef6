"""The gradients of layer normalisation: a pass over rows, and the parameters' by columns."""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.normalization.channels import join_sums
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue
from torchgen_out._runtime.kernels.cuda.rows import (
    WARPS,
    first_row,
    group_for,
    lane_of_row,
    row_step,
    run_rows,
    sum_of_group,
)

ROWS_OF_PART = 64
"""Rows whose sums over columns one thread makes, before the parts are summed."""


def native_layer_norm_backward(
    queue: Queue,
    grad_input: Array,
    grad_weight: Array,
    grad_bias: Array,
    grad_out: Array,
    input: Array,
    normalized_shape: Any,
    mean: Array,
    rstd: Array,
    weight: Array | None,
    bias: Array | None,
    output_mask: Any,
) -> None:
    """Write the gradients of the input, the weight and the bias."""
    rows, count = mean.numel, prod(normalized_shape)
    group = group_for(queue, Folded(rows, count, 1))
    operands = (grad_input, grad_out, input, weight, mean, rstd)
    flags = {"HAS_WEIGHT": weight is not None}
    run_rows(queue, layer_norm_backward_rows, rows, group, *operands, rows, count, **flags)
    parts = -(-rows // ROWS_OF_PART)
    sums = [queue.empty((parts, count), input.dtype.opmath) for _ in range(2)]
    given = (grad_out, input, mean, rstd, *sums)
    run_elements(queue, parameter_sums, parts * count, *given, rows, count, parts * count)
    join_sums(queue, grad_weight, grad_bias, input, *sums, count, parts)


@device_kernel("X* X* X* Y* Y* Y*", "I I")
def layer_norm_backward_rows(out, grad, x, weight, mean, rstd, rows, count):
    """A group of threads owns a row; lane t takes elements t, t + GROUP ...

    With h = (x - mean) * rstd and g = grad * weight: rstd * (g - mean(g) - h * mean(g * h)).
    """
    shared = cuda.shared.array(WARPS, T)
    lane = lane_of_row()
    row = first_row()
    while row < rows:
        base = I(row * count)
        center, inverse = load_Y(mean[row]), load_Y(rstd[row])
        # 1. The means of g and of g * h.
        total, product = T(0), T(0)
        j = lane
        while j < count:
            upstream = load_X(grad[base + j])
            if HAS_WEIGHT:
                upstream = T(upstream * load_Y(weight[j]))
            normalised = T(T(load_X(x[base + j]) - center) * inverse)
            total = T(total + upstream)
            product = T(product + upstream * normalised)
            j = I(j + GROUP)
        shift = T(sum_of_group(total, shared) / T(count))
        slope = T(sum_of_group(product, shared) / T(count))
        # 2. The results.
        j = lane
        while j < count:
            upstream = load_X(grad[base + j])
            if HAS_WEIGHT:
                upstream = T(upstream * load_Y(weight[j]))
            normalised = T(T(load_X(x[base + j]) - center) * inverse)
            out[base + j] = store_X(T(inverse * T(upstream - shift - normalised * slope)))
            j = I(j + GROUP)
        row = I(row + row_step())


@device_kernel("X* X* Y* Y* T* T*", "I I I")
def parameter_sums(grad, x, mean, rstd, weight_sums, bias_sums, rows, count, n):
    """A thread owns a column of a part of the rows, at the distance of the grid."""
    item = I(cuda.grid(1))
    while item < n:
        part = divided(item, count)
        j = I(item - part * count)
        first, second = T(0), T(0)
        row = I(part * ROWS_OF_PART)
        stop = I(min(row + ROWS_OF_PART, rows))
        while row < stop:
            upstream = load_X(grad[row * count + j])
            center, inverse = load_Y(mean[row]), load_Y(rstd[row])
            normalised = T(T(load_X(x[row * count + j]) - center) * inverse)
            first = T(first + upstream * normalised)
            second = T(second + upstream)
            row = I(row + 1)
        weight_sums[item] = first
        bias_sums[item] = second
        item = I(item + cuda.gridsize(1))
