"""Plans of a few random numbers: one compiled call, with the blocks that the generator gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.core.generator import default_generator
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import Kernel
from torchgen_out._runtime.kernels.cpu.loop_plans import are_small_alike
from torchgen_out._runtime.kernels.cpu.planned import Planner
from torchgen_out._runtime.kernels.cpu.random import distributions
from torchgen_out._runtime.kernels.cpu.random.philox import blocks_of
from torchgen_out._runtime.kernels.cpu.small import BOOL
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any
FLOAT64 = np.dtype(np.float64)
BLOCKS, STREAM = (int, int), (np.uint64, np.uint64)
"""What every loop of a draw takes before and behind its arrays: blocks from, to; start, seed."""

WORK = 4
"""How much more a number costs than an element of element-wise work."""


def _count(self: TensorSpec) -> int:
    """How many numbers to draw, 0 if they are too many for a plan."""
    count = prod(self.sizes)
    return count if self.is_contiguous and WORK * count <= threads.GRAIN else 0


def plan_fill(kernels: Any, parameters: Callable[..., tuple[float, ...]]) -> Planner:
    """The planner of an operator that fills a tensor with a few numbers.

    parameters: makes the loop's numbers of the operator's.
    """

    def plan(self: TensorSpec, *given: Any) -> LaunchPlan | None:
        count = _count(self)
        if self.dtype.name not in kernels or not count:
            return None
        return _plan_fill(kernels, self.dtype, count, parameters(*map(float, given[:-1])))

    return plan


def _plan_fill(kernels: Any, dtype: Any, count: int, numbers: tuple[float, ...]) -> LaunchPlan:
    words_each, fill = kernels[dtype.name]
    blocks = blocks_of(count, words_each)
    entry = fill.entry_point(dtype, (*BLOCKS, dtype, *STREAM, *(float,) * len(numbers)))

    def run(target: Array, numbers: tuple[float, ...], generator: Any) -> None:
        seed, start = generator.advance(blocks)
        entry(0, blocks, target, start, seed, *numbers)

    return LaunchPlan(run, numbers)


def plan_log_normal(self: TensorSpec, mean: float, std: float, generator: Any) -> LaunchPlan | None:
    """Plan the exponentials of normal numbers."""
    count = _count(self)
    if self.dtype.name not in distributions.NORMAL or not count:
        return None
    draw = _plan_fill(distributions.NORMAL, self.dtype, count, (float(mean), float(std)))
    turn = distributions.to_exp.entry_point(self.dtype, (self.dtype,))

    def run(target: Array, numbers: tuple[float, ...], generator: Any) -> None:
        draw.run(target, numbers, generator)
        turn(target)

    return LaunchPlan(run, draw.params)


def plan_cauchy(self: TensorSpec, median: float, sigma: float, generator: Any) -> LaunchPlan | None:
    """Plan the quantiles of uniform numbers."""
    return _plan_turned(
        self, distributions.UNIFORM, (0.0, 1.0), distributions.to_cauchy, median, sigma
    )


def plan_geometric(self: TensorSpec, p: float, generator: Any) -> LaunchPlan | None:
    """Plan exponential numbers rounded up."""
    return _plan_turned(self, distributions.EXPONENTIAL, trial_length(p), distributions.to_trials)


def _plan_turned(
    self: TensorSpec, kernels: Any, numbers: tuple[float, ...], loop: Kernel, *behind: float
) -> LaunchPlan | None:
    """Plan float64 numbers, turned into floats of another distribution by a loop."""
    count = _count(self)
    if self.dtype.kind != "f" or not count:
        return None
    draw, behind = _plan_fill(kernels, FLOAT64, count, numbers), tuple(map(float, behind))
    turn = loop.entry_point((self.dtype, FLOAT64, *(float,) * len(behind)))

    def run(target: Array, numbers: tuple[float, ...], generator: Any) -> None:
        drawn = np.empty(count)
        draw.run(drawn, numbers, generator)
        turn(target, drawn, *behind)

    return LaunchPlan(run, numbers)


def trial_length(p: float) -> tuple[float]:
    """What exponential numbers are multiplied by to wait for an event of probability p."""
    return (1.0 / -math.log1p(-p),)


def whole_numbers(dtype: Any, *bounds: int | None) -> tuple[Any, int, tuple[Any, Any]]:
    """The loop for whole numbers from [from, to), the words it takes for each, its parameters.

    Without `from` they begin at 0; without `to` they end with the largest number up to which the
    dtype holds all.
    """
    low = (bounds[0] or 0) if len(bounds) == 2 else 0
    high = bounds[-1] if bounds else None
    span = (_largest(dtype) + 1 if high is None else high) - low
    parameters = np.uint64(low % 2**64), np.uint64(span % 2**64)
    if span > 2**32:
        return distributions.whole_wide, 2, parameters
    return distributions.whole_narrow, 1, parameters


def _largest(dtype: Any) -> int:
    if dtype == np.bool_:
        return 1
    if dtype.kind == "f":
        return 2 ** (np.finfo(dtype).nmant + 1)
    return int(np.iinfo(dtype).max)


def plan_whole(self: TensorSpec, *given: Any) -> LaunchPlan | None:
    """Plan `random_`."""
    if not _count(self):
        return None
    fill, words_each, parameters = whole_numbers(self.dtype, *given[:-1])
    return _plan_draw(self, fill, words_each, *parameters)


def _plan_draw(self: TensorSpec, fill: Any, words_each: int, *parameters: Any) -> LaunchPlan:
    """Plan a loop whose parameters are numbers of 64 bits."""
    blocks = blocks_of(prod(self.sizes), words_each)
    entry = fill.entry_point((*BLOCKS, self.dtype, *STREAM, *(np.uint64,) * len(parameters)))

    def run(target: Array, parameters: tuple[Any, ...], generator: Any) -> None:
        seed, start = generator.advance(blocks)
        entry(0, blocks, target, start, seed, *parameters)

    return LaunchPlan(run, tuple(map(int, parameters)))


def plan_randperm(out: TensorSpec, n: int, generator: Any) -> LaunchPlan | None:
    """Plan a short permutation."""
    if not 0 < n <= threads.GRAIN:
        return None
    entry = distributions.permute.entry_point((out.dtype, int, np.uint64, np.uint64))
    blocks = blocks_of(n, 1)

    def run(target: Array, blocks: int, generator: Any) -> None:
        seed, start = generator.advance(blocks)
        entry(target, blocks, start, seed)

    return LaunchPlan(run, blocks)


def threshold(p: float) -> Any:
    """How many of the 2**32 words stand for an event of probability p."""
    return np.uint64(round(float(p) * 2**32))


def plan_bernoulli(self: TensorSpec, p: float, generator: Any) -> LaunchPlan | None:
    """Plan `bernoulli_` of one probability."""
    return _plan_draw(self, distributions.below, 1, threshold(p)) if _count(self) else None


def plan_bernoulli_tensor(out: TensorSpec, p: TensorSpec, generator: Any) -> LaunchPlan | None:
    """Plan zeros and ones of a probability each, or of one for each place of a row."""
    count = _count(out)
    behind = out.sizes[len(out.sizes) - len(p.sizes) :]
    if not count or not p.is_contiguous or p.sizes != behind or p.dtype.kind != "f":
        return None
    arguments = (out.dtype, p.dtype, int, int, int, np.uint64, np.uint64)
    entry, blocks = distributions.below_each.entry_point(arguments), blocks_of(count, 1)

    def run(target: Array, p: Array, at: int, blocks: int, generator: Any) -> None:
        seed, start = generator.advance(blocks)
        if not entry(target, p, at, width, blocks, start, seed):
            raise no_probability()

    width = prod(p.sizes)
    return LaunchPlan(run, blocks)


def no_probability() -> RuntimeError:
    """The error of a number below 0 or above 1."""
    return RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")


def plan_dropout(
    out: TensorSpec, mask: TensorSpec, input: TensorSpec, p: float, train: bool | None
) -> LaunchPlan | None:
    """Plan `native_dropout` in training."""
    count = _count(input)
    if train is False or not count or not are_small_alike(out, input):
        return None
    arrays = out.dtype, BOOL, input.dtype
    entry = distributions.drop.entry_point((*BLOCKS, *arrays, *STREAM, np.uint64, float))
    blocks, limit = blocks_of(count, 1), int(threshold(p))

    def run(target: Array, mask: Array, x: Array, at: int, scale: float) -> None:
        seed, start = default_generator.advance(blocks)
        if at or x.size != count:
            x = x[at : at + count]
        entry(0, blocks, target, mask, x, start, seed, limit, scale)

    return LaunchPlan(run, 1 / (1 - p) if p < 1 else 0.0)
