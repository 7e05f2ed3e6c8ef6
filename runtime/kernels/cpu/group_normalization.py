"""Group normalisation: each channel of each sample is a channel of one sample."""

# ruff: noqa: F821 - T is a name of the compiled text.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from runtime.kernels.cpu.batch_loops import channel_sums, combine_channels
from runtime.kernels.cpu.batch_normalization import quiet
from runtime.kernels.cpu.loop_plans import are_small_alike, operand, out, plan_loop
from runtime.kernels.cpu.normalization import blocked_distances, blocked_mean
from runtime.kernels.cpu.planned import Operand, Plan, planned
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
    if not are_small_alike(result, mean, input, weight, bias):
        return None
    sizes = N * group, C // group, HxW
    return plan_loop(
        normalise_groups,
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
    statistics = mean.reshape(-1), rstd.reshape(-1)
    normalise_groups(out.reshape(sizes), x, *parameters, *statistics, group, eps)


@typed_sum
def normalise_groups(out, x, weight, bias, mean, rstd, groups, eps):
    """Normalise each row of (samples * groups, channels, places); then a factor per channel."""
    channels, places = x.shape[1], x.shape[2]
    for r in range(x.shape[0]):
        row = x[r].reshape(channels * places)
        center = blocked_mean(row)
        inverse = 1.0 / math.sqrt(blocked_distances(row, center) / row.size + eps)
        mean[r], rstd[r] = center, inverse
        first = r % groups * channels
        for c in range(channels):
            factor = inverse * weight[first + c] if weight.size else inverse
            shift = (bias[first + c] if bias.size else 0.0) - center * factor
            scale_row(out[r, c], x[r, c], T(factor), T(shift))


@typed_sum
def scale_row(out, x, factor, shift):
    """out = x * factor + shift."""
    for i in range(x.size):
        out[i] = x[i] * factor + shift


def _per_channel(groups: Array, N: int, C: int, group: int) -> Array:
    """A number per sample and group as one per sample and channel."""
    return np.repeat(groups.reshape(N, group), C // group, axis=1)


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
    x = np.ascontiguousarray(input).reshape(1, N * C, HxW)
    grad = np.ascontiguousarray(grad_out).reshape(x.shape)
    center = _per_channel(mean.astype(np.float64), N, C, group)
    inverse = _per_channel(rstd.astype(np.float64), N, C, group)
    total, product = np.empty(N * C, np.float64), np.empty(N * C, np.float64)
    channel_sums(grad, x, center.reshape(-1), total, product)
    total, product = total.reshape(N, C), product.reshape(N, C) * inverse
    grad_weight[...], grad_bias[...] = product.sum(axis=0), total.sum(axis=0)
    if weight is not None:
        total, product = total * weight, product * weight
    count = C // group * HxW
    total = _per_channel(total.reshape(N, group, -1).sum(axis=2) / count, N, C, group)
    product = _per_channel(product.reshape(N, group, -1).sum(axis=2) / count, N, C, group)
    scale = inverse if weight is None else inverse * weight
    slope = -inverse * inverse * product
    shift = -inverse * total - slope * center
    parts = [part.reshape(-1).astype(x.dtype) for part in (scale, slope, shift)]
    combine_channels(grad_input.reshape(x.shape), grad, x, *parts)
