"""Numbers of events: Poisson and binomial draws, each from blocks of the stream of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import Kernel, kernel
from torchgen_out._runtime.kernels.common import random
from torchgen_out._runtime.kernels.common.random import TRIES
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING
from torchgen_out._runtime.kernels.cpu.planned import on_copies, planned
from torchgen_out._runtime.kernels.cpu.random.philox import fill_words
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

WORK = 40
"""How much more a number costs than an element of element-wise work."""


@planned(any_strides=True)
def poisson(result: TensorSpec, self: TensorSpec, generator: Any) -> LaunchPlan:
    """Write numbers of events of the rates in self. **Raises** RuntimeError for a negative one."""
    return on_copies(_plan_counts(poisson_counts, result, [self]), 1, [self])


@planned(any_strides=True)
def binomial(result: TensorSpec, count: TensorSpec, prob: TensorSpec, generator: Any) -> LaunchPlan:
    """Write numbers of successes in `count` trials of probability `prob`."""
    operands = [each.expanded(result.sizes) for each in (count, prob)]
    return on_copies(_plan_counts(binomial_counts, result, operands), 1, operands)


def _plan_counts(loop: Kernel, result: TensorSpec, operands: Sequence[TensorSpec]) -> LaunchPlan:
    """The plan of loop(start, stop, out, *arrays, *offsets, first block, seed)."""
    count, work = result.numel, WORK * result.numel
    if not count:
        return NOTHING
    dtypes = [each.dtype for each in (result, *operands)]
    entry = loop.entry_point((int, int, *dtypes, *[int] * len(operands), np.uint64, np.uint64))

    def run(*args: Any) -> None:
        *arrays, _, generator = args
        seed, start = generator.advance(count * TRIES)
        if work < 2 * threads.GRAIN:
            is_done = entry(0, count, *arrays, start, seed)
        else:
            source = np.uint64(start), np.uint64(seed)
            is_done = threads.run_ranges(entry, count, work, *arrays, *source)
        if not is_done:
            raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")

    return LaunchPlan(run, None)


pair_of_words = kernel(random.pair_of_words)


@kernel
def uniform_pair(words, block, seed):
    """Two uniform numbers of a block of the stream."""
    fill_words(words, 1, block, seed)
    return pair_of_words(words[0, 0], words[1, 0], words[2, 0], words[3, 0])


few_events, few_successes = kernel(random.few_events), kernel(random.few_successes)
many_events = kernel(random.many_events, uniform_pair=uniform_pair)
many_successes = kernel(random.many_successes, uniform_pair=uniform_pair)
poisson_count = kernel(
    random.poisson_count,
    uniform_pair=uniform_pair,
    few_events=few_events,
    many_events=many_events,
)
binomial_count = kernel(
    random.binomial_count,
    uniform_pair=uniform_pair,
    few_successes=few_successes,
    many_successes=many_successes,
)


@kernel
def poisson_counts(first, last, out, rates, at, start, seed):
    """Number i takes the blocks from start + i * TRIES on. False if a rate is negative, or NaN."""
    words = np.empty((4, 1), np.uint32)
    for i in range(first, last):
        rate = np.float64(rates[at + i])
        if not rate >= 0.0:
            return False
        out[i] = poisson_count(words, start + np.uint64(i) * np.uint64(TRIES), seed, rate)
    return True


@kernel
def binomial_counts(first, last, out, counts, probs, at_counts, at_probs, start, seed):
    """Number i takes the blocks from start + i * TRIES on."""
    words = np.empty((4, 1), np.uint32)
    for i in range(first, last):
        n, p = np.float64(counts[at_counts + i]), np.float64(probs[at_probs + i])
        out[i] = binomial_count(words, start + np.uint64(i) * np.uint64(TRIES), seed, n, p)
    return True
