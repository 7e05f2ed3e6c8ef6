"""Plans of the negative log likelihood and of cross entropy: a compiled loop or two each way."""

# ruff: noqa: F821 - T is a name of the compiled text.

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from runtime import errors
from runtime.kernels import threads
from runtime.kernels.cpu.loop_plans import View, operand, out, plan_loop, plan_ranges
from runtime.kernels.cpu.losses.loss_loops import (
    MEAN,
    NONE,
    nll_backward,
    nll_forward,
    softmax_less_target,
)
from runtime.kernels.cpu.normalization.softmax import WORK, log_softmax_flat
from runtime.kernels.cpu.planned import Operand, Plan
from runtime.kernels.cpu.small import INT64, entry_for
from runtime.kernels.typed import typed

Array = Any


def plan_nll_loss(
    output: Operand,
    total_weight: Operand,
    self: Operand,
    target: Operand,
    weight: Operand | None,
    reduction: int,
    ignore_index: int,
) -> Plan | None:
    """Plan `nll_loss_forward`."""
    if not _suit(target, output, self, weight):
        return None
    operands = [self, target, weight]
    views = [*_flat(out, output, total_weight), *_flat(operand, *operands)]
    numbers = *_batch_and_classes(self.sizes), reduction, ignore_index
    plan = plan_loop(nll_loss_flat, [output, total_weight], operands, *views, *numbers)
    return _with_checked_targets(plan, 3, 2 if weight is None else 3)


def _flat(place: Callable[..., View], *given: Operand | None) -> list[View]:
    """Each operand as a vector of its elements."""
    return [place(i, prod(each.sizes) if each else 0) for i, each in enumerate(given)]


def _with_checked_targets(plan: Plan, labels: int, operands: int) -> Plan:
    """The plan of a loop that answers at which target, if any, there is no class.

    labels: the place of the targets among what it is given; their offset stands `operands` behind.
    """
    loop = plan.run

    def run(*args: Any) -> None:
        bad = loop(*args)
        if bad >= 0:
            raise errors.target_out_of_bounds(args[labels][args[labels + operands] + bad])

    return Plan(run, plan.number)


def plan_nll_loss_backward(
    grad_input: Operand,
    grad_output: Operand,
    target: Operand,
    weight: Operand | None,
    total_weight: Operand,
    sizes: Sequence[int],
    reduction: int,
    ignore_index: int,
) -> Plan | None:
    """Plan `nll_loss_backward`."""
    if not _suit(target, grad_input, grad_output, weight, total_weight):
        return None
    operands = [grad_output, target, weight, total_weight]
    views = [*_flat(out, grad_input), *_flat(operand, *operands)]
    numbers = *_batch_and_classes(sizes), reduction, ignore_index
    return plan_loop(nll_loss_backward_flat, [grad_input], operands, *views, *numbers)


def plan_cross_entropy(
    output: Operand,
    log_probabilities: Operand,
    total_weight: Operand,
    self: Operand,
    target: Operand,
    weight: Operand | None,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> Plan | None:
    """Plan `cross_entropy_rows`: logarithms of the softmax, then the losses of these."""
    if label_smoothing:
        return None
    likelihood = plan_nll_loss(output, total_weight, self, target, weight, reduction, ignore_index)
    if likelihood is None:
        return None
    dtype, classes = output.dtype, self.sizes[-1]
    entry = entry_for(log_softmax_flat, dtype, int, int, dtype, dtype, int, int)
    place = 2 if weight is None else 3
    rows, work = prod(target.sizes), WORK * prod(self.sizes)

    def run(output: Array, logarithms: Array, divisor: Array, scores: Array, *others: Any) -> None:
        threads.run_ranges(entry, rows, work, logarithms, scores, others[place - 1], classes)
        arrays, offsets = others[: place - 1], others[place:]
        likelihood.run(output, divisor, logarithms, *arrays, 0, *offsets)

    return Plan(run, likelihood.number)


def plan_cross_entropy_backward(
    grad_input: Operand,
    grad_output: Operand,
    log_probabilities: Operand,
    target: Operand,
    weight: Operand | None,
    total_weight: Operand,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> Plan | None:
    """Plan `cross_entropy_rows_backward`."""
    operands = [grad_output, log_probabilities, target, weight, total_weight]
    if not _suit(target, grad_input, grad_output, log_probabilities, weight, total_weight):
        return None
    views = [*_flat(out, grad_input), *_flat(operand, *operands)]
    numbers = grad_input.sizes[-1], reduction, ignore_index, float(label_smoothing)
    rows, work = prod(target.sizes), WORK * prod(grad_input.sizes)
    given = [grad_input], operands, *views, *numbers
    return plan_ranges(cross_entropy_backward_flat, rows, work, *given)


def _suit(target: Operand, out: Operand, *others: Operand | None) -> bool:
    """Whether all that are given are dense, numbers of one dtype, and not empty."""
    given = [each for each in others if each is not None]
    return (
        out.dtype.name in ("float32", "float64")
        and target.dtype == INT64
        and all(each.dtype == out.dtype for each in given)
        and all(each.is_contiguous and prod(each.sizes) for each in (target, *given))
    )


def _batch_and_classes(sizes: Sequence[int]) -> tuple[int, int]:
    return (1, sizes[0]) if len(sizes) == 1 else (sizes[0], sizes[1])


@typed
def nll_loss_flat(
    output, total_weight, scores, labels, weights, batch, classes, reduction, ignore_index
):
    """The losses, or their sum or weighted mean; the place of a target that is no class, or -1."""
    places = labels.size // batch
    rows = batch if reduction == NONE else 0
    each = output[: rows * places].reshape((rows, places))
    shape = (batch, classes, places)
    bad, total, divisor = nll_forward(
        each, scores.reshape(shape), labels.reshape((batch, places)), weights, ignore_index
    )
    total_weight[0] = divisor
    if reduction != NONE:
        output[0] = (total / divisor if divisor else np.nan) if reduction == MEAN else total
    return bad


@typed
def nll_loss_backward_flat(
    out, grad, labels, weights, total_weight, batch, classes, reduction, ignore_index
):
    """-weight[t] * grad at each target's place, 0 elsewhere."""
    out[:] = T(0)
    places = labels.size // batch
    labels = labels.reshape((batch, places))
    shape = (batch, classes, places)
    if reduction == NONE:
        upstream, scale = grad.reshape((batch, places)), 1.0
    else:
        upstream, scale = np.ones((1, 1), out.dtype), np.float64(grad[0])
        if reduction == MEAN:
            divisor = np.float64(total_weight[0])
            scale = scale / divisor if divisor else 0.0
    nll_backward(out.reshape(shape), upstream, labels, weights, ignore_index, scale)


@typed
def cross_entropy_backward_flat(
    start,
    stop,
    out,
    grad,
    logarithms,
    labels,
    weights,
    total_weight,
    classes,
    reduction,
    ignore_index,
    smoothing,
):
    """weight[t] * grad * (probabilities - 1 at the target), for rows start to stop."""
    scale = 1.0
    if reduction == MEAN:
        divisor = np.float64(total_weight[0])
        scale = 1 / divisor if divisor else 0.0
    shape = (labels.size, classes)
    result, rows = out.reshape(shape), logarithms.reshape(shape)
    numbers = ignore_index, scale, smoothing
    softmax_less_target(start, stop, result, rows, labels, weights, grad, *numbers)
