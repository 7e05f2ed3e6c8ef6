"""Loops of the negative log likelihood over (batch, classes, places), and of cross entropy.

Sums are float64.
"""

from __future__ import annotations

import numpy as np

from torchgen_out._runtime.kernels.typed import typed, typed_sum

NONE, MEAN = 0, 1


@typed
def nll_loss(output, total_weight, scores, labels, weights, reduction, ignore_index):
    """The losses, or their sum or weighted mean; the place of a target that is no class, or -1."""
    rows = labels.shape[0] if reduction == NONE else 0
    each = output[: rows * labels.shape[1]].reshape((rows, labels.shape[1]))
    bad, total, divisor = nll_forward(each, scores, labels, weights, ignore_index)
    total_weight[0] = divisor
    if reduction != NONE:
        output[0] = (total / divisor if divisor else np.nan) if reduction == MEAN else total
    return bad


@typed
def nll_forward(each, scores, labels, weights, ignore_index):
    """Fills `each` unless it is empty; returns (place of a bad target or -1, sum, weights)."""
    total, total_weight = 0.0, 0.0
    for b in range(labels.shape[0]):
        for p in range(labels.shape[1]):
            label = labels[b, p]
            loss, weight = T(0), T(0)
            if label != ignore_index:
                if label < 0 or label >= scores.shape[1]:
                    return b * labels.shape[1] + p, 0.0, 0.0
                weight = weights[label] if weights.size else T(1)
                loss = -weight * scores[b, label, p]
            if each.size:
                each[b, p] = loss
            total += loss
            total_weight += weight
    return -1, total, total_weight


@typed_sum
def smoothed_losses(
    start, stop, each, factors, logarithms, labels, weights, ignore_index, smoothing
):
    """Losses of rows start to stop, and the targets' weights; False for a target that is no class.

    A target keeps 1 - smoothing of its probability; all classes share the rest.
    """
    kept, share = T(1 - smoothing), T(smoothing / logarithms.shape[1])
    for r in range(start, stop):
        row, label = logarithms[r], labels[r]
        each[r], factors[r] = T(0), T(0)
        if label == ignore_index:
            continue
        if label < 0 or label >= row.size:
            return False
        total = T(0)
        if weights.size:
            for i in range(row.size):
                total += weights[i] * row[i]
        else:
            for i in range(row.size):
                total += row[i]
        factors[r] = weights[label] if weights.size else T(1)
        each[r] = -(kept * factors[r] * row[label] + share * total)
    return True


@typed
def cross_entropy_gradient(
    start, stop, out, grad, logarithms, labels, weights, total_weight,
    reduction, ignore_index, smoothing,
):  # fmt: skip
    """weight[t] * grad * (probabilities - 1 at the target), for rows start to stop."""
    scale = 1.0
    if reduction == MEAN:
        divisor = np.float64(total_weight[0])
        scale = 1 / divisor if divisor else 0.0
    numbers = ignore_index, scale, smoothing
    softmax_less_target(start, stop, out, logarithms, labels, weights, grad, *numbers)


@typed
def softmax_less_target(
    start, stop, grad_input, logarithms, labels, weights, grad, ignore_index, scale, smoothing
):
    """The gradient of rows start to stop; `grad` may be one number for all.

    Rows whose target became no class since the forward pass have none.
    """
    classes = logarithms.shape[1]
    kept, share = T(1 - smoothing), T(smoothing / classes)
    spread = T(0)
    if smoothing != 0:
        total = T(0)
        for i in range(weights.size):
            total += weights[i]
        spread = share * (total if weights.size else T(classes))
    for r in range(start, stop):
        row, result = logarithms[r], grad_input[r]
        label = labels[r]
        if label == ignore_index or label < 0 or label >= classes:
            result[:] = T(0)
            continue
        upstream = (grad[r] if grad.size == labels.size else grad[0]) * T(scale)
        factor = upstream * kept
        if weights.size:
            factor *= weights[label]
        less_target(result, row, label, factor, upstream * spread)
        if smoothing != 0:
            less_share(result, weights, upstream * share)


@typed
def less_target(result, row, label, factor, spread):
    """The gradient of what the target keeps, and the probabilities times `spread`."""
    both = factor + spread
    for i in range(row.size):
        result[i] = exp(row[i]) * both
    result[label] -= factor


@typed
def less_share(result, weights, share):
    """What every class has of the target, by its weight."""
    if weights.size:
        for i in range(result.size):
            result[i] -= share * weights[i]
    else:
        for i in range(result.size):
            result[i] -= share
