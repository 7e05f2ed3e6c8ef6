"""Loops of batch normalisation over (batch, channels, places).

Statistics are summed in float64, elements then take one multiply-add.
"""

from __future__ import annotations

import math

import numpy as np

from torchgen_out._runtime.kernels.typed import typed_sum

BLOCK = 1024  # elements of a row summed in the element type: 16 in each lane of a vector


@typed_sum
def normalise_batch(
    start,
    stop,
    out,
    x,
    weight,
    bias,
    running_mean,
    running_var,
    save_mean,
    save_invstd,
    momentum,
    eps,
):
    """Normalise channels start to stop by the batch's own statistics, keep these, and let the
    running ones follow."""
    n, count = x.shape[1], x.shape[0] * x.shape[2]
    mean, variance = np.empty(n), np.empty(n)
    scale, shift = np.empty(n, x.dtype), np.empty(n, x.dtype)
    width = channels_at_once(x, stop - start)
    for first in range(start, stop, width):
        last = min(first + width, stop)
        channel_moments(x, mean, variance, first, last)
        for c in range(first, last):
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
        scale_and_shift(out, x, scale, shift, first, last)


@typed_sum
def channels_at_once(x, count):
    """How many of `count` channels go through all passes together: one that fills cache lines."""
    return max(count, 1) if x.shape[2] == 1 else BLOCK // max(x.shape[2], 1) + 1


@typed_sum
def normalise_by_running(start, stop, out, x, weight, bias, mean, variance, eps):
    """Normalise channels start to stop by running statistics."""
    scale, shift = np.empty(mean.size, x.dtype), np.empty(mean.size, x.dtype)
    running_factors(scale, shift, weight, bias, mean, variance, eps, start, stop)
    scale_and_shift(out, x, scale, shift, start, stop)


@typed_sum
def normalise_places(start, stop, out, x, weight, bias, mean, variance, eps):
    """The same for all channels of places start to stop of (places, channels, 1)."""
    scale, shift = np.empty(mean.size, x.dtype), np.empty(mean.size, x.dtype)
    running_factors(scale, shift, weight, bias, mean, variance, eps, 0, mean.size)
    scale_and_shift(out[start:stop], x[start:stop], scale, shift, 0, mean.size)


@typed_sum
def running_factors(scale, shift, weight, bias, mean, variance, eps, first, last):
    """What running statistics make of some channels."""
    for c in range(first, last):
        factor = 1 / math.sqrt(np.float64(variance[c]) + eps)
        factor = factor * weight[c] if weight.size else factor
        scale[c] = factor
        shift[c] = (bias[c] if bias.size else 0.0) - mean[c] * factor


@typed_sum
def batch_gradients(
    start, stop, out, grad_weight, grad_bias, grad, x, weight, mean, spreads, train, eps
):
    """For channels start to stop the gradients of weight and bias and, unless `out` is empty, of x.

    spreads: the inverse deviations of the batch in training, else the running variances.
    That is scale * (grad - total / count - normalised * product / count), as a * grad + b * x + c.
    """
    n, count = x.shape[1], x.shape[0] * x.shape[2]
    total, product, center = np.empty(n), np.empty(n), np.empty(n)
    scale, slope, shift = np.empty(n, x.dtype), np.empty(n, x.dtype), np.empty(n, x.dtype)
    width = channels_at_once(x, stop - start)
    for first in range(start, stop, width):
        last = min(first + width, stop)
        for c in range(first, last):
            center[c] = mean[c]
        channel_sums(grad, x, center, total, product, first, last)
        for c in range(first, last):
            spread = np.float64(spreads[c])
            if not train:
                spread = 1 / math.sqrt(spread + eps)
            product[c] *= spread
            grad_weight[c], grad_bias[c] = product[c], total[c]
            factor = spread * weight[c] if weight.size else spread
            by_x = -factor * spread * product[c] / count if train else 0.0
            scale[c], slope[c] = factor, by_x
            shift[c] = -factor * total[c] / count - by_x * center[c] if train else 0.0
        if out.size:
            combine_channels(out, grad, x, scale, slope, shift, first, last)


@typed_sum
def channel_moments(x, mean, variance, first, last):
    """Mean and (biased) variance of some channels of (batch, channels, places)."""
    batch, count = x.shape[0], x.shape[0] * x.shape[2]
    if x.shape[2] == 1:
        rows = x.reshape(batch, x.shape[1])
        row_wise_moments(rows, mean[first:last], variance[first:last], first)
        return
    for c in range(first, last):
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
def row_wise_moments(x, mean, variance, first):
    """Mean and variance of columns of (batch, channels) from `first` on, rows at a time."""
    mean[:] = 0.0
    variance[:] = 0.0
    for b in range(x.shape[0]):
        row = x[b, first : first + mean.size]
        for c in range(row.size):
            mean[c] += row[c]
    for c in range(mean.size):
        mean[c] /= x.shape[0]
    for b in range(x.shape[0]):
        row = x[b, first : first + mean.size]
        for c in range(row.size):
            distance = row[c] - mean[c]
            variance[c] += distance * distance
    for c in range(mean.size):
        variance[c] /= x.shape[0]


@typed_sum
def scale_and_shift(out, x, scale, shift, first, last):
    """out[b, c, i] = x[b, c, i] * scale[c] + shift[c] for some channels."""
    flat = x.shape[0], x.shape[1] * x.shape[2]
    rows, results = x.reshape(flat), out.reshape(flat)
    for b in range(x.shape[0]):
        if x.shape[2] == 1:
            row, result = rows[b, first:last], results[b, first:last]
            factors, offsets = scale[first:last], shift[first:last]
            for c in range(row.size):
                result[c] = row[c] * factors[c] + offsets[c]
        else:
            for c in range(first, last):
                scale_row(out, x, b, c, scale[c], shift[c])


@typed_sum
def scale_row(out, x, b, c, factor, shift):
    """out[b, c] = x[b, c] * factor + shift.

    Neither is taken out, here and below: views count references, which costs as much as a dozen
    elements.
    """
    for i in range(x.shape[2]):
        out[b, c, i] = x[b, c, i] * factor + shift


@typed_sum
def channel_sums(grad, x, mean, total, product, first, last):
    """Per channel the sums of grad and of grad * (x - mean), for some channels."""
    total[first:last] = 0.0
    product[first:last] = 0.0
    if x.shape[2] == 1:
        rows, upstream = x.reshape(x.shape[:2]), grad.reshape(grad.shape[:2])
        sums = total[first:last], product[first:last]
        channel_sums_of_rows(upstream, rows, mean[first:last], *sums, first)
        return
    for b in range(x.shape[0]):
        for c in range(first, last):
            one, other = sums_of_row(grad, x, b, c, T(mean[c]))
            total[c] += one
            product[c] += other


@typed_sum
def sums_of_row(grad, x, b, c, center):
    """The sums of grad[b, c] and of grad * (x - center) there: blocks in T, then float64."""
    if x.shape[2] > BLOCK:
        return sums_of_long_row(grad[b, c], x[b, c], center)
    first, second = T(0), T(0)
    for i in range(x.shape[2]):
        first += grad[b, c, i]
        second += grad[b, c, i] * (x[b, c, i] - center)
    return np.float64(first), np.float64(second)


@typed_sum
def sums_of_long_row(grad, x, center):
    """The same of a row by itself, of several blocks."""
    total, product = 0.0, 0.0
    for start in range(0, x.size, BLOCK):
        values, part = x[start : start + BLOCK], grad[start : start + BLOCK]
        first, second = T(0), T(0)
        for i in range(part.size):
            first += part[i]
            second += part[i] * (values[i] - center)
        total += first
        product += second
    return total, product


@typed_sum
def channel_sums_of_rows(grad, x, mean, total, product, first):
    """As channel_sums for (batch, channels) from channel `first` on, rows at a time."""
    for b in range(x.shape[0]):
        row, upstream = x[b, first : first + mean.size], grad[b, first : first + mean.size]
        for c in range(row.size):
            total[c] += upstream[c]
            product[c] += upstream[c] * (row[c] - mean[c])


@typed_sum
def combine_channels(out, grad, x, scale, slope, shift, first, last):
    """out = scale * grad + slope * x + shift, with a number per channel, for some channels."""
    flat = x.shape[0], x.shape[1] * x.shape[2]
    rows, grads, results = x.reshape(flat), grad.reshape(flat), out.reshape(flat)
    for b in range(x.shape[0]):
        if x.shape[2] == 1:
            row, upstream, result = (
                rows[b, first:last],
                grads[b, first:last],
                results[b, first:last],
            )
            a, k, d = scale[first:last], slope[first:last], shift[first:last]
            for c in range(row.size):
                result[c] = a[c] * upstream[c] + (k[c] * row[c] + d[c])
        else:
            for c in range(first, last):
                combine_row(out, grad, x, b, c, scale[c], slope[c], shift[c])


@typed_sum
def combine_row(out, grad, x, b, c, scale, slope, shift):
    """out[b, c] = scale * grad[b, c] + slope * x[b, c] + shift."""
    for i in range(x.shape[2]):
        out[b, c, i] = scale * grad[b, c, i] + (slope * x[b, c, i] + shift)


@typed_sum
def squared_distances(row, center):
    """The sum of squared distances from `center`, in float64."""
    total = 0.0
    for i in range(row.size):
        distance = row[i] - center
        total += distance * distance
    return total
