"""Loops of the negative log likelihood over (batch, classes, places), and of cross entropy.

Sums are float64.
"""

# ruff: noqa: F821 - T and exp are names of the compiled text.

from __future__ import annotations

from runtime.kernels.typed import typed

NONE, MEAN, SUM = 0, 1, 2


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


@typed
def nll_backward(grad_input, grad, labels, weights, ignore_index, scale):
    """grad_input[b, t, p] = -weight[t] * grad * scale; `grad` may be one number for all."""
    for b in range(labels.shape[0]):
        for p in range(labels.shape[1]):
            label = labels[b, p]
            if label != ignore_index:
                weight = weights[label] if weights.size else T(1)
                upstream = grad[b, p] if grad.size == labels.size else grad[0, 0]
                grad_input[b, label, p] = -weight * upstream * T(scale)


@typed
def softmax_less_target(
    start, stop, grad_input, logarithms, labels, weights, grad, ignore_index, scale
):
    """The gradient of rows start to stop; `grad` may be one number for all."""
    for r in range(start, stop):
        row, result = logarithms[r], grad_input[r]
        label = labels[r]
        if label == ignore_index:
            result[:] = T(0)
            continue
        factor = (grad[r] if grad.size == labels.size else grad[0]) * T(scale)
        if weights.size:
            factor *= weights[label]
        for i in range(row.size):
            result[i] = exp(row[i]) * factor
        result[label] -= factor
