"""Plans of the negative log likelihood and of cross entropy: a compiled loop or two each way."""

# ruff: noqa: F821 - T is a name of the compiled text.

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from runtime import errors
from runtime.kernels.cpu.loss_loops import (
    MEAN,
    NONE,
    nll_backward,
    nll_forward,
    softmax_less_target,
)
from runtime.kernels.cpu.planned import Operand, Plan
from runtime.kernels.cpu.small import INT64, entry_for, make_gathering
from runtime.kernels.cpu.softmax import log_softmax_flat
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
    arrays = (output.dtype,) * 3 + (INT64, output.dtype)
    entry = entry_for(nll_loss_flat, output.dtype, *arrays, *(int,) * 4)
    given = [self, target, weight]
    gather, count = make_gathering(given, output.dtype), 2 + (weight is not None)

    def run(output: Array, total_weight: Array, *others: Any) -> None:
        arrays = gather(others[:count], others[count:-1])
        bad = entry(output, total_weight, *arrays, *others[-1])
        if bad >= 0:
            raise errors.target_out_of_bounds(arrays[1][bad])

    return Plan(run, (*_batch_and_classes(self.sizes), reduction, ignore_index))


def plan_nll_loss_backward(
    out: Operand,
    grad_output: Operand,
    target: Operand,
    weight: Operand | None,
    total_weight: Operand,
    sizes: Sequence[int],
    reduction: int,
    ignore_index: int,
) -> Plan | None:
    """Plan `nll_loss_backward`."""
    if not _suit(target, out, grad_output, weight, total_weight):
        return None
    arrays = out.dtype, out.dtype, INT64, out.dtype, out.dtype
    entry = entry_for(nll_loss_backward_flat, out.dtype, *arrays, *(int,) * 4)
    given = [grad_output, target, weight, total_weight]
    gather, count = make_gathering(given, out.dtype), 3 + (weight is not None)

    def run(out: Array, *others: Any) -> None:
        entry(out, *gather(others[:count], others[count:-1]), *others[-1])

    return Plan(run, (*_batch_and_classes(sizes), reduction, ignore_index))


def plan_cross_entropy(
    output: Operand,
    log_probabilities: Operand,
    total_weight: Operand,
    self: Operand,
    target: Operand,
    weight: Operand | None,
    reduction: int,
    ignore_index: int,
) -> Plan | None:
    """Plan `cross_entropy_rows`: logarithms of the softmax, then the losses of these."""
    likelihood = plan_nll_loss(output, total_weight, self, target, weight, reduction, ignore_index)
    if likelihood is None:
        return None
    dtype, count = output.dtype, prod(self.sizes)
    entry = entry_for(log_softmax_flat, dtype, dtype, dtype, int, int)
    classes = self.sizes[-1]

    def run(output: Array, logarithms: Array, divisor: Array, *others: Any) -> None:
        *arrays_and_offsets, numbers = others
        operands = len(arrays_and_offsets) // 2
        offsets = arrays_and_offsets[operands:]
        entry(logarithms, arrays_and_offsets[0], offsets[0], classes)
        arrays_and_offsets[0], arrays_and_offsets[operands] = logarithms[:count], 0
        likelihood.run(output, divisor, *arrays_and_offsets, numbers)

    return Plan(run, likelihood.number)


def plan_cross_entropy_backward(
    out: Operand,
    grad_output: Operand,
    log_probabilities: Operand,
    target: Operand,
    weight: Operand | None,
    total_weight: Operand,
    reduction: int,
    ignore_index: int,
) -> Plan | None:
    """Plan `cross_entropy_rows_backward`."""
    if not _suit(target, out, grad_output, log_probabilities, weight, total_weight):
        return None
    arrays = (out.dtype,) * 3 + (INT64, out.dtype, out.dtype)
    entry = entry_for(cross_entropy_backward_flat, out.dtype, *arrays, *(int,) * 3)
    given = [grad_output, log_probabilities, target, weight, total_weight]
    gather, count = make_gathering(given, out.dtype), 4 + (weight is not None)

    def run(out: Array, *others: Any) -> None:
        entry(out, *gather(others[:count], others[count:-1]), *others[-1])

    return Plan(run, (out.sizes[-1], reduction, ignore_index))


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
    out, grad, logarithms, labels, weights, total_weight, classes, reduction, ignore_index
):
    """weight[t] * grad * (probabilities - 1 at the target), row by row."""
    scale = 1.0
    if reduction == MEAN:
        divisor = np.float64(total_weight[0])
        scale = 1 / divisor if divisor else 0.0
    shape = (labels.size, classes)
    result, rows = out.reshape(shape), logarithms.reshape(shape)
    softmax_less_target(result, rows, labels, weights, grad, ignore_index, scale)
