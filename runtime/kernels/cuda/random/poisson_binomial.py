"""Numbers of events: Poisson and binomial draws, of the CPU's stream by the CPU's formulas.

Results differ where exp, log or lgamma, libdevice's here, round otherwise at a border.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.common import random
from torchgen_out._runtime.kernels.common.random import TRIES
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
    run_elements(queue, kernel, n, *values, **drawn.given, **PARTS)
    queue.copy(out, counts)


pair_of_words = device_function(random.pair_of_words)


@device_function
def uniform_pair(words, block, seed):
    """Two uniform numbers of a block of the stream."""
    w0, w1, w2, w3 = words_of_block(block, seed)
    return pair_of_words(w0, w1, w2, w3)


PARTS = {
    each.__name__: device_function(each)
    for each in (random.few_events, random.many_events, random.few_successes, random.many_successes)
} | {"uniform_pair": uniform_pair}
"""What the functions of `common/random.py` call."""
poisson_count = device_function(random.poisson_count)
binomial_count = device_function(random.binomial_count)


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
        if not rates[i] >= T(0):
            note(faults, RATE, 0, 0)
        out[i] = poisson_count(0, first_block(origin, start, i), seed, rates[i])
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X* X* int64* uint64*", "I uint64 uint64")
def binomial_counts(out, counts, probs, faults, origin, n, start, seed):
    """The same of two operands."""
    seed = origin[0] if CAPTURED else seed
    i = I(cuda.grid(1))
    while i < n:
        out[i] = binomial_count(0, first_block(origin, start, i), seed, counts[i], probs[i])
        i = I(i + cuda.gridsize(1))
