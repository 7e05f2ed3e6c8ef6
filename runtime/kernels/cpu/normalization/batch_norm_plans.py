"""Plans of batch normalisation in training: one compiled call forward, one backward."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from runtime.kernels import threads
from runtime.kernels.cpu.loop_plans import operand, out, plan_ranges
from runtime.kernels.cpu.normalization.batch_loops import (
    batch_gradients,
    normalise_batch,
    normalise_by_running,
)
from runtime.kernels.cpu.planned import Operand, Plan
from runtime.kernels.cpu.small import are_dense_alike

Array = Any
WORK = 4  # how much more an element costs than in element-wise work


def run_channels(kernel: Any, x: Array, *args: Any) -> None:
    """kernel(start, stop, *args) over the channels of x, (batch, channels, places)."""
    threads.run_ranges(kernel, x.shape[1], WORK * x.size, *args)


def plan_batch_norm(
    result: Operand,
    save_mean: Operand,
    save_invstd: Operand,
    input: Operand,
    weight: Operand | None,
    bias: Operand | None,
    running_mean: Operand | None,
    running_var: Operand | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Plan | None:
    """Plan `native_batch_norm` of arrays of one dtype."""
    given = [input, weight, bias, running_mean, running_var]
    if not training:
        return _plan_by_running(result, given, eps)
    if not are_dense_alike(result.dtype, save_mean, *given):
        return None
    shape, channels = _shape(input), input.sizes[1]
    parameters = [operand(i, channels) for i in range(1, 5)]
    return plan_ranges(
        normalise_batch,
        *(channels, WORK * prod(shape), [result, save_mean, save_invstd], given),
        *(out(0, *shape), operand(0, *shape), *parameters, out(1, channels), out(2, channels)),
        *(float(momentum), float(eps)),
    )


def _shape(x: Operand) -> tuple[int, int, int]:
    """As (batch, channels, places)."""
    return x.sizes[0], x.sizes[1], prod(x.sizes[2:])


def _plan_by_running(result: Operand, given: Sequence[Operand | None], eps: float) -> Plan | None:
    """Plan the normalisation by running statistics."""
    if not are_dense_alike(result.dtype, result, *given):
        return None
    shape, channels = _shape(result), result.sizes[1]
    parameters = [operand(i, channels) for i in range(1, 5)]
    unused = [Operand(result.dtype, (0,), (1,))] * 2  # the statistics of the batch
    return plan_ranges(
        normalise_by_running,
        *(channels, WORK * prod(shape), [result, *unused], given),
        *(out(0, *shape), operand(0, *shape), *parameters, float(eps)),
    )


def plan_batch_norm_backward(
    grad_input: Operand,
    grad_weight: Operand,
    grad_bias: Operand,
    grad_out: Operand,
    input: Operand,
    weight: Operand | None,
    running_mean: Operand | None,
    running_var: Operand | None,
    save_mean: Operand | None,
    save_invstd: Operand | None,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
) -> Plan | None:
    """Plan `native_batch_norm_backward` after training, of arrays of one dtype."""
    given = [grad_out, input, weight, running_mean, running_var, save_mean, save_invstd]
    if not train or not are_dense_alike(grad_input.dtype, grad_weight, *given):
        return None
    shape, channels = _shape(input), input.sizes[1]
    wanted = shape if prod(grad_input.sizes) else (0, *shape[1:])
    return plan_ranges(
        batch_gradients,
        *(channels, WORK * prod(shape), [grad_input, grad_weight, grad_bias], given),
        *(out(0, *wanted), out(1, channels), out(2, channels), operand(0, *shape)),
        *(operand(1, *shape), *[operand(i, channels) for i in (2, 5, 6)], True),
    )
