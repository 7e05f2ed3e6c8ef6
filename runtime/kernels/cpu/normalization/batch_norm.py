"""Batch normalisation: shapes and parameters; the loops are in `batch_loops.py`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from torchgen_out._runtime.core.shape import FEWEST_CHANNELS
from torchgen_out._runtime.kernels.cpu.loop_plans import operand, out, plan_ranges
from torchgen_out._runtime.kernels.cpu.normalization.batch_loops import (
    batch_gradients,
    normalise_batch,
    normalise_by_running,
    normalise_places,
)
from torchgen_out._runtime.kernels.cpu.planned import made_apart, on_copies, planned
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

WORK = 4  # how much more an element costs than in element-wise work
Shape = tuple[int, int, int]


@planned(results=3, any_order=True, any_strides=True)
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
    shape, (out_seen, seen), channels = *_seen(result, result, input), input.sizes[1]
    statistics = [out(1, channels), out(2, channels), float(momentum)] if training else []
    operands = [seen, weight, bias, running_mean, running_var]
    by_places = not training and out_seen is not result
    loop = normalise_places if by_places else normalise_by_running
    plan = plan_ranges(
        normalise_batch if training else loop,
        *(shape[0] if by_places else channels, WORK * prod(shape)),
        [out_seen, save_mean, save_invstd],
        operands,
        *(out(0, *shape), operand(0, *shape), *[operand(i, channels) for i in range(1, 5)]),
        *(*statistics, float(eps)),
    )
    updated = [running_mean, running_var] if training else []
    return _over_memory(plan, out_seen, operands, updated)


def _seen(result: TensorSpec, *images: TensorSpec) -> tuple[Shape, list[TensorSpec]]:
    """Images as (batch, channels, places): where the result's channels lie side by side, places
    are the batch, and other images are copied to lie so, too."""
    channels, places = result.sizes[1], prod(result.sizes[2:])
    if places > 1 and channels >= FEWEST_CHANNELS and result.pixels.is_contiguous:
        return (result.sizes[0] * places, channels, 1), [each.pixels for each in images]
    return (result.sizes[0], channels, places), list(images)


def _over_memory(
    plan: LaunchPlan,
    result: TensorSpec,
    operands: Sequence[TensorSpec | None],
    updated: Sequence[TensorSpec | None] = (),
) -> LaunchPlan:
    """The plan of three results, for memory with gaps, too."""
    given = [each for each in operands if each is not None]
    changed = [n for n, each in enumerate(given) if any(each is one for one in updated)]
    plan = on_copies(plan, 3, given, changed)
    return plan if result.is_contiguous else made_apart(plan, result)


@planned(results=3, any_order=True, any_strides=True)
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
    is_wanted, channels = output_mask[0], input.sizes[1]
    images = [grad_input] if is_wanted else []
    shape, seen = _seen(grad_input if is_wanted else input, *images, grad_out, input)
    wanted = shape if is_wanted else (0, *shape[1:])
    result = seen[0] if is_wanted else grad_input
    operands = [*seen[-2:], weight, mean, spread]
    plan = plan_ranges(
        batch_gradients,
        *(channels, WORK * prod(shape), [result, grad_weight, grad_bias]),
        operands,
        *(out(0, *wanted), out(1, channels), out(2, channels), operand(0, *shape)),
        *(operand(1, *shape), *[operand(i, channels) for i in (2, 3, 4)]),
        *(bool(train), float(eps)),
    )
    return _over_memory(plan, result, operands)
