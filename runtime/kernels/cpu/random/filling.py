"""Filling arrays with random numbers: words of `philox.py`, turned into distributions by
`distributions.py`, blocks shared among the threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from torchgen_out._runtime.core.generator import default_generator
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.folding import buffer_of, settle
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.cpu.random import distributions, random_plans
from torchgen_out._runtime.kernels.cpu.random.philox import blocks_of, draw_words, reserve
from torchgen_out._runtime.kernels.typed import TypedKernel

Array = Any


@planned(random_plans.plan_fill(distributions.UNIFORM, lambda low, high: (low, high - low)))
def uniform_(self: Array, from_: float, to: float, generator: Any) -> None:
    """Fill evenly from [from, to); real and imaginary part of complex numbers alike."""
    if self.dtype.kind == "c":
        self[...] = _complex_of(self, generator, distributions.UNIFORM, from_, to - from_)
    else:
        _fill(self, generator, distributions.UNIFORM, from_, to - from_)


@planned(random_plans.plan_fill(distributions.NORMAL, lambda mean, std: (mean, std)))
def normal_(self: Array, mean: float, std: float, generator: Any) -> None:
    """Fill normally. The variance of complex numbers is shared by their parts."""
    if self.dtype.kind == "c":
        std = std / math.sqrt(2)
        self[...] = mean + _complex_of(self, generator, distributions.NORMAL, 0.0, std)
    else:
        _fill(self, generator, distributions.NORMAL, mean, std)


def _complex_of(self: Array, generator: Any, kernels: Any, *parameters: float) -> Array:
    """Complex numbers of self's shape, from twice as many real ones."""
    parts = np.empty((*self.shape, 2), self.real.dtype)
    _fill(parts, generator, kernels, *parameters)
    return parts.view(self.dtype)[..., 0]


def _fill(self: Array, generator: Any, kernels: Any, *parameters: float) -> None:
    """Run the kernel of the precision; float64 takes twice the words."""
    if not self.size:
        return
    words_each, fill = kernels[self.dtype.name]
    buffer = buffer_of(self)
    _run(fill, (buffer.reshape(-1),), words_each, generator, *map(float, parameters))
    settle(self, buffer)


def _run(
    fill: Any, arrays: tuple[Array, ...], words_each: int, generator: Any, *parameters: Any
) -> None:
    """Reserve the blocks of a draw and serve them, in parts if they are many."""
    count = arrays[0].size
    start, seed = reserve(count, words_each, generator)
    kernel = fill.of(arrays[0].dtype) if isinstance(fill, TypedKernel) else fill
    work = random_plans.WORK * count
    threads.run_ranges(
        kernel, blocks_of(count, words_each), work, *arrays, start, seed, *parameters
    )


@planned(random_plans.plan_fill(distributions.EXPONENTIAL, lambda rate: (1 / rate,)))
def exponential_(self: Array, lambd: float, generator: Any) -> None:
    """Fill from the exponential distribution: -log(u) / lambd, never zero."""
    _fill(self, generator, distributions.EXPONENTIAL, 1.0 / lambd)


@planned(random_plans.plan_cauchy)
def cauchy_(self: Array, median: float, sigma: float, generator: Any) -> None:
    """Fill by the quantile function: median + sigma * tan(pi * (u - 1/2))."""
    buffer, u = buffer_of(self), _uniform_like(self, generator)
    numbers = float(median), float(sigma)
    distributions.to_cauchy(buffer.reshape(-1), u.reshape(-1), *numbers)
    settle(self, buffer)


@planned(random_plans.plan_log_normal)
def log_normal_(self: Array, mean: float, std: float, generator: Any) -> None:
    """Fill with exponentials of normal numbers."""
    buffer = buffer_of(self)
    normal_(buffer, mean, std, generator)
    distributions.to_exp(buffer.reshape(-1))
    settle(self, buffer)


@planned(random_plans.plan_geometric)
def geometric_(self: Array, p: float, generator: Any) -> None:
    """Fill with trials until success: exponential numbers rounded up, in units of -log(1 - p)."""
    waits = np.empty(self.shape)
    exponential_(waits, -math.log1p(-p), generator)
    np.ceil(waits, out=waits)
    if self.dtype.kind in "iu":
        waits = np.minimum(waits, np.iinfo(self.dtype).max)
    self[...] = waits


def _uniform_like(self: Array, generator: Any) -> Array:
    drawn = np.empty(self.shape)
    uniform_(drawn, 0.0, 1.0, generator)
    return drawn


# Integers.


@planned(random_plans.plan_whole)
def random_(self: Array, generator: Any) -> None:
    """Fill with whole numbers from 0 to the largest up to which the dtype holds all."""
    _whole(self, generator)


@planned(random_plans.plan_whole)
def random_to_(self: Array, to: int, generator: Any) -> None:
    """Fill with whole numbers from [0, to)."""
    _whole(self, generator, to)


@planned(random_plans.plan_whole)
def random_from_(self: Array, from_: int, to: int | None, generator: Any) -> None:
    """Fill with whole numbers from [from, to), or up to the largest."""
    _whole(self, generator, from_, to)


def _whole(self: Array, generator: Any, *bounds: int | None) -> None:
    if not self.size:
        return
    fill, words_each, parameters = random_plans.whole_numbers(self.dtype, *bounds)
    buffer = buffer_of(self)
    _run(fill, (buffer.reshape(-1),), words_each, generator, *parameters)
    settle(self, buffer)


@planned(random_plans.plan_randperm)
def randperm(out: Array, n: int, generator: Any) -> None:
    """Write 0 .. n - 1 in random order."""
    if not n:
        return
    order = buffer_of(out)
    start, seed = reserve(n, 1, generator)
    distributions.permute(order, blocks_of(n, 1), start, seed)
    settle(out, order)


# Zeros and ones.


@planned(random_plans.plan_bernoulli)
def bernoulli_(self: Array, p: float, generator: Any) -> None:
    """Fill with ones of probability p."""
    if not self.size:
        return
    buffer = buffer_of(self)
    _run(distributions.below, (buffer.reshape(-1),), 1, generator, random_plans.threshold(p))
    settle(self, buffer)


@planned(random_plans.plan_bernoulli_tensor)
def bernoulli_tensor_(self: Array, p: Array, generator: Any) -> None:
    """Fill each element with one, of the probability at its place.

    Raises: RuntimeError if one is no probability.
    """
    if p.size and not ((p >= 0) & (p <= 1)).all():
        raise random_plans.no_probability()
    if not self.size:
        return
    words = draw_words(self.size, generator).reshape(self.shape)
    self[...] = words < p.astype(np.float64) * 2.0**32


@planned(random_plans.plan_bernoulli_tensor)
def bernoulli(out: Array, self: Array, generator: Any) -> None:
    """Write ones and zeros with the probabilities in self."""
    bernoulli_tensor_(out, self, generator)


@planned(random_plans.plan_dropout)
def native_dropout(out: Array, mask: Array, input: Array, p: float, train: bool | None) -> None:
    """Write what is kept, scaled by 1 / (1 - p), and the mask of what is kept."""
    if not input.size:
        return
    if train is False:
        out[...], mask[...] = input, True
        return
    scale = 1 / (1 - p) if p < 1 else 0.0
    buffer, kept = buffer_of(out), buffer_of(mask)
    arrays = buffer.reshape(-1), kept.reshape(-1), np.ascontiguousarray(input).reshape(-1)
    _run(distributions.drop, arrays, 1, default_generator, random_plans.threshold(p), scale)
    settle(out, buffer)
    settle(mask, kept)


def multinomial(
    out: Array, self: Array, num_samples: int, replacement: bool, generator: Any
) -> None:
    """Write indices drawn with the weights of each row.

    Raises: RuntimeError for weights that are negative, not finite, or all zero.
    """
    if not self.size:
        return
    weights = np.ascontiguousarray(self, np.float64).reshape(-1, self.shape[-1])
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    totals = weights.sum(axis=1)
    if not (totals > 0).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    draw = _with_replacement if replacement else _without_replacement
    out[...] = draw(weights, totals, num_samples, generator).reshape(out.shape)


def _with_replacement(weights: Array, totals: Array, count: int, generator: Any) -> Array:
    """Invert the cumulative distribution; the search ends before trailing zero weights."""
    found = np.empty((len(weights), count), np.int64)
    drawn = _uniform_like(found, generator) * totals[:, None]
    for row, target in enumerate(found):
        cumulative = np.cumsum(weights[row])
        last = np.flatnonzero(weights[row])[-1]
        target[...] = np.minimum(np.searchsorted(cumulative, drawn[row], "right"), last)
    return found


def _without_replacement(weights: Array, totals: Array, count: int, generator: Any) -> Array:
    """Exponential clocks of these rates: the first `count` to ring."""
    clocks = np.empty_like(weights)
    exponential_(clocks, 1.0, generator)
    with np.errstate(divide="ignore"):
        np.divide(clocks, weights, out=clocks)
    if count == 1:
        return clocks.argmin(axis=1)
    return np.argsort(clocks, axis=1)[:, :count]
