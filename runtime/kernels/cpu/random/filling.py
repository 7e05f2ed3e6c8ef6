"""Filling tensors with random numbers: words of `philox.py`, turned into distributions by
`distributions.py`, blocks shared among the threads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime.core.generator import default_generator
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import Kernel
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING
from torchgen_out._runtime.kernels.cpu.planned import PlannedKernel, planned, view_of
from torchgen_out._runtime.kernels.cpu.random import distributions
from torchgen_out._runtime.kernels.cpu.random.philox import blocks_of, draw_words
from torchgen_out._runtime.kernels.cpu.small import BOOL, INT64, SMALL
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import TypedKernel

Array = Any
WORK = 4
"""How much more a number costs than an element of element-wise work."""
FLOAT64 = np.dtype(np.float64)


def plan_draw(
    fill: Kernel | TypedKernel, dtypes: Sequence[Any], count: int, words_each: int, *numbers: Any
) -> LaunchPlan:
    """The plan of fill(first block, last block, *arrays, start, seed, *numbers).

    dtypes: of the arrays, of which the last may be an operand. words_each: for each of the numbers
    drawn, the count of which is that of the elements.
    """
    blocks, work = blocks_of(count, words_each), WORK * count
    kinds = int, int, *dtypes, np.uint64, np.uint64, *[each.__class__ for each in numbers]
    if isinstance(fill, TypedKernel):
        entry = fill.entry_point(dtypes[0], kinds)
    else:
        entry = fill.entry_point(kinds)

    def run(*args: Any) -> None:
        *arrays, params, generator = args
        seed, start = generator.advance(blocks)
        if work < 2 * threads.GRAIN:
            entry(0, blocks, *arrays, start, seed, *params)
        else:
            start, seed = np.uint64(start), np.uint64(seed)
            threads.run_ranges(entry, blocks, work, *arrays, start, seed, *params)

    def run_few(array: Array, params: Any, generator: Any) -> None:
        seed, start = generator.advance(blocks)
        entry(0, blocks, array, start, seed, *params)

    is_plain = len(dtypes) == 1 and work < 2 * threads.GRAIN
    return LaunchPlan(run_few if is_plain else run, numbers)


def _plan_fill(kernels: Any, dtype: Any, count: int, *numbers: float) -> LaunchPlan:
    """Fill with the loop of the precision; float64 takes twice the words."""
    words_each, fill = kernels[dtype.name]
    return plan_draw(fill, [dtype], count, words_each, *map(float, numbers))


def _plan_parts(kernels: Any, self: TensorSpec, *numbers: float) -> LaunchPlan:
    """The same; real and imaginary part of complex numbers alike."""
    if not self.numel:
        return NOTHING
    if self.dtype.kind != "c":
        return _plan_fill(kernels, self.dtype, self.numel, *numbers)
    real = np.empty(0, self.dtype).real.dtype
    draw = _plan_fill(kernels, real, 2 * self.numel, *numbers)
    return LaunchPlan(lambda out, *rest: draw.run(out.view(real), *rest), draw.params)


@planned()
def uniform_(self: TensorSpec, from_: float, to: float, generator: Any) -> LaunchPlan:
    """Fill evenly from [from, to); real and imaginary part of complex numbers alike."""
    return _plan_parts(distributions.UNIFORM, self, from_, to - from_)


@planned()
def normal_(self: TensorSpec, mean: float, std: float, generator: Any) -> LaunchPlan:
    """Fill normally. The variance of complex numbers is shared by their parts."""
    if self.dtype.kind != "c":
        return _plan_parts(distributions.NORMAL, self, mean, std)
    draw = _plan_parts(distributions.NORMAL, self, 0.0, std / math.sqrt(2))

    def run(out: Array, *rest: Any) -> None:
        draw.run(out, *rest)
        out += mean

    return LaunchPlan(run, draw.params)


@planned()
def exponential_(self: TensorSpec, lambd: float, generator: Any) -> LaunchPlan:
    """Fill from the exponential distribution: -log(u) / lambd, never zero."""
    return _plan_parts(distributions.EXPONENTIAL, self, 1.0 / lambd)


@planned()
def log_normal_(self: TensorSpec, mean: float, std: float, generator: Any) -> LaunchPlan:
    """Fill with exponentials of normal numbers."""
    draw = _plan_parts(distributions.NORMAL, self, mean, std)
    turn = distributions.to_exp.entry_point(self.dtype, (self.dtype,))

    def run(out: Array, params: Any, generator: Any) -> None:
        draw.run(out, params, generator)
        turn(out)

    return LaunchPlan(run, draw.params)


def _plan_turned(
    self: TensorSpec, draw: LaunchPlan, turn: Callable[..., Any], *numbers: float
) -> LaunchPlan:
    """float64 numbers, turned into those of another distribution by a loop."""
    if not self.numel:
        return NOTHING
    count, fill = self.numel, draw.run

    def run(out: Array, params: Any, generator: Any) -> None:
        drawn = np.empty(count)
        fill(drawn, params, generator)
        turn(out, drawn, *numbers)

    return LaunchPlan(run, draw.params)


@planned()
def cauchy_(self: TensorSpec, median: float, sigma: float, generator: Any) -> LaunchPlan:
    """Fill by the quantile function: median + sigma * tan(pi * (u - 1/2))."""
    draw = _plan_fill(distributions.UNIFORM, FLOAT64, self.numel, 0.0, 1.0)
    turn = distributions.to_cauchy.entry_point((self.dtype, FLOAT64, float, float))
    return _plan_turned(self, draw, turn, float(median), float(sigma))


@planned()
def geometric_(self: TensorSpec, p: float, generator: Any) -> LaunchPlan:
    """Fill with trials until success: exponential numbers rounded up, in units of -log(1 - p)."""
    length = 1.0 / -math.log1p(-p)
    draw = _plan_fill(distributions.EXPONENTIAL, FLOAT64, self.numel, length)
    if self.dtype.kind == "f":
        turn = distributions.to_trials.entry_point((self.dtype, FLOAT64))
        return _plan_turned(self, draw, turn)
    return _plan_turned(self, draw, _to_whole_trials)


def _to_whole_trials(out: Array, waits: Array) -> None:
    out[:] = np.minimum(np.ceil(waits), np.iinfo(out.dtype).max)


# Integers.


@planned()
def random_(self: TensorSpec, generator: Any) -> LaunchPlan:
    """Fill with whole numbers from 0 to the largest up to which the dtype holds all."""
    return _plan_whole(self)


@planned()
def random_to_(self: TensorSpec, to: int, generator: Any) -> LaunchPlan:
    """Fill with whole numbers from [0, to)."""
    return _plan_whole(self, to)


@planned()
def random_from_(self: TensorSpec, from_: int, to: int | None, generator: Any) -> LaunchPlan:
    """Fill with whole numbers from [from, to), or up to the largest."""
    return _plan_whole(self, from_, to)


def _plan_whole(self: TensorSpec, *bounds: int | None) -> LaunchPlan:
    if not self.numel:
        return NOTHING
    fill, words_each, numbers = whole_numbers(self.dtype, *bounds)
    return plan_draw(fill, [self.dtype], self.numel, words_each, *numbers)


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


@planned()
def draw(
    result: TensorSpec,
    size: Sequence[int],
    distribution: str,
    numbers: Sequence[float],
    dtype: Any,
    generator: Any,
) -> LaunchPlan:
    """Write what `distribution` fills with."""
    return _FILLING[distribution].planner(result, *numbers, generator)


@planned()
def randperm(result: TensorSpec, n: int, generator: Any) -> LaunchPlan:
    """Write 0 .. n - 1 in random order."""
    if not n:
        return NOTHING
    entry = distributions.permute.entry_point((result.dtype, int, np.uint64, np.uint64))
    blocks = blocks_of(n, 1)

    def run(target: Array, params: Any, generator: Any) -> None:
        seed, start = generator.advance(blocks)
        entry(target, blocks, start, seed)

    return LaunchPlan(run, None)


# Zeros and ones.


def threshold(p: float) -> Any:
    """How many of the 2**32 words stand for an event of probability p."""
    return np.uint64(round(float(p) * 2**32))


@planned()
def bernoulli_(self: TensorSpec, p: float, generator: Any) -> LaunchPlan:
    """Fill with ones of probability p."""
    if not self.numel:
        return NOTHING
    return plan_draw(distributions.below, [self.dtype], self.numel, 1, threshold(p))


@planned(any_strides=True)
def bernoulli(result: TensorSpec, self: TensorSpec, generator: Any) -> LaunchPlan:
    """Write ones and zeros with the probabilities in self.

    Raises: RuntimeError if one is no probability.
    """
    count, kinds = result.numel, (int, int, int, np.uint64, np.uint64)
    if not count:
        return NOTHING
    entry = distributions.below_each.entry_point((result.dtype, self.dtype, *kinds))
    behind = result.sizes[len(result.sizes) - len(self.sizes) :]
    is_repeated = self.is_contiguous and self.sizes == behind
    blocks, width = blocks_of(count, 1), self.numel

    def run(out: Array, p: Array, at: int, params: Any, generator: Any) -> None:
        seed, start = generator.advance(blocks)
        if not entry(out, p, at, width, blocks, start, seed):
            raise _no_probability()

    def run_large(out: Array, p: Array, at: int, params: Any, generator: Any) -> None:
        """By NumPy, whose comparison of two arrays vectorises."""
        wide = view_of(p, at, self)
        if not ((wide >= 0) & (wide <= 1)).all():
            raise _no_probability()
        words = draw_words(count, generator).reshape(result.sizes)
        out.reshape(result.sizes)[...] = words < wide.astype(np.float64) * 2.0**32

    return LaunchPlan(run if is_repeated and count <= SMALL else run_large, None)


def _no_probability() -> RuntimeError:
    return RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")


bernoulli_tensor_ = bernoulli


@planned(results=2)
def native_dropout(
    result: TensorSpec, mask: TensorSpec, input: TensorSpec, p: float, train: bool | None
) -> LaunchPlan:
    """Write what is kept, scaled by 1 / (1 - p), and the mask of what is kept."""
    count = input.numel
    if not count:
        return NOTHING
    if train is False:
        return LaunchPlan(_keep_all, None)
    arrays, scale = (result.dtype, BOOL, input.dtype), 1 / (1 - p) if p < 1 else 0.0
    draw = plan_draw(distributions.drop, arrays, count, 1, threshold(p), scale)

    def run(target: Array, mask: Array, x: Array, at: int, params: Any) -> None:
        if at or x.size != count:
            x = x[at : at + count]
        draw.run(target, mask, x, params, default_generator)

    return LaunchPlan(run, draw.params)


def _keep_all(out: Array, mask: Array, x: Array, at: int, params: Any) -> None:
    out[:], mask[:] = x[at : at + out.size], True


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
    check = distributions.check_weights.entry_point((self.dtype, int, int, int))
    plan = _plan_with_replacement if replacement else _plan_without_replacement
    draw = plan(self, rows, length, num_samples)

    def run(out: Array, weights: Array, at: int, params: Any, generator: Any) -> None:
        fault = check(weights, at, rows, length)
        if fault == distributions.NO_WEIGHT:
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        if fault == distributions.ALL_ZERO:
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
        draw(out, weights, at, generator)

    return LaunchPlan(run, None)


def _plan_with_replacement(
    self: TensorSpec, rows: int, length: int, count: int
) -> Callable[..., None]:
    """Invert the cumulative distribution."""
    uniform = _plan_fill(distributions.UNIFORM, FLOAT64, rows * count, 0.0, 1.0)
    kinds = self.dtype, FLOAT64, FLOAT64, int, int, int
    pick = distributions.pick_each.entry_point((INT64, *kinds))

    def draw(out: Array, weights: Array, at: int, generator: Any) -> None:
        drawn = np.empty(rows * count)
        uniform.run(drawn, uniform.params, generator)
        pick(out, weights, drawn, np.empty(length), at, rows, length)

    return draw


def _plan_without_replacement(
    self: TensorSpec, rows: int, length: int, count: int
) -> Callable[..., None]:
    """Exponential clocks of these rates: the first `count` to ring."""
    waits = _plan_fill(distributions.EXPONENTIAL, FLOAT64, rows * length, 1.0)
    slow = distributions.slow_down.entry_point((FLOAT64, self.dtype, int))

    def draw(out: Array, weights: Array, at: int, generator: Any) -> None:
        clocks = np.empty(rows * length)
        waits.run(clocks, waits.params, generator)
        slow(clocks, weights, at)
        clocks = clocks.reshape(rows, length)
        first = clocks.argmin(1) if count == 1 else clocks.argsort(1)[:, :count].reshape(-1)
        out[:] = first

    return draw


_FILLING: dict[str, PlannedKernel] = {
    "uniform_": uniform_,
    "normal_": normal_,
    "random_.from": random_from_,
    "bernoulli_.float": bernoulli_,
}
