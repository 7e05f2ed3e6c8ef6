"""Loops of batch normalisation over (batch, channels, places).

Statistics are summed in float64, elements then take one multiply-add.
"""

# ruff: noqa: F821 - T is a name of the compiled text.

from __future__ import annotations

import math

import numpy as np

from runtime.kernels.cpu.statistics import squared_distances
from runtime.kernels.typed import typed_sum

BLOCK = 1024  # elements of a row summed in the element type: 16 in each lane of a vector


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
def normalise_by_running(out, x, weight, bias, mean, variance, eps):
    """Normalise by running statistics."""
    scale, shift = np.empty(mean.size, x.dtype), np.empty(mean.size, x.dtype)
    for c in range(mean.size):
        factor = 1 / math.sqrt(np.float64(variance[c]) + eps)
        factor = factor * weight[c] if weight.size else factor
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
            row, upstream, center = x[b, c], grad[b, c], T(mean[c])
            for start in range(0, row.size, BLOCK):
                values, part = row[start : start + BLOCK], upstream[start : start + BLOCK]
                first, second = T(0), T(0)
                for i in range(part.size):
                    first += part[i]
                    second += part[i] * (values[i] - center)
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
