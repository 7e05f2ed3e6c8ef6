"""Losses over classes: negative log likelihood, and the cross entropy of rows of scores.

`reduction` is 0 for none, 1 for the weighted mean, 2 for the sum. Sums accumulate in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels.common.index import program_of
from torchgen_out._runtime.kernels.cpu.loop_plans import View, operand, out, plan_loop, plan_ranges
from torchgen_out._runtime.kernels.cpu.loss.loss_loops import (
    MEAN,
    NONE,
    cross_entropy_gradient,
    nll_loss,
    smoothed_losses,
)
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any
WORK = 4
"""How much more an element of a gradient costs than in element-wise work."""


@planned(results=2)
def nll_loss_forward(
    output: TensorSpec,
    total_weight: TensorSpec,
    self: TensorSpec,
    target: TensorSpec,
    weight: TensorSpec | None,
    reduction: int,
    ignore_index: int,
) -> LaunchPlan:
    """Write -weight[t] * self[:, t] for each target t, or its sum or weighted mean.

    Raises: IndexError if a target that is not `ignore_index` is no class.
    """
    shape, labels = _shapes(self.sizes, target)
    plan = plan_loop(
        nll_loss,
        *([output, total_weight], [self, target, weight]),
        *(out(0, output.numel), out(1, 1), operand(0, *shape), operand(1, *labels)),
        *(_vector(2, weight), reduction, ignore_index),
    )
    behind = 2 if weight is None else 3

    def run(*args: Any) -> None:
        bad = plan.run(*args)
        if bad >= 0:
            raise errors.target_out_of_bounds(args[3][args[3 + behind] + bad])

    return LaunchPlan(run, plan.params)


def _shapes(sizes: Sequence[int], target: TensorSpec) -> tuple[tuple[int, ...], tuple[int, int]]:
    """Scores as (batch, classes, places), targets as (batch, places)."""
    batch, classes = (1, sizes[0]) if len(sizes) == 1 else sizes[:2]
    places = target.numel // batch if batch else 0
    return (batch, classes, places), (batch, places)


def _vector(number: int, given: TensorSpec | None) -> View:
    """An operand as a vector; one that is not given is empty."""
    return operand(number, given.numel if given else 0)


# Cross entropy of rows of scores: log_softmax and nll_loss at once.


@cache
def _log_softmax() -> Any:
    return program_of("log_softmax_int").kernel_for("torchgen_out._runtime.kernels.cpu")


@planned(results=3)
def cross_entropy_rows(
    output: TensorSpec,
    log_probabilities: TensorSpec,
    total_weight: TensorSpec,
    self: TensorSpec,
    target: TensorSpec,
    weight: TensorSpec | None,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> LaunchPlan:
    """Write the losses (or their sum or weighted mean) and the logarithms they come from.

    Raises: IndexError if a target that is not `ignore_index` is no class.
    """
    given = output, total_weight, log_probabilities, target, weight, reduction, ignore_index
    if label_smoothing:
        likelihood = _plan_smoothed(*given, float(label_smoothing))
    else:
        likelihood = nll_loss_forward.plan(*given)
    rows = _log_softmax().plan(log_probabilities, self, 1, None)
    behind = 1 if weight is None else 2

    def run(output: Array, logarithms: Array, divisor: Array, scores: Array, *others: Any) -> None:
        arrays, (start, *offsets) = others[:behind], others[behind:-1]
        rows.run(logarithms, scores, start, rows.params)
        likelihood.run(output, divisor, logarithms, *arrays, 0, *offsets, likelihood.params)

    return LaunchPlan(run, None)


def _plan_smoothed(
    output: TensorSpec,
    total_weight: TensorSpec,
    logarithms: TensorSpec,
    target: TensorSpec,
    weight: TensorSpec | None,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> LaunchPlan:
    """The losses of targets of which all classes have a share."""
    (count, classes), dtype = logarithms.sizes, logarithms.dtype
    vector = TensorSpec(dtype, (count,), (1,))
    losses = plan_ranges(
        smoothed_losses,
        *(count, count * classes, [vector, vector], [logarithms, target, weight]),
        *(out(0, count), out(1, count), operand(0, count, classes), operand(1, count)),
        *(_vector(2, weight), ignore_index, label_smoothing),
    )
    place = 2 if weight is None else 3

    def run(output: Array, total_weight: Array, *given: Any) -> None:
        each, factors = np.empty(count, dtype), np.empty(count, dtype)
        if not losses.run(each, factors, *given):
            labels = given[1][given[place + 1] :][:count]
            bad = (labels != ignore_index) & ((labels < 0) | (labels >= classes))
            raise errors.target_out_of_bounds(labels[bad][0])
        total, divisor = each.sum(dtype=np.float64), factors.sum(dtype=np.float64)
        total_weight[0] = divisor
        if reduction == NONE:
            output[:] = each
        elif reduction == MEAN:
            output[0] = total / divisor if divisor else np.nan
        else:
            output[0] = total

    return LaunchPlan(run, losses.params)


@planned()
def cross_entropy_rows_backward(
    grad_input: TensorSpec,
    grad_output: TensorSpec,
    log_probabilities: TensorSpec,
    target: TensorSpec,
    weight: TensorSpec | None,
    total_weight: TensorSpec,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> LaunchPlan:
    """Write weight[t] * grad * (probabilities - 1 at the target) row by row."""
    shape = grad_input.sizes
    return plan_ranges(
        cross_entropy_gradient,
        *(target.numel, WORK * grad_input.numel, [grad_input]),
        [grad_output, log_probabilities, target, weight, total_weight],
        *(out(0, *shape), _vector(0, grad_output), operand(1, *shape), _vector(2, target)),
        *(_vector(3, weight), operand(4, 1), reduction, ignore_index, float(label_smoothing)),
    )
