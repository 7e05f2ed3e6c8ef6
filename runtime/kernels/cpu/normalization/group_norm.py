"""Group normalisation: each channel of each sample is a channel of one sample."""

# ruff: noqa: F821 - T is a name of the compiled text.

from __future__ import annotations

import math
from math import prod
from typing import Any

import numpy as np

from runtime.kernels import threads
from runtime.kernels.cpu.loop_plans import operand, out, plan_ranges
from runtime.kernels.cpu.normalization.batch_loops import combine_row, scale_row, sums_of_row
from runtime.kernels.cpu.normalization.batch_norm import quiet
from runtime.kernels.cpu.normalization.batch_norm_plans import WORK
from runtime.kernels.cpu.normalization.layer_norm import blocked_distances, blocked_mean
from runtime.kernels.cpu.planned import Operand, Plan, planned
from runtime.kernels.cpu.small import are_dense_alike
from runtime.kernels.typed import typed_sum

Array = Any


def plan_group_norm(
    result: Operand,
    mean: Operand,
    rstd: Operand,
    input: Operand,
    weight: Operand | None,
    bias: Operand | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> Plan | None:
    """Plan `native_group_norm`."""
    if not are_dense_alike(result.dtype, result, mean, input, weight, bias):
        return None
    sizes = N * group, C // group, HxW
    return plan_ranges(
        normalise_groups,
        *(sizes[0], WORK * prod(sizes)),
        [result, mean, rstd],
        [input, weight, bias],
        *(out(0, *sizes), operand(0, *sizes), operand(1, C), operand(2, C)),
        *(out(1, sizes[0]), out(2, sizes[0]), group, float(eps)),
    )


@planned(plan_group_norm)
@quiet
def native_group_norm(
    out: Array,
    mean: Array,
    rstd: Array,
    input: Array,
    weight: Array | None,
    bias: Array | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> None:
    """Write the input normalised over each group's channels, and the groups' statistics."""
    if not input.size:
        mean.fill(0)
        rstd.fill(np.nan)
        return
    sizes = N * group, C // group, HxW
    x = np.ascontiguousarray(input).reshape(sizes)
    parameters = [np.empty(0, x.dtype) if each is None else each for each in (weight, bias)]
    arrays = out.reshape(sizes), x, *parameters, mean.reshape(-1), rstd.reshape(-1)
    kernel = normalise_groups.of(x.dtype)
    threads.run_ranges(kernel, sizes[0], WORK * x.size, *arrays, group, float(eps))


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


def plan_group_norm_backward(
    grad_input: Operand,
    grad_weight: Operand,
    grad_bias: Operand,
    grad_out: Operand,
    input: Operand,
    mean: Operand,
    rstd: Operand,
    weight: Operand | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Any,
) -> Plan | None:
    """Plan `native_group_norm_backward`."""
    results, operands = [grad_input, grad_weight, grad_bias], [grad_out, input, mean, rstd, weight]
    if not are_dense_alike(input.dtype, *results, *operands):
        return None
    rows, work = N * group, WORK * prod(input.sizes)
    sizes = rows, C // group, HxW
    sums = Operand(np.dtype(np.float64), (2, N * C), (N * C, 1))
    gradients = plan_ranges(
        group_gradients,
        *(rows, work, [grad_input, sums], operands),
        *(out(0, *sizes), out(1, 2, N * C), operand(0, *sizes), operand(1, *sizes)),
        *(operand(4, C), operand(2, rows), operand(3, rows), group),
    )

    def run(grad_input: Array, grad_weight: Array, grad_bias: Array, *others: Any) -> None:
        sums = np.empty(2 * N * C)
        gradients.run(grad_input, sums, *others)
        grad_weight[...], grad_bias[...] = sums.reshape(2, N, C).sum(axis=1)

    return Plan(run, gradients.number)


@planned(plan_group_norm_backward)
@quiet
def native_group_norm_backward(
    grad_input: Array,
    grad_weight: Array,
    grad_bias: Array,
    grad_out: Array,
    input: Array,
    mean: Array,
    rstd: Array,
    weight: Array | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Any,
) -> None:
    """Write the gradients of the input, the weight and the bias."""
    if not input.size:
        for each in (grad_input, grad_weight, grad_bias):
            each.fill(0)
        return
    sizes = N * group, C // group, HxW
    x, grad = (np.ascontiguousarray(each).reshape(sizes) for each in (input, grad_out))
    sums = np.empty((2, N * C))
    statistics = (np.ascontiguousarray(each).reshape(-1) for each in (mean, rstd))
    parameters = np.empty(0, x.dtype) if weight is None else np.ascontiguousarray(weight)
    arrays = grad_input.reshape(sizes), sums, grad, x, parameters, *statistics
    threads.run_ranges(group_gradients.of(x.dtype), sizes[0], WORK * x.size, *arrays, group)
    grad_weight[...], grad_bias[...] = sums.reshape(2, N, C).sum(axis=1)


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
