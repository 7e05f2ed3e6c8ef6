"""Numbers of events: Poisson and binomial draws, of the CPU's stream by the CPU's formulas.

Results differ where exp, log or lgamma, libdevice's here, round otherwise at a border.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.common import random
from torchgen_out._runtime.kernels.common.random import FEW, TRIES
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    device_function,
    device_kernel,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.faults import RATE, note
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, converted
from torchgen_out._runtime.kernels.cuda.random.philox import reserve, words_of_block


def poisson(queue: Queue, out: Array, self: Array, generator: Any) -> None:
    """Write numbers of events of the rates in self."""
    _draw(queue, poisson_counts, out, [self], generator)


def binomial(queue: Queue, out: Array, count: Array, prob: Array, generator: Any) -> None:
    """Write numbers of successes in `count` trials of probability `prob`."""
    _draw(queue, binomial_counts, out, [count, prob], generator)


def _draw(queue: Queue, kernel: Any, out: Array, operands: list[Array], generator: Any) -> None:
    n = out.numel
    if not n:
        return
    arrays = [converted(queue, each.expanded(out.sizes), dtypes.float64) for each in operands]
    drawn = reserve(queue, n, 4 * TRIES, generator)
    counts = queue.empty(out.sizes, dtypes.float64)
    values = (counts, *arrays, queue.faults, drawn.origin, n, *drawn.numbers[1:])
    given = {**drawn.given, "uniform_pair": uniform_pair}
    run_elements(queue, kernel, n, *values, **given)
    queue.copy(out, counts)


@device_function
def uniform_pair(words, block, seed):
    """Two numbers in (0, 1), of 53 random bits each."""
    w0, w1, w2, w3 = words_of_block(block, seed)
    u = T(T(w0 >> np.uint64(5)) * T(67108864) + T(w1 >> np.uint64(6)))
    v = T(T(w2 >> np.uint64(5)) * T(67108864) + T(w3 >> np.uint64(6)))
    return T((u + T(0.5)) * T(2.0**-53)), T((v + T(0.5)) * T(2.0**-53))


few_events, few_successes = map(device_function, (random.few_events, random.few_successes))
many_events, many_successes = map(device_function, (random.many_events, random.many_successes))


@device_function
def first_block(origin, start, i):
    """Where the blocks of a number begin in the stream."""
    begin = np.uint64(origin[1] + start) if CAPTURED else start
    return np.uint64(begin + np.uint64(i) * np.uint64(TRIES))


@device_kernel("X* X* int64* uint64*", "I uint64 uint64")
def poisson_counts(out, rates, faults, origin, n, start, seed):
    """A thread owns numbers at the distance of the grid; number i has blocks from i * TRIES on."""
    seed = origin[0] if CAPTURED else seed
    i = I(cuda.grid(1))
    while i < n:
        rate = rates[i]
        block = first_block(origin, start, i)
        if not rate >= T(0):
            note(faults, RATE, 0, 0)
        if not rate > T(0):
            out[i] = rate
        elif rate < T(FEW):
            u, _ = uniform_pair(0, block, seed)
            out[i] = few_events(u, rate)
        else:
            out[i] = many_events(0, block, seed, rate)
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X* X* int64* uint64*", "I uint64 uint64")
def binomial_counts(out, counts, probs, faults, origin, n_all, start, seed):
    """A thread owns numbers at the distance of the grid; number i has blocks from i * TRIES on.

    Failures are drawn if they are fewer.
    """
    seed = origin[0] if CAPTURED else seed
    i = I(cuda.grid(1))
    while i < n_all:
        n, p = counts[i], probs[i]
        block = first_block(origin, start, i)
        other = T(T(1) - p)
        rarer = p if p < other else other
        if (n != n) | (p != p):
            drawn = T(n + p)
        elif (n <= T(0)) | (rarer <= T(0)):
            drawn = T(0)
        elif T(n * rarer) < T(FEW):
            u, _ = uniform_pair(0, block, seed)
            drawn = few_successes(u, n, rarer)
        else:
            drawn = many_successes(0, block, seed, n, rarer)
        trials = n if n > T(0) else T(0)
        out[i] = T(trials - drawn) if p > T(0.5) else drawn
        i = I(i + cuda.gridsize(1))
