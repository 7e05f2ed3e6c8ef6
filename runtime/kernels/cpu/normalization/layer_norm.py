"""The gradients of layer normalisation: sums in the element type over blocks, then in float64.

Parameters' gradients are summed in the pass over the rows. The normalisation itself is a formula.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING, operand, out, plan_ranges
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed_sum

Array = Any
ROWS_SUMMED, ELEMENTS_SUMMED = 32, 4096  # in the element type, before float64 takes over
WORK = 4  # how much more an element costs than in element-wise work


@planned(results=3)
def native_layer_norm_backward(
    grad_input: TensorSpec,
    grad_weight: TensorSpec,
    grad_bias: TensorSpec,
    grad_out: TensorSpec,
    input: TensorSpec,
    normalized_shape: Any,
    mean: TensorSpec,
    rstd: TensorSpec,
    weight: TensorSpec | None,
    bias: TensorSpec | None,
    output_mask: Any,
) -> LaunchPlan:
    """Write the gradients of the input, the weight and the bias."""
    rows, n = mean.numel, prod(normalized_shape)
    if not n:
        return NOTHING
    blocks, work = -(-rows // ROWS_SUMMED), WORK * rows * n
    sums = TensorSpec(np.dtype(np.float64), (-1, 2, n), (2 * n, n, 1))  # of each part
    gradients = plan_ranges(
        layer_norm_backward_blocks,
        *(blocks, work, [grad_input, sums], [grad_out, input, mean, rstd, weight, bias]),
        *(out(0, rows, n), operand(0, rows, n), operand(1, rows, n), operand(2, rows)),
        *(operand(3, rows), operand(4, n), out(1, -1, 2, n)),
        parts=lambda grad_input, sums, *others: sums.size // (2 * n),
    )

    own = grad_weight.dtype
    add = add_parts.entry_point(own, (np.dtype(np.float64), own, own))

    def run(grad_input: Array, grad_weight: Array, grad_bias: Array, *others: Any) -> None:
        sums = np.zeros(threads.part_count(blocks, work) * 2 * n)
        gradients.run(grad_input, sums, *others)
        add(sums, grad_weight, grad_bias)

    return LaunchPlan(run, gradients.params)


@typed_sum
def add_parts(sums, weight, bias):
    """The sums of all parts, of weight and bias in turns."""
    n = weight.size
    for i in range(n):
        of_weight, of_bias = 0.0, 0.0
        for start in range(i, sums.size, 2 * n):
            of_weight += sums[start]
            of_bias += sums[start + n]
        weight[i], bias[i] = of_weight, of_bias


@typed_sum
def layer_norm_backward_blocks(part, start, stop, grad_input, grad, x, mean, rstd, weight, sums):
    """With h = (x - mean) * rstd and g = grad * weight: rstd * (g - mean(g) - h * mean(g * h)).

    For blocks start to stop of rows. The parameters' gradients are summed in T over a block, then
    in float64: sums[part] of weight and bias.
    """
    rows, n = x.shape
    weight_sums, bias_sums = np.empty(n, x.dtype), np.empty(n, x.dtype)
    scaled = np.empty(n, x.dtype)  # not in place: a loop over arrays that overlap is not vectorised
    factors = weight if weight.size else np.ones(n, x.dtype)
    for block in range(start * ROWS_SUMMED, min(stop * ROWS_SUMMED, rows), ROWS_SUMMED):
        weight_sums[:] = T(0)
        bias_sums[:] = T(0)
        for r in range(block, min(block + ROWS_SUMMED, rows)):
            inverse, offset = T(rstd[r]), T(-mean[r] * rstd[r])
            for i in range(n):
                weight_sums[i] += grad[r, i] * (x[r, i] * inverse + offset)
                bias_sums[i] += grad[r, i]
            if n <= ELEMENTS_SUMMED:
                spread_in_row(grad_input, grad, factors, x, r, inverse, offset)
                continue
            for i in range(n):
                scaled[i] = grad[r, i] * factors[i]
            spread_gradient(grad_input[r], scaled, x[r], inverse, offset)
        for i in range(n):
            sums[part, 0, i] += weight_sums[i]
            sums[part, 1, i] += bias_sums[i]


@typed_sum
def spread_in_row(result, grad, factors, x, r, inverse, offset):
    """As `spread_gradient`, for row r, which is not taken out: views count references, 15 ns each.

    In a row of 16 elements everything else takes 14 ns.
    """
    n = x.shape[1]
    total, product = T(0), T(0)
    for i in range(n):
        scaled = grad[r, i] * factors[i]
        total += scaled
        product += scaled * (x[r, i] * inverse + offset)
    shift, slope = T(total / n), T(product / n)
    for i in range(n):
        normalised = x[r, i] * inverse + offset
        result[r, i] = inverse * (grad[r, i] * factors[i] - shift - normalised * slope)


@typed_sum
def spread_gradient(result, grad, row, inverse, offset):
    """result = inverse * (grad - mean(grad) - h * mean(grad * h))."""
    n = row.size
    total, product = 0.0, 0.0
    for start in range(0, n, ELEMENTS_SUMMED):
        part, values = grad[start : start + ELEMENTS_SUMMED], row[start : start + ELEMENTS_SUMMED]
        first, second = T(0), T(0)
        for i in range(part.size):
            first += part[i]
            second += part[i] * (values[i] * inverse + offset)
        total += first
        product += second
    shift, slope = T(total / n), T(product / n)
    for i in range(n):
        result[i] = inverse * (grad[i] - shift - (row[i] * inverse + offset) * slope)
