"""Choosing among things: random orders, and indices with the weights of each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.cpu.random.drawing import plan_fill
from torchgen_out._runtime.kernels.cpu.random.philox import blocks_of, fill_words
from torchgen_out._runtime.kernels.cpu.small import INT64
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any
FLOAT64 = np.dtype(np.float64)


@planned()
def randperm(result: TensorSpec, n: int, generator: Any) -> LaunchPlan:
    """Write 0 .. n - 1 in random order."""
    if not n:
        return NOTHING
    entry = permute.entry_point((result.dtype, int, np.uint64, np.uint64))
    blocks = blocks_of(n, 1)

    def run(target: Array, params: Any, generator: Any) -> None:
        seed, start = generator.advance(blocks)
        entry(target, blocks, start, seed)

    return LaunchPlan(run, None)


@kernel
def permute(out, blocks, start, seed):
    """Fisher-Yates: place i gets one of what is left from i on."""
    n = out.size
    drawn = np.empty((4, blocks), np.uint32)
    fill_words(drawn, blocks, start, seed)
    words = drawn.reshape(4 * blocks)
    for i in range(n):
        out[i] = i
    for i in range(n - 1):
        j = i + np.int64((np.uint64(words[i]) * np.uint64(n - i)) >> np.uint64(32))
        out[i], out[j] = out[j], out[i]


@planned()
def multinomial(
    result: TensorSpec, self: TensorSpec, num_samples: int, replacement: bool, generator: Any
) -> LaunchPlan:
    """Write indices drawn with the weights of each row.

    Raises: RuntimeError for weights that are negative, not finite, or all zero.
    """
    if not self.numel:
        return NOTHING
    length = self.sizes[-1]
    rows = self.numel // length
    check = check_weights.entry_point((self.dtype, int, int, int))
    plan = _plan_with_replacement if replacement else _plan_without_replacement
    draw = plan(self, rows, length, num_samples)

    def run(out: Array, weights: Array, at: int, params: Any, generator: Any) -> None:
        fault = check(weights, at, rows, length)
        if fault == NO_WEIGHT:
            raise errors.no_weight()
        if fault == ALL_ZERO:
            raise errors.no_weight_above_zero()
        draw(out, weights, at, generator)

    return LaunchPlan(run, None)


def _plan_with_replacement(
    self: TensorSpec, rows: int, length: int, count: int
) -> Callable[..., None]:
    """Invert the cumulative distribution."""
    uniform = plan_fill("uniform_", _numbers(rows * count), 0.0, 1.0)
    kinds = self.dtype, FLOAT64, FLOAT64, int, int, int
    pick = pick_each.entry_point((INT64, *kinds))

    def draw(out: Array, weights: Array, at: int, generator: Any) -> None:
        drawn = np.empty(rows * count)
        uniform.run(drawn, uniform.params, generator)
        pick(out, weights, drawn, np.empty(length), at, rows, length)

    return draw


def _plan_without_replacement(
    self: TensorSpec, rows: int, length: int, count: int
) -> Callable[..., None]:
    """Exponential clocks of these rates: the first `count` to ring."""
    waits = plan_fill("exponential_", _numbers(rows * length), 1.0)
    slow = slow_down.entry_point((FLOAT64, self.dtype, int))

    def draw(out: Array, weights: Array, at: int, generator: Any) -> None:
        clocks = np.empty(rows * length)
        waits.run(clocks, waits.params, generator)
        slow(clocks, weights, at)
        clocks = clocks.reshape(rows, length)
        first = clocks.argmin(1) if count == 1 else clocks.argsort(1)[:, :count].reshape(-1)
        out[:] = first

    return draw


def _numbers(count: int) -> TensorSpec:
    """So many numbers in double precision."""
    return TensorSpec(FLOAT64, (count,), (1,))


NO_WEIGHT, ALL_ZERO = 1, 2
"""What may be wrong with weights: one is negative or not finite; a row's are all zero."""


@kernel
def check_weights(weights, at, rows, length):
    """What is wrong with the first row of which something is; 0 for nothing."""
    for row in range(rows):
        greatest = 0.0
        for i in range(at + row * length, at + (row + 1) * length):
            weight = np.float64(weights[i])
            if not 0.0 <= weight < np.inf:
                return NO_WEIGHT
            greatest = max(greatest, weight)
        if greatest == 0.0:
            return ALL_ZERO
    return 0


@kernel
def pick_each(out, weights, drawn, cumulative, at, rows, length):
    """Where each number drawn, from [0, 1), falls among the sums of a row's weights.

    A search by halves; it ends before trailing weights that are zero.
    """
    count = out.size // rows
    for row in range(rows):
        total, last = 0.0, 0
        for i in range(length):
            weight = np.float64(weights[at + row * length + i])
            total += weight
            cumulative[i] = total
            if weight > 0.0:
                last = i
        for j in range(row * count, (row + 1) * count):
            low, high, wanted = 0, last, drawn[j] * total
            while low < high:
                middle = (low + high) // 2
                if cumulative[middle] > wanted:
                    high = middle
                else:
                    low = middle + 1
            out[j] = low


@kernel
def slow_down(clocks, weights, at):
    """Each waiting time over its weight; of none it has no end."""
    for i in range(clocks.size):
        weight = np.float64(weights[at + i])
        clocks[i] = clocks[i] / weight if weight > 0.0 else np.inf
