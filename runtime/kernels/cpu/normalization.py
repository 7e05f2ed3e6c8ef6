"""Batch and layer normalisation: statistics in float64, one multiply-add per element.

Batch normalisation sees (batch, channels, places), layer normalisation (rows, n).
"""

# ruff: noqa: F821 - T is a name of the compiled text.

from __future__ import annotations

import math
from math import prod
from typing import Any

import numpy as np

from runtime.kernels.cpu.statistics import row_mean, squared_distances
from runtime.kernels.typed import typed_sum

Array = Any
ROWS_SUMMED, ELEMENTS_SUMMED = 64, 4096  # in the element type, before float64 takes over
quiet = np.errstate(all="ignore")  # inf and NaN are values here, not worth a warning


# Batch normalisation.


@quiet
def native_batch_norm(
    out: Array,
    save_mean: Array,
    save_invstd: Array,
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
    momentum: float,
    eps: float,
) -> None:
    """Write the normalised input and, in training, the statistics; update the running ones."""
    x = channels(input)
    result = out.reshape(x.shape)
    if training:
        optional = [_given(each, x) for each in (weight, bias, running_mean, running_var)]
        normalise_batch(result, x, *optional, save_mean, save_invstd, momentum, eps)
        return
    mean = running_mean.astype(np.float64)  # type: ignore[union-attr]
    invstd = 1 / np.sqrt(running_var.astype(np.float64) + eps)  # type: ignore[union-attr]
    scale = invstd if weight is None else invstd * weight
    shift = -mean * scale if bias is None else bias - mean * scale
    scale_and_shift(result, x, scale.astype(x.dtype), shift.astype(x.dtype))


def _given(parameter: Array | None, x: Array) -> Array:
    """A parameter for compiled code: an empty array stands for one that is not given."""
    return np.empty(0, x.dtype) if parameter is None else parameter


def channels(array: Array) -> Array:
    """The array as contiguous (batch, channels, places)."""
    sizes = array.shape
    return np.ascontiguousarray(array).reshape(sizes[0], sizes[1], prod(sizes[2:]))


@quiet
def native_batch_norm_backward(
    grad_input: Array,
    grad_weight: Array,
    grad_bias: Array,
    grad_out: Array,
    input: Array,
    weight: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    save_mean: Array | None,
    save_invstd: Array | None,
    train: bool,
    eps: float,
    output_mask: Any,
) -> None:
    """Write the gradients; that of the input only if `output_mask[0]`."""
    x, grad = channels(input), channels(grad_out)
    if train:
        mean, invstd = save_mean, save_invstd
    else:
        mean = running_mean.astype(np.float64)  # type: ignore[union-attr]
        invstd = 1 / np.sqrt(running_var.astype(np.float64) + eps)  # type: ignore[union-attr]
    result = grad_input.reshape(x.shape) if output_mask[0] else np.empty((0, 0, 0), x.dtype)
    sums = grad_weight, grad_bias
    batch_gradients(result, *sums, grad, x, _given(weight, x), mean, invstd, bool(train))


@typed_sum
def normalise_batch(
    out, x, weight, bias, running_mean, running_var, save_mean, save_invstd, momentum, eps
):
    """Normalise by the batch's own statistics, keep these, and let the running ones follow."""
    n, count = x.shape[1], x.shape[0] * x.shape[2]
    mean, variance = np.empty(n), np.empty(n)
    scale, shift = np.empty(n, x.dtype), np.empty(n, x.dtype)
    channel_moments(x, mean, variance)
    for c in range(n):
        if running_mean.size:
            running_mean[c] = running_mean[c] * (1 - momentum) + momentum * mean[c]
        if running_var.size:
            unbiased = variance[c] * (count / max(count - 1, 1))
            running_var[c] = running_var[c] * (1 - momentum) + momentum * unbiased
        invstd = 1 / math.sqrt(variance[c] + eps)
        save_mean[c], save_invstd[c] = mean[c], invstd
        factor = invstd * weight[c] if weight.size else invstd
        scale[c] = factor
        shift[c] = (bias[c] if bias.size else 0.0) - mean[c] * factor
    scale_and_shift(out, x, scale, shift)


@typed_sum
def batch_gradients(out, grad_weight, grad_bias, grad, x, weight, mean, invstd, train):
    """The gradients of weight and bias and, unless `out` is empty, of x.

    That is scale * (grad - total / count - normalised * product / count), as a * grad + b * x + c.
    """
    n, count = x.shape[1], x.shape[0] * x.shape[2]
    total, product, center = np.empty(n), np.empty(n), np.empty(n)
    scale, slope, shift = np.empty(n, x.dtype), np.empty(n, x.dtype), np.empty(n, x.dtype)
    for c in range(n):
        center[c] = mean[c]
    channel_sums(grad, x, center, total, product)
    for c in range(n):
        spread = np.float64(invstd[c])
        product[c] *= spread
        grad_weight[c], grad_bias[c] = product[c], total[c]
        factor = spread * weight[c] if weight.size else spread
        by_x = -factor * spread * product[c] / count if train else 0.0
        scale[c], slope[c] = factor, by_x
        shift[c] = -factor * total[c] / count - by_x * center[c] if train else 0.0
    if out.size:
        combine_channels(out, grad, x, scale, slope, shift)


@typed_sum
def channel_moments(x, mean, variance):
    """Mean and (biased) variance of each channel of (batch, channels, places)."""
    batch, count = x.shape[0], x.shape[0] * x.shape[2]
    if x.shape[2] == 1:
        row_wise_moments(x.reshape(batch, x.shape[1]), mean, variance)
        return
    for c in range(x.shape[1]):
        total = 0.0
        for b in range(batch):
            row = x[b, c]
            for i in range(row.size):
                total += row[i]
        center = total / count
        squares = 0.0
        for b in range(batch):
            squares += squared_distances(x[b, c], center)
        mean[c] = center
        variance[c] = squares / count


@typed_sum
def row_wise_moments(x, mean, variance):
    """Mean and variance of each column of (batch, channels), whole rows at a time."""
    mean[:] = 0.0
    variance[:] = 0.0
    for b in range(x.shape[0]):
        row = x[b]
        for c in range(row.size):
            mean[c] += row[c]
    for c in range(mean.size):
        mean[c] /= x.shape[0]
    for b in range(x.shape[0]):
        row = x[b]
        for c in range(row.size):
            distance = row[c] - mean[c]
            variance[c] += distance * distance
    for c in range(mean.size):
        variance[c] /= x.shape[0]


@typed_sum
def scale_and_shift(out, x, scale, shift):
    """out[b, c, i] = x[b, c, i] * scale[c] + shift[c]."""
    flat = x.shape[0], x.shape[1] * x.shape[2]
    rows, results = x.reshape(flat), out.reshape(flat)
    for b in range(x.shape[0]):
        if x.shape[2] == 1:
            row, result = rows[b], results[b]
            for c in range(row.size):
                result[c] = row[c] * scale[c] + shift[c]
        else:
            for c in range(x.shape[1]):
                row, result = x[b, c], out[b, c]
                factor, offset = scale[c], shift[c]
                for i in range(row.size):
                    result[i] = row[i] * factor + offset


@typed_sum
def channel_sums(grad, x, mean, total, product):
    """Per channel the sums of grad and of grad * (x - mean)."""
    total[:] = 0.0
    product[:] = 0.0
    if x.shape[2] == 1:
        channel_sums_of_rows(
            grad.reshape(grad.shape[:2]), x.reshape(x.shape[:2]), mean, total, product
        )
        return
    for b in range(x.shape[0]):
        for c in range(x.shape[1]):
            row, upstream = x[b, c], grad[b, c]
            center = mean[c]
            first, second = 0.0, 0.0
            for i in range(row.size):
                first += upstream[i]
                second += upstream[i] * (row[i] - center)
            total[c] += first
            product[c] += second


@typed_sum
def channel_sums_of_rows(grad, x, mean, total, product):
    """As channel_sums for (batch, channels), whole rows at a time."""
    for b in range(x.shape[0]):
        row, upstream = x[b], grad[b]
        for c in range(row.size):
            total[c] += upstream[c]
            product[c] += upstream[c] * (row[c] - mean[c])


@typed_sum
def combine_channels(out, grad, x, scale, slope, shift):
    """out = scale * grad + slope * x + shift, with a number per channel."""
    flat = x.shape[0], x.shape[1] * x.shape[2]
    rows, grads, results = x.reshape(flat), grad.reshape(flat), out.reshape(flat)
    for b in range(x.shape[0]):
        if x.shape[2] == 1:
            row, upstream, result = rows[b], grads[b], results[b]
            for c in range(row.size):
                result[c] = scale[c] * upstream[c] + (slope[c] * row[c] + shift[c])
            continue
        for c in range(x.shape[1]):
            row, upstream, result = x[b, c], grad[b, c], out[b, c]
            first, second, third = scale[c], slope[c], shift[c]
            for i in range(row.size):
                result[i] = first * upstream[i] + (second * row[i] + third)


# Group normalisation: each channel of each sample is a channel of one sample.


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
    x = np.ascontiguousarray(input).reshape(1, N * C, HxW)
    groups = x.reshape(1, N * group, C // group * HxW)
    center, variance = np.empty(N * group, np.float64), np.empty(N * group, np.float64)
    channel_moments(groups, center, variance)
    inverse = 1 / np.sqrt(variance + eps)
    mean[...], rstd[...] = center.reshape(mean.shape), inverse.reshape(rstd.shape)
    scale = _per_channel(inverse, N, C, group)
    if weight is not None:
        scale = scale * weight
    shift = -_per_channel(center, N, C, group) * scale
    if bias is not None:
        shift = shift + bias
    parts = (scale.reshape(-1).astype(x.dtype), shift.reshape(-1).astype(x.dtype))
    scale_and_shift(out.reshape(x.shape), x, *parts)


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


# Layer normalisation.


def native_layer_norm(
    out: Array,
    mean: Array,
    rstd: Array,
    input: Array,
    normalized_shape: Any,
    weight: Array | None,
    bias: Array | None,
    eps: float,
) -> None:
    """Write the input normalised over its last dims, and each row's statistics."""
    n = prod(normalized_shape)
    x = np.ascontiguousarray(input).reshape(mean.size, n)
    layer_norm_rows(
        out.reshape(x.shape),
        x,
        _flat(weight, x.dtype),
        _flat(bias, x.dtype),
        mean.reshape(-1),
        rstd.reshape(-1),
        eps,
    )


def _flat(parameter: Array | None, dtype: Any) -> Array:
    """A parameter as a contiguous vector; an absent one is empty."""
    if parameter is None:
        return np.empty(0, dtype)
    return np.ascontiguousarray(parameter).reshape(-1)


@quiet
def native_layer_norm_backward(
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
    n = prod(normalized_shape)
    x = np.ascontiguousarray(input).reshape(mean.size, n)
    sums = np.zeros((2, n), np.float64)
    layer_norm_backward_rows(
        grad_input.reshape(x.shape),
        np.ascontiguousarray(grad_out).reshape(x.shape),
        x,
        _flat(weight, x.dtype),
        np.ascontiguousarray(mean).reshape(-1),
        np.ascontiguousarray(rstd).reshape(-1),
        sums[0],
        sums[1],
    )
    grad_weight[...] = sums[0].reshape(grad_weight.shape)
    grad_bias[...] = sums[1].reshape(grad_bias.shape)


@typed_sum
def layer_norm_rows(out, x, weight, bias, mean, rstd, eps):
    """Each row less its mean, over its standard deviation, times weight, plus bias."""
    n = x.shape[1]
    for r in range(x.shape[0]):
        row, result = x[r], out[r]
        center = row_mean(row)
        inverse = 1.0 / math.sqrt(squared_distances(row, center) / n + eps)
        mean[r] = center
        rstd[r] = inverse
        factor, offset = T(inverse), T(-center * inverse)
        if weight.size and bias.size:
            for i in range(n):
                result[i] = (row[i] * factor + offset) * weight[i] + bias[i]
        elif weight.size:
            for i in range(n):
                result[i] = (row[i] * factor + offset) * weight[i]
        else:
            for i in range(n):
                result[i] = row[i] * factor + offset
            for i in range(bias.size):
                result[i] += bias[i]


@typed_sum
def layer_norm_backward_rows(grad_input, grad, x, weight, mean, rstd, grad_weight, grad_bias):
    """With h = (x - mean) * rstd and g = grad * weight: rstd * (g - mean(g) - h * mean(g * h)).

    The parameters' gradients are summed in T over blocks of rows, then in float64.
    """
    rows, n = x.shape
    weight_sums, bias_sums = np.empty(n, x.dtype), np.empty(n, x.dtype)
    scaled = np.empty(n, x.dtype)  # not in place: a loop over arrays that overlap is not vectorised
    for block in range(0, rows, ROWS_SUMMED):
        weight_sums[:] = T(0)
        bias_sums[:] = T(0)
        for r in range(block, min(block + ROWS_SUMMED, rows)):
            inverse, offset = T(rstd[r]), T(-mean[r] * rstd[r])
            result, upstream, row = grad_input[r], grad[r], x[r]
            add_parameter_gradients(weight_sums, bias_sums, upstream, row, inverse, offset)
            if weight.size:
                for i in range(n):
                    scaled[i] = upstream[i] * weight[i]
                upstream = scaled
            spread_gradient(result, upstream, row, inverse, offset)
        for i in range(n):
            grad_weight[i] += weight_sums[i]
            grad_bias[i] += bias_sums[i]


@typed_sum
def add_parameter_gradients(weight_sums, bias_sums, grad, row, inverse, offset):
    """weight_sums += grad * h; bias_sums += grad."""
    for i in range(row.size):
        weight_sums[i] += grad[i] * (row[i] * inverse + offset)
        bias_sums[i] += grad[i]


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
