"""Plans of pooling over small planes, by the loops for windows of any size."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.cpu.loop_plans import (
    View,
    leading_operands,
    operand,
    out,
    plan_loop,
)
from torchgen_out._runtime.kernels.cpu.planned import Planner
from torchgen_out._runtime.kernels.cpu.pooling import pooling_loops
from torchgen_out._runtime.kernels.cpu.small import is_small
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

MOST_PLACES = 1 << 13  # of all windows together; more are worth a loop that vectorises
Triple = tuple[int, int, int]


def triple(value: Any, count: int, missing: int) -> Triple:
    """Three numbers of one or `count`; `missing` for the dims in front."""
    values = (value,) if isinstance(value, int) else tuple(value)
    if len(values) == 1:
        values *= count
    return (missing,) * (3 - count) + values  # type: ignore[return-value]


def windows(count: int, kernel_size: Any, stride: Any, padding: Any) -> tuple[Any, Any, Any]:
    """Size, step and padding in three dims."""
    size = triple(kernel_size, count, 1)
    step = size if stride is None or stride == [] or stride == () else triple(stride, count, 1)
    return size, step, triple(padding, count, 0)


def plane_sizes(sizes: tuple[int, ...], count: int) -> tuple[int, ...]:
    """The number of planes and their three sizes."""
    split = len(sizes) - count
    return (prod(sizes[:split]), *(1,) * (3 - count), *sizes[split:])


@lru_cache(maxsize=1024)
def empty_windows(
    counts: Triple, lengths: Triple, size: Triple, step: Triple, pad: Triple, spread: Triple
) -> tuple[Any, Any] | None:
    """The windows that see padding alone: a mask, and the place at which each would begin.

    Only windows with holes may step over a whole plane: mostly there are none.
    """
    if max(spread) == 1 or max(pad) == 0:
        return None
    firsts, misses = [], []
    for numbers in zip(counts, lengths, size, step, pad, spread, strict=True):
        count, length, taps, stride, padding, apart = numbers
        start = np.arange(count) * stride - padding
        first = start + np.maximum(0, -(start // apart)) * apart
        firsts.append(first)
        misses.append((first >= length) | (first > start + (taps - 1) * apart))
    mask = misses[0][:, None, None] | misses[1][:, None] | misses[2]
    if not mask.any():
        return None
    first_d, first_h, first_w = np.ix_(*firsts)
    return mask, ((first_d * lengths[1] + first_h) * lengths[2] + first_w)[mask]


def _views(outs: list[TensorSpec], self: TensorSpec, count: int) -> list[View]:
    """Results and operand as planes."""
    results = [out(i, *plane_sizes(each.sizes, count)) for i, each in enumerate(outs)]
    return [*results, operand(0, *plane_sizes(self.sizes, count))]


def plan_max_pool(count: int) -> Planner:
    """The planner of the maximum over windows in `count` dims, with or without its places."""

    def plan(*args: Any) -> LaunchPlan | None:
        operands = leading_operands(args)
        *outs, self = args[:operands]
        kernel_size, stride, padding, dilation, _ = args[operands:]
        size, step, pad = windows(count, kernel_size, stride, padding)
        if not is_small(outs[0], self) or prod(outs[0].sizes) * prod(size) > MOST_PLACES:
            return None
        counts, lengths = (plane_sizes(each.sizes, count)[1:] for each in (outs[0], self))
        if empty_windows(counts, lengths, size, step, pad, triple(dilation, count, 1)):
            return None
        loop = pooling_loops.max_windows if len(outs) == 2 else pooling_loops.greatest_windows
        numbers = size, step, pad, triple(dilation, count, 1)
        return plan_loop(loop, outs, [self], *_views(outs, self, count), *numbers)

    return plan


def plan_avg_pool(count: int) -> Planner:
    """The planner of the mean over windows in `count` dims."""

    def plan(
        mean: TensorSpec,
        self: TensorSpec,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> LaunchPlan | None:
        size, step, pad = windows(count, kernel_size, stride, padding)
        is_float = mean.dtype.kind == "f"
        if not (is_small(mean, self) and is_float) or prod(mean.sizes) * prod(size) > MOST_PLACES:
            return None
        numbers = size, step, pad, bool(count_include_pad), divisor_override or 0
        views = _views([mean], self, count)
        return plan_loop(pooling_loops.mean_of_windows, [mean], [self], *views, *numbers)

    return plan


def plan_adaptive(loop: Any, count: int) -> Planner:
    """The planner of a loop over windows that cover planes of `count` dims evenly."""

    def plan(*args: Any) -> LaunchPlan | None:
        operands = leading_operands(args)
        *outs, self = args[:operands]
        if not is_small(outs[0], self) or prod(self.sizes) > MOST_PLACES:
            return None
        return plan_loop(loop, outs, [self], *_views(outs, self, count))

    return plan
