"""Group normalisation: each channel of each sample is a channel of one sample."""

from __future__ import annotations

import math
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.cpu.loop_plans import operand, out, plan_ranges
from torchgen_out._runtime.kernels.cpu.normalization.batch_loops import (
    combine_row,
    scale_row,
    sums_of_row,
)
from torchgen_out._runtime.kernels.cpu.normalization.layer_norm import (
    WORK,
    blocked_distances,
    blocked_mean,
    quiet,
)
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed_sum

Array = Any


@planned(results=3)
def native_group_norm(
    result: TensorSpec,
    mean: TensorSpec,
    rstd: TensorSpec,
    input: TensorSpec,
    weight: TensorSpec | None,
    bias: TensorSpec | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> LaunchPlan:
    """Write the input normalised over each group's channels, and the groups' statistics."""
    if not input.numel:
        return LaunchPlan(fill_statistics, None)
    sizes = N * group, C // group, HxW
    return plan_ranges(
        normalise_groups,
        *(sizes[0], WORK * prod(sizes)),
        [result, mean, rstd],
        [input, weight, bias],
        *(out(0, *sizes), operand(0, *sizes), operand(1, C), operand(2, C)),
        *(out(1, sizes[0]), out(2, sizes[0]), group, float(eps)),
    )


def fill_statistics(result: Array, mean: Array, rstd: Array, *others: Any) -> None:
    """The statistics of groups without elements."""
    mean.fill(0)
    rstd.fill(np.nan)


@typed_sum
def normalise_groups(start, stop, out, x, weight, bias, mean, rstd, groups, eps):
    """Normalise rows start to stop of (samples * groups, channels, places); then a factor per
    channel."""
    channels, places = x.shape[1], x.shape[2]
    for r in range(start, stop):
        row = x[r].reshape(channels * places)
        center = blocked_mean(row)
        inverse = 1.0 / math.sqrt(blocked_distances(row, center) / row.size + eps)
        mean[r], rstd[r] = center, inverse
        first = r % groups * channels
        for c in range(channels):
            factor = inverse * weight[first + c] if weight.size else inverse
            shift = (bias[first + c] if bias.size else 0.0) - center * factor
            scale_row(out, x, r, c, T(factor), T(shift))


@planned(results=3)
def native_group_norm_backward(
    grad_input: TensorSpec,
    grad_weight: TensorSpec,
    grad_bias: TensorSpec,
    grad_out: TensorSpec,
    input: TensorSpec,
    mean: TensorSpec,
    rstd: TensorSpec,
    weight: TensorSpec | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Any,
) -> LaunchPlan:
    """Write the gradients of the input, the weight and the bias."""
    rows, work = N * group, WORK * input.numel
    sizes = rows, C // group, HxW
    sums = TensorSpec(np.dtype(np.float64), (2, N * C), (N * C, 1))
    gradients = plan_ranges(
        group_gradients,
        *(rows, work, [grad_input, sums], [grad_out, input, mean, rstd, weight]),
        *(out(0, *sizes), out(1, 2, N * C), operand(0, *sizes), operand(1, *sizes)),
        *(operand(4, C), operand(2, rows), operand(3, rows), group),
    )

    @quiet
    def run(grad_input: Array, grad_weight: Array, grad_bias: Array, *others: Any) -> None:
        sums = np.zeros(2 * N * C)
        if input.numel:
            gradients.run(grad_input, sums, *others)
        grad_weight[...], grad_bias[...] = sums.reshape(2, N, C).sum(axis=1)

    return LaunchPlan(run, gradients.params)


@typed_sum
def group_gradients(start, stop, out, sums, grad, x, weight, mean, rstd, groups):
    """The gradients of rows start to stop, and their channels' sums: the parameters' gradients.

    With h = (x - mean) * rstd and g = grad * weight: rstd * (g - mean(g) - h * mean(g * h)), as
    a * grad + b * x + c.
    """
    channels, count = x.shape[1], x.shape[1] * x.shape[2]
    products, totals = sums[0], sums[1]
    for r in range(start, stop):
        center, inverse = np.float64(mean[r]), np.float64(rstd[r])
        first = r % groups * channels
        total, product = 0.0, 0.0
        for c in range(channels):
            one, other = sums_of_row(grad, x, r, c, T(center))
            other *= inverse
            products[r * channels + c], totals[r * channels + c] = other, one
            factor = np.float64(weight[first + c]) if weight.size else 1.0
            total += one * factor
            product += other * factor
        slope = -inverse * inverse * product / count
        shift = -inverse * total / count - slope * center
        for c in range(channels):
            scale = inverse * weight[first + c] if weight.size else inverse
            combine_row(out, grad, x, r, c, T(scale), T(slope), T(shift))
