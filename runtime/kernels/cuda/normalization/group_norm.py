"""Group normalisation: each channel of each sample is a channel of one sample."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.normalization.batch_norm import (
    combine_channels,
    scale_and_shift,
)
from torchgen_out._runtime.kernels.cuda.normalization.channels import channel_moments, channel_sums
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue


def native_group_norm(
    queue: Queue,
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
    if not input.numel:
        queue.fill(mean, 0)
        queue.fill(rstd, float("nan"))
        return
    center, variance = (queue.empty((N * group,), input.dtype.opmath) for _ in range(2))
    scale, shift = (queue.empty((N * C,), input.dtype.opmath) for _ in range(2))
    per_group = Folded(1, N * group, C // group * HxW)
    channel_moments(queue, center, variance, input, per_group)
    flags = {"HAS_WEIGHT": weight is not None, "HAS_BIAS": bias is not None}
    operands = (input, scale, shift, center, variance, weight, bias, mean, rstd)
    run_elements(queue, group_coefficients, N * C, *operands, N * C, C, C // group, eps, **flags)
    scale_and_shift(queue, out, input, scale, shift, Folded(1, N * C, HxW))


@device_kernel("X* T* T* T* T* Y* Y* Y* Y*", "I I I T")
def group_coefficients(
    x, scale, shift, mean, variance, weight, bias, save_mean, save_rstd,
    n, channels, per_group, eps,
):  # fmt: skip
    """A thread owns channels of samples at the distance of the grid; the first of a group keeps
    its statistics."""
    i = I(cuda.grid(1))
    while i < n:
        group = divided(i, per_group)
        c = I(i - divided(i, channels) * channels)
        inverse = T(T(1) / sqrt(T(variance[group] + eps)))
        if group * per_group == i:
            save_mean[group] = store_Y(mean[group])
            save_rstd[group] = store_Y(inverse)
        factor = T(inverse * load_Y(weight[c])) if HAS_WEIGHT else inverse
        offset = load_Y(bias[c]) if HAS_BIAS else T(0)
        scale[i] = factor
        shift[i] = T(offset - mean[group] * factor)
        i = I(i + cuda.gridsize(1))


def native_group_norm_backward(
    queue: Queue,
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
    dtype = input.dtype.opmath
    center, total, product, scale, slope, shift = (queue.empty((N * C,), dtype) for _ in range(6))
    per_group = C // group
    given = (input, mean, center)
    run_elements(queue, spread_over_groups, N * C, *given, N * C, per_group)
    channel_sums(queue, total, product, grad_out, input, center, Folded(1, N * C, HxW))
    sums = (input, total, product, mean, rstd, weight)
    flags = {"HAS_WEIGHT": weight is not None}
    numbers = (N * group, C, per_group, HxW)
    factors = (scale, slope, shift)
    run_elements(queue, group_slopes, N * group, *sums, *factors, *numbers, **flags)
    gradients = (input, total, product, rstd, grad_weight, grad_bias)
    run_elements(queue, sums_over_samples, C, *gradients, N, C, per_group)
    operands = (grad_input, grad_out, input, *factors)
    combine_channels(queue, *operands, Folded(1, N * C, HxW))


@device_kernel("X* Y* T*", "I I")
def spread_over_groups(x, mean, center, n, per_group):
    """A thread owns channels of samples at the distance of the grid: the mean of their group."""
    i = I(cuda.grid(1))
    while i < n:
        center[i] = load_Y(mean[divided(i, per_group)])
        i = I(i + cuda.gridsize(1))


@device_kernel("X* T* T* Y* Y* Y* T* T* T*", "I I I I")
def group_slopes(
    x, total, product, mean, rstd, weight, scale, slope, shift,
    groups, channels, per_group, places,
):  # fmt: skip
    """A thread owns groups at the distance of the grid: what the gradients of their channels are
    made of."""
    g = I(cuda.grid(1))
    while g < groups:
        inverse, center = load_Y(rstd[g]), load_Y(mean[g])
        # 1. The sums over the group's channels.
        first, second = T(0), T(0)
        for k in range(per_group):
            i = I(g * per_group + k)
            factor = load_Y(weight[i - divided(i, channels) * channels]) if HAS_WEIGHT else T(1)
            first = T(first + total[i] * factor)
            second = T(second + product[i] * inverse * factor)
        count = T(I(per_group * places))
        by_x = T(-inverse * inverse * second / count)
        # 2. The coefficients of each channel.
        for k in range(per_group):
            i = I(g * per_group + k)
            factor = load_Y(weight[i - divided(i, channels) * channels]) if HAS_WEIGHT else T(1)
            scale[i] = T(inverse * factor)
            slope[i] = by_x
            shift[i] = T(-inverse * first / count - by_x * center)
        g = I(g + cuda.gridsize(1))


@device_kernel("X* T* T* Y* Y* Y*", "I I I")
def sums_over_samples(
    x, total, product, rstd, grad_weight, grad_bias, samples, channels, per_group
):
    """A thread owns channels at the distance of the grid, and sums over the samples."""
    c = I(cuda.grid(1))
    while c < channels:
        first, second = T(0), T(0)
        for sample in range(samples):
            i = I(sample * channels + c)
            first = T(first + total[i])
            second = T(second + product[i] * load_Y(rstd[divided(i, per_group)]))
        grad_weight[c] = store_Y(second)
        grad_bias[c] = store_Y(first)
        c = I(c + cuda.gridsize(1))
