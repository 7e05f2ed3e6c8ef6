"""Losses over classes: negative log likelihood, and the cross entropy of rows of scores.

`reduction` is 0 for none, 1 for the weighted mean, 2 for the sum. Sums accumulate in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime import errors
from runtime.kernels import threads
from runtime.kernels.cpu.losses import loss_plans
from runtime.kernels.cpu.losses.loss_loops import (
    MEAN,
    NONE,
    SUM,
    nll_backward,
    nll_forward,
    smoothed_losses,
    softmax_less_target,
)
from runtime.kernels.cpu.normalization.softmax import WORK, log_softmax_rows
from runtime.kernels.cpu.planned import planned

Array = Any


@planned(loss_plans.plan_nll_loss)
def nll_loss_forward(
    output: Array,
    total_weight: Array,
    self: Array,
    target: Array,
    weight: Array | None,
    reduction: int,
    ignore_index: int,
) -> None:
    """Write -weight[t] * self[:, t] for each target t, or its sum or weighted mean.

    Raises: IndexError if a target that is not `ignore_index` is no class.
    """
    scores, labels, weights = _arguments(self, target, weight)
    each = output.reshape(labels.shape) if reduction == NONE else np.empty((0, 0), self.dtype)
    bad, total, sum_of_weights = nll_forward(each, scores, labels, weights, ignore_index)
    if bad >= 0:
        raise errors.target_out_of_bounds(labels.flat[bad])
    _reduce(output, total_weight, total, sum_of_weights, reduction)


def _reduce(
    output: Array, total_weight: Array, total: float, sum_of_weights: float, reduction: int
) -> None:
    """Write the sum of the weights, and if asked for, that of the losses, or their mean."""
    total_weight[...] = sum_of_weights
    if reduction == SUM:
        output[...] = total
    elif reduction == MEAN:
        output[...] = total / sum_of_weights if sum_of_weights else np.nan


@planned(loss_plans.plan_nll_loss_backward)
def nll_loss_backward(
    out: Array,
    grad_output: Array,
    target: Array,
    weight: Array | None,
    total_weight: Array,
    sizes: Any,
    reduction: int,
    ignore_index: int,
) -> None:
    """Write -weight[t] * grad at each target's place, 0 elsewhere."""
    out.fill(0)
    scores, labels, weights = _arguments(out, target, weight)
    grad = grad_output.astype(out.dtype, copy=False)
    if reduction == NONE:
        each, scale = np.ascontiguousarray(grad).reshape(labels.shape), 1.0
    else:
        each = np.ones((1, 1), out.dtype)
        scale = float(grad)
        if reduction == MEAN:
            divisor = float(total_weight)
            scale = scale / divisor if divisor else 0.0
    nll_backward(scores, each, labels, weights, ignore_index, scale)


def _arguments(scores: Array, target: Array, weight: Array | None) -> tuple[Array, Array, Array]:
    """(batch, classes, places), (batch, places) and weights, contiguous; no weights is empty."""
    if scores.ndim == 1:
        scores = scores[None]
    batch, classes = scores.shape[:2]
    places = target.size // batch if batch else 0
    flat = np.ascontiguousarray(scores).reshape(batch, classes, places)
    labels = np.ascontiguousarray(target, np.int64).reshape(batch, places)
    weights = np.empty(0, scores.dtype) if weight is None else np.ascontiguousarray(weight)
    return flat, labels, weights


# Cross entropy of rows of scores: log_softmax and nll_loss at once.


@planned(loss_plans.plan_cross_entropy)
def cross_entropy_rows(
    output: Array,
    log_probabilities: Array,
    total_weight: Array,
    self: Array,
    target: Array,
    weight: Array | None,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> None:
    """Write the losses (or their sum or weighted mean) and the logarithms they come from.

    Raises: IndexError if a target that is not `ignore_index` is no class.
    """
    threads.run_rows(log_softmax_rows, (log_probabilities, np.ascontiguousarray(self)), work=WORK)
    arguments = (log_probabilities, target, weight, reduction, ignore_index)
    if label_smoothing:
        _smoothed(output, total_weight, *arguments, label_smoothing)
    else:
        nll_loss_forward(output, total_weight, *arguments)


def _smoothed(
    output: Array,
    total_weight: Array,
    logarithms: Array,
    target: Array,
    weight: Array | None,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> None:
    """The losses of targets of which all classes have a share."""
    scores, labels, weights = _arguments(logarithms, target, weight)
    rows, labels = scores.reshape(scores.shape[:2]), labels.reshape(-1)
    each, factors = np.empty(labels.size, rows.dtype), np.empty(labels.size, rows.dtype)
    arguments = (each, factors, rows, labels, weights, int(ignore_index), float(label_smoothing))
    kernel = smoothed_losses.of(rows.dtype)
    if not threads.run_ranges(kernel, labels.size, rows.size, *arguments):
        bad = (labels != ignore_index) & ((labels < 0) | (labels >= rows.shape[1]))
        raise errors.target_out_of_bounds(labels[bad][0])
    _reduce(
        output, total_weight, each.sum(dtype=np.float64), factors.sum(dtype=np.float64), reduction
    )
    if reduction == NONE:
        output[...] = each.reshape(output.shape)


@planned(loss_plans.plan_cross_entropy_backward)
def cross_entropy_rows_backward(
    out: Array,
    grad_output: Array,
    log_probabilities: Array,
    target: Array,
    weight: Array | None,
    total_weight: Array,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> None:
    """Write weight[t] * grad * (probabilities - 1 at the target) row by row."""
    scores, labels, weights = _arguments(log_probabilities, target, weight)
    upstream = np.ascontiguousarray(grad_output).reshape(-1)
    scale = 1.0
    if reduction == MEAN:
        divisor = float(total_weight)
        scale = 1 / divisor if divisor else 0.0
    rows = scores.reshape(scores.shape[:2])
    arrays = out, rows, labels.reshape(-1), weights, upstream
    numbers = int(ignore_index), float(scale), float(label_smoothing)
    kernel = softmax_less_target.of(out.dtype)
    threads.run_ranges(kernel, labels.size, WORK * out.size, *arrays, *numbers)
