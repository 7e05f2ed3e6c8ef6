"""Numbers of events: Poisson and binomial draws, of the CPU's stream by the CPU's formulas.

Results differ where exp, log or lgamma, libdevice's here, round otherwise at a border.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.common.random import FEW, TRIES
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    device_function,
    device_kernel,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.faults import RATE, note
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, converted
from torchgen_out._runtime.kernels.cuda.random.philox import reserve, words_of_draw


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
    run_elements(queue, kernel, n, *values, **drawn.given)
    queue.copy(out, counts)


@device_function
def uniform_pair(origin, start, seed, block):
    """Two numbers in (0, 1), of 53 random bits each."""
    w0, w1, w2, w3 = words_of_draw(origin, start, seed, block)
    u = T(T(w0 >> np.uint64(5)) * T(67108864) + T(w1 >> np.uint64(6)))
    v = T(T(w2 >> np.uint64(5)) * T(67108864) + T(w3 >> np.uint64(6)))
    return T((u + T(0.5)) * T(2.0**-53)), T((v + T(0.5)) * T(2.0**-53))


@device_kernel("X* X* int64* uint64*", "I uint64 uint64")
def poisson_counts(out, rates, faults, origin, n, start, seed):
    """A thread owns numbers at the distance of the grid; number i has blocks from i * TRIES on."""
    i = I(cuda.grid(1))
    while i < n:
        rate = rates[i]
        block = np.uint64(np.uint64(i) * np.uint64(TRIES))
        if not rate >= T(0):
            note(faults, RATE, 0, 0)
        if not rate > T(0):
            out[i] = rate
        elif rate < T(FEW):
            u, _ = uniform_pair(origin, start, seed, block)
            out[i] = few_events(u, rate)
        else:
            out[i] = many_events(origin, start, seed, block, rate)
        i = I(i + cuda.gridsize(1))


@device_function
def few_events(u, rate):
    """The first count up to which the distribution reaches u."""
    share = exp(T(-rate))
    count = T(0)
    while (u > share) & (count < T(200)):
        u = T(u - share)
        count = T(count + T(1))
        share = T(share * rate / count)
    return count


@device_function
def many_events(origin, start, seed, block, rate):
    """Transformed rejection of a Poisson count, Hörmann's PTRS."""
    b = T(T(0.931) + T(2.53) * sqrt(rate))
    a = T(T(-0.059) + T(0.02483) * b)
    inverse_alpha = T(T(1.1239) + T(1.1328) / T(b - T(3.4)))
    accepted = T(T(0.9277) - T(3.6224) / T(b - T(2)))
    count = rate
    done = False
    turn = 0
    while not done and turn < TRIES:
        u, v = uniform_pair(origin, start, seed, np.uint64(block + np.uint64(turn)))
        u = T(u - T(0.5))
        rim = T(T(0.5) - abs(u))
        count = floor(T(T(T(2) * a / rim + b) * u + rate + T(0.43)))
        done = (rim >= T(0.07)) & (v <= accepted)
        if not done and not (count < T(0)) and not (rim < T(0.013) and v > rim):
            height = log(T(v * inverse_alpha / T(a / T(rim * rim) + b)))
            done = height <= T(count * log(rate) - rate - lgamma(T(count + T(1))))
        turn = turn + 1
    return count if count > T(0) else T(0)


@device_kernel("X* X* X* int64* uint64*", "I uint64 uint64")
def binomial_counts(out, counts, probs, faults, origin, n_all, start, seed):
    """A thread owns numbers at the distance of the grid; number i has blocks from i * TRIES on.

    Failures are drawn if they are fewer.
    """
    i = I(cuda.grid(1))
    while i < n_all:
        n, p = counts[i], probs[i]
        block = np.uint64(np.uint64(i) * np.uint64(TRIES))
        other = T(T(1) - p)
        rarer = p if p < other else other
        if (n != n) | (p != p):
            drawn = T(n + p)
        elif (n <= T(0)) | (rarer <= T(0)):
            drawn = T(0)
        elif T(n * rarer) < T(FEW):
            u, _ = uniform_pair(origin, start, seed, block)
            drawn = few_successes(u, n, rarer)
        else:
            drawn = many_successes(origin, start, seed, block, n, rarer)
        trials = n if n > T(0) else T(0)
        out[i] = T(trials - drawn) if p > T(0.5) else drawn
        i = I(i + cuda.gridsize(1))


@device_function
def few_successes(u, n, p):
    """The first count up to which the distribution reaches u."""
    odds = T(p / T(T(1) - p))
    share = exp(T(n * log1p(T(-p))))
    count = T(0)
    while (u > share) & (count < n) & (count < T(200)):
        u = T(u - share)
        count = T(count + T(1))
        share = T(share * odds * T(n - count + T(1)) / count)
    return count


@device_function
def many_successes(origin, start, seed, block, n, p):
    """Transformed rejection of a binomial count, Hörmann's BTRS, for p up to a half."""
    deviation = sqrt(T(n * p * T(T(1) - p)))
    b = T(T(1.15) + T(2.53) * deviation)
    a = T(T(-0.0873) + T(0.0248) * b + T(0.01) * p)
    center = T(n * p + T(0.5))
    accepted = T(T(0.92) - T(4.2) / b)
    alpha = T(T(T(2.83) + T(5.1) / b) * deviation)
    mode = floor(T(T(n + T(1)) * p))
    top = T(lgamma(T(mode + T(1))) + lgamma(T(n - mode + T(1))))
    odds = log(T(p / T(T(1) - p)))
    count = center
    done = False
    turn = 0
    while not done and turn < TRIES:
        u, v = uniform_pair(origin, start, seed, np.uint64(block + np.uint64(turn)))
        u = T(u - T(0.5))
        rim = T(T(0.5) - abs(u))
        count = floor(T(T(T(2) * a / rim + b) * u + center))
        done = (rim >= T(0.07)) & (v <= accepted)
        if not done and not (count < T(0)) and not (count > n):
            height = log(T(v * alpha / T(a / T(rim * rim) + b)))
            fall = T(top - lgamma(T(count + T(1))) - lgamma(T(n - count + T(1))))
            done = height <= T(fall + T(count - mode) * odds)
        turn = turn + 1
    count = count if count > T(0) else T(0)
    return count if count < n else n
