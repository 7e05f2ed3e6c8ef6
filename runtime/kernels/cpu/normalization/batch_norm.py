"""Batch normalisation: shapes and parameters; the loops are in `batch_loops.py`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from torchgen_out._runtime.kernels.cpu.loop_plans import operand, out, plan_ranges
from torchgen_out._runtime.kernels.cpu.normalization.batch_loops import (
    batch_gradients,
    normalise_batch,
    normalise_by_running,
)
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

WORK = 4  # how much more an element costs than in element-wise work


@planned(results=3, updates=("running_mean", "running_var"))
def native_batch_norm(
    result: TensorSpec,
    save_mean: TensorSpec,
    save_invstd: TensorSpec,
    input: TensorSpec,
    weight: TensorSpec | None,
    bias: TensorSpec | None,
    running_mean: TensorSpec | None,
    running_var: TensorSpec | None,
    training: bool,
    momentum: float,
    eps: float,
) -> LaunchPlan:
    """Write the normalised input and, in training, the statistics; update the running ones."""
    shape, channels = _shape(input), input.sizes[1]
    statistics = [out(1, channels), out(2, channels), float(momentum)] if training else []
    return plan_ranges(
        normalise_batch if training else normalise_by_running,
        *(channels, WORK * prod(shape), [result, save_mean, save_invstd]),
        [input, weight, bias, running_mean, running_var],
        *(out(0, *shape), operand(0, *shape), *[operand(i, channels) for i in range(1, 5)]),
        *(*statistics, float(eps)),
    )


def _shape(x: TensorSpec) -> tuple[int, int, int]:
    """As (batch, channels, places)."""
    return x.sizes[0], x.sizes[1], prod(x.sizes[2:])


@planned(results=3)
def batch_norm_backward(
    grad_input: TensorSpec,
    grad_weight: TensorSpec,
    grad_bias: TensorSpec,
    grad_out: TensorSpec,
    input: TensorSpec,
    weight: TensorSpec | None,
    mean: TensorSpec,
    spread: TensorSpec,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
) -> LaunchPlan:
    """Write the gradients; that of the input only if `output_mask[0]`."""
    shape, channels = _shape(input), input.sizes[1]
    wanted = shape if output_mask[0] else (0, *shape[1:])
    return plan_ranges(
        batch_gradients,
        *(channels, WORK * prod(shape), [grad_input, grad_weight, grad_bias]),
        [grad_out, input, weight, mean, spread],
        *(out(0, *wanted), out(1, channels), out(2, channels), operand(0, *shape)),
        *(operand(1, *shape), *[operand(i, channels) for i in (2, 3, 4)]),
        *(bool(train), float(eps)),
    )
