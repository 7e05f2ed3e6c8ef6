"""Filling arrays with random numbers: words of `philox.py`, turned into distributions by
`distributions.py`. The same seed draws the same words as on the CPU.

Probabilities and weights are not looked at on the host: a kernel notes one that is none (`faults`).
"""

from __future__ import annotations

import math
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import finfo
from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    device_function,
    device_kernel,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.faults import PROBABILITY, WEIGHTS, note
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, converted
from torchgen_out._runtime.kernels.cuda.random import distributions
from torchgen_out._runtime.kernels.cuda.random.philox import reserve, words_of_draw
from torchgen_out._runtime.kernels.cuda.scan.scan import plus, scan, zero
from torchgen_out._runtime.kernels.cuda.sort.sort import sort_rows


def uniform_(queue: Queue, self: Array, from_: float, to: float, generator: Any) -> None:
    """Fill evenly from [from, to); real and imaginary part of complex numbers alike."""
    _fill(queue, _reals(self), generator, distributions.UNIFORM, from_, to - from_)


def normal_(queue: Queue, self: Array, mean: float, std: float, generator: Any) -> None:
    """Fill normally. The variance of complex numbers is shared by their parts."""
    if not self.dtype.is_complex:
        _fill(queue, self, generator, distributions.NORMAL, mean, std)
        return
    _fill(queue, _reals(self), generator, distributions.NORMAL, 0.0, std / math.sqrt(2))
    if mean:
        run_elements(queue, add_number, self.numel, self, self.numel, mean)


def _reals(self: Array) -> Array:
    """Complex numbers as twice as many real ones."""
    if not self.dtype.is_complex:
        return self
    return Array(self.address, self.dtype.to_real(), (2 * self.numel,), (1,))


@device_kernel("X*", "I float64")
def add_number(x, n, number):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        x[i] = T(x[i] + number)
        i = I(i + cuda.gridsize(1))


def _fill(
    queue: Queue, self: Array, generator: Any, formulas: Any, offset: float, width: float
) -> None:
    """Draw in the precision of the elements; float64 takes twice the words."""
    words_each = 2 if self.dtype is dtypes.float64 else 1
    formula, unit = formulas[words_each]
    if formulas is distributions.EXPONENTIAL:
        offset, width = width, 0.0
    _draw(queue, draw_floats, self, words_each, generator, formula, offset, width * unit)


def _draw(
    queue: Queue,
    kernel: Any,
    self: Array,
    words_each: int,
    generator: Any,
    formula: Any,
    *parameters: Any,
) -> None:
    n = self.numel
    if n:
        drawn = reserve(queue, n, words_each, generator)
        numbers = (n, *drawn.numbers, *parameters)
        given = {"formula": formula, "NUMBERS": 4 // words_each, **drawn.given}
        run_elements(queue, kernel, drawn.blocks, self, drawn.origin, *numbers, **given)


@device_kernel("X* uint64*", "I I uint64 uint64 T T")
def draw_floats(out, origin, n, blocks, start, seed, a, b):
    """A thread owns blocks of the stream at the distance of the grid, NUMBERS of each."""
    block = I(cuda.grid(1))
    while block < blocks:
        w0, w1, w2, w3 = words_of_draw(origin, start, seed, block)
        v0, v1, v2, v3 = formula(w0, w1, w2, w3, a, b)
        out[block] = store_X(v0)
        if block + blocks < n:
            out[block + blocks] = store_X(v1)
        if NUMBERS == 4:
            if block + 2 * blocks < n:
                out[block + 2 * blocks] = store_X(v2)
            if block + 3 * blocks < n:
                out[block + 3 * blocks] = store_X(v3)
        block = I(block + cuda.gridsize(1))


@device_kernel("X* uint64*", "I I uint64 uint64 uint64 uint64")
def draw_integers(out, origin, n, blocks, start, seed, a, b):
    """The same for whole numbers."""
    block = I(cuda.grid(1))
    while block < blocks:
        w0, w1, w2, w3 = words_of_draw(origin, start, seed, block)
        v0, v1, v2, v3 = formula(w0, w1, w2, w3, a, b)
        out[block] = store_X(v0)
        if block + blocks < n:
            out[block + blocks] = store_X(v1)
        if NUMBERS == 4:
            if block + 2 * blocks < n:
                out[block + 2 * blocks] = store_X(v2)
            if block + 3 * blocks < n:
                out[block + 3 * blocks] = store_X(v3)
        block = I(block + cuda.gridsize(1))


def exponential_(queue: Queue, self: Array, lambd: float, generator: Any) -> None:
    """Fill from the exponential distribution: -log(u) / lambd, never zero."""
    _fill(queue, self, generator, distributions.EXPONENTIAL, 0.0, 1.0 / lambd)


def cauchy_(queue: Queue, self: Array, median: float, sigma: float, generator: Any) -> None:
    """Fill by the quantile function: median + sigma * tan(pi * (u - 1/2))."""
    u = queue.empty(self.sizes, dtypes.float64)
    uniform_(queue, u, 0.0, 1.0, generator)
    run_elements(queue, to_cauchy, u.numel, u, u.numel, median, sigma)
    queue.copy(self, u)


@device_kernel("X*", "I T T")
def to_cauchy(x, n, median, sigma):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        x[i] = T(median + sigma * tan(T(T(3.141592653589793) * T(x[i] - T(0.5)))))
        i = I(i + cuda.gridsize(1))


def log_normal_(queue: Queue, self: Array, mean: float, std: float, generator: Any) -> None:
    """Fill with exponentials of normal numbers; rounded to 16 bits once."""
    made = self if self.dtype.opmath is self.dtype else queue.empty(self.sizes, self.dtype.opmath)
    normal_(queue, made, mean, std, generator)
    run_elements(queue, to_exponential, made.numel, made, made.numel)
    if made is not self:
        queue.copy(self, made)


@device_kernel("X*", "I")
def to_exponential(x, n):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        x[i] = exp(x[i])
        i = I(i + cuda.gridsize(1))


def geometric_(queue: Queue, self: Array, p: float, generator: Any) -> None:
    """Fill with trials until success: exponential numbers rounded up, in units of -log(1 - p)."""
    waits = queue.empty(self.sizes, dtypes.float64)
    exponential_(queue, waits, -math.log1p(-p), generator)
    most = float("inf") if self.dtype.is_floating_point else float(finfo.iinfo(self.dtype).max)
    run_elements(queue, round_up, waits.numel, waits, waits.numel, most)
    queue.copy(self, waits)


@device_kernel("X*", "I T")
def round_up(x, n, most):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        value = ceil(x[i])
        x[i] = value if value < most else most
        i = I(i + cuda.gridsize(1))


# -- integers -----------------------------------------------------------------------------------


def random_(queue: Queue, self: Array, generator: Any) -> None:
    """Fill with whole numbers from 0 to the largest up to which the dtype holds all."""
    _whole(queue, self, 0, _largest(self.dtype) + 1, generator)


def random_to_(queue: Queue, self: Array, to: int, generator: Any) -> None:
    """Fill with whole numbers from [0, to)."""
    _whole(queue, self, 0, to, generator)


def random_from_(queue: Queue, self: Array, from_: int, to: int | None, generator: Any) -> None:
    """Fill with whole numbers from [from, to), or up to the largest."""
    _whole(queue, self, from_, _largest(self.dtype) + 1 if to is None else to, generator)


def _largest(dtype: dtypes.dtype) -> int:
    if dtype is dtypes.bool:
        return 1
    if dtype.is_floating_point:
        return round(2 / finfo.finfo(dtype.opmath).eps)
    return int(finfo.iinfo(dtype).max)


def _whole(queue: Queue, self: Array, low: int, high: int, generator: Any) -> None:
    span = high - low
    words_each, formula = 1, distributions.whole_narrow
    if span > 2**32:
        words_each, formula = 2, distributions.whole_wide
    parameters = (low % 2**64, span % 2**64)
    _draw(queue, draw_integers, self, words_each, generator, formula, *parameters)


# -- zeros and ones -----------------------------------------------------------------------------


def threshold(p: float) -> int:
    """How many of the 2**32 words stand for an event of probability p."""
    return round(float(p) * 2**32)


def bernoulli_(queue: Queue, self: Array, p: float, generator: Any) -> None:
    """Fill with ones of probability p."""
    _draw(queue, draw_integers, self, 1, generator, distributions.below, threshold(p), 0)


def bernoulli_tensor_(queue: Queue, self: Array, p: Array, generator: Any) -> None:
    """Fill each element with one, of the probability at its place."""
    if not self.numel:
        return
    p = converted(queue, p.expanded(self.sizes), dtypes.float64)
    drawn = reserve(queue, self.numel, 1, generator)
    operands = (self, p, queue.faults, drawn.origin, self.numel, *drawn.numbers)
    run_elements(queue, draw_events, drawn.blocks, *operands, **drawn.given)


@device_kernel("X* float64* int64* uint64*", "I I uint64 uint64")
def draw_events(out, p, faults, origin, n, blocks, start, seed):
    """A thread owns blocks of the stream at the distance of the grid; words are compared in double
    precision, as on the CPU."""
    block = I(cuda.grid(1))
    while block < blocks:
        words = words_of_draw(origin, start, seed, block)
        for turn in range(4):
            i = I(block + turn * blocks)
            if i < n:
                if not ((p[i] >= 0.0) & (p[i] <= 1.0)):
                    note(faults, PROBABILITY, 0, 0)
                event = np.float64(words[turn]) < p[i] * 4294967296.0
                out[i] = store_X(T(1) if event else T(0))
        block = I(block + cuda.gridsize(1))


def bernoulli(queue: Queue, out: Array, self: Array, generator: Any) -> None:
    """Write ones and zeros with the probabilities in self."""
    bernoulli_tensor_(queue, out, self, generator)


def native_dropout(
    queue: Queue, out: Array, mask: Array, input: Array, p: float, train: bool | None
) -> None:
    """Write what is kept, scaled by 1 / (1 - p), and the mask of what is kept."""
    if not input.numel:
        return
    if train is False:
        queue.copy(out, input)
        queue.fill(mask, True)
        return
    scale = 1 / (1 - p) if p < 1 else 0.0
    drawn = reserve(queue, input.numel, 1, queue.generator)
    operands = (out, input, mask, drawn.origin)
    numbers = (input.numel, *drawn.numbers, threshold(p), scale)
    run_elements(queue, drop, drawn.blocks, *operands, *numbers, **drawn.given)


@device_function
def element_or_zero(x, i, n):
    """The i-th element; 0 beyond the end."""
    return load_X(x[i]) if i < n else T(0)


@device_kernel("X* X* uint8* uint64*", "I I uint64 uint64 uint64 R")
def drop(out, x, mask, origin, n, blocks, start, seed, threshold, scale):
    """A thread owns blocks of the stream at the distance of the grid: an element is kept where its
    word is not below the threshold."""
    block = I(cuda.grid(1))
    while block < blocks:
        # All are read before one is written, while the words are made.
        values = (
            element_or_zero(x, block, n),
            element_or_zero(x, I(block + blocks), n),
            element_or_zero(x, I(block + 2 * blocks), n),
            element_or_zero(x, I(block + 3 * blocks), n),
        )
        words = words_of_draw(origin, start, seed, block)
        for turn in range(4):
            i = I(block + turn * blocks)
            if i < n:
                keep = words[turn] >= threshold
                mask[i] = np.uint8(1 if keep else 0)
                out[i] = store_X(T(values[turn] * scale)) if keep else store_X(T(0))
        block = I(block + cuda.gridsize(1))


# -- draws with weights -------------------------------------------------------------------------


def multinomial(
    queue: Queue, out: Array, self: Array, num_samples: int, replacement: bool, generator: Any
) -> None:
    """Write indices drawn with the weights of each row."""
    if not self.numel:
        return
    weights = converted(queue, self, dtypes.float64)
    count = self.sizes[-1]
    rows = self.numel // count
    if replacement:
        run_elements(queue, look_at_weights, self.numel, weights, queue.faults, self.numel)
        scan(queue, weights, weights, Folded(rows, count, 1), zero, plus)
        drawn = queue.empty((out.numel,), dtypes.float64)
        uniform_(queue, drawn, 0.0, 1.0, generator)
        numbers = (out.numel, num_samples, count)
        operands = (out, weights, drawn, queue.faults)
        run_elements(queue, invert_distribution, out.numel, *operands, *numbers)
        return
    clocks = queue.empty((rows, count), dtypes.float64)
    exponential_(queue, clocks, 1.0, generator)
    run_elements(queue, divide_clocks, clocks.numel, clocks, weights, queue.faults, clocks.numel)
    places = queue.empty((rows, count), dtypes.int64)
    sort_rows(queue, None, places, clocks, descending=False)
    operands = (out, places, clocks, queue.faults)
    run_elements(queue, take_earliest, out.numel, *operands, out.numel, num_samples, count)


@device_function
def is_weight(weight):
    """Whether a number is a weight: not negative, finite."""
    return (weight >= T(0)) & (weight < T(np.inf))


@device_kernel("X* int64*", "I")
def look_at_weights(weights, faults, n):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        if not is_weight(weights[i]):
            note(faults, WEIGHTS, 0, 0)
        i = I(i + cuda.gridsize(1))


@device_kernel("int64* X* X* int64*", "I I I")
def invert_distribution(out, cumulative, drawn, faults, n, samples, count):
    """A thread owns draws at the distance of the grid: the first place whose sum of weights is
    above the draw, before trailing weights of zero."""
    i = I(cuda.grid(1))
    while i < n:
        base = I(divided(i, samples) * count)
        total = cumulative[base + count - 1]
        if not (total > T(0)):
            note(faults, WEIGHTS, 0, 0)
        wanted = T(drawn[i] * total)
        low, high = I(0), I(count - 1)
        while low < high:
            middle = I((low + high) // 2)
            reached = cumulative[base + middle]
            if (reached > wanted) | (reached >= total):
                high = middle
            else:
                low = I(middle + 1)
        out[i] = np.int64(low)
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X* int64*", "I")
def divide_clocks(clocks, weights, faults, n):
    """A thread owns elements at the distance of the grid; a weight of zero never rings."""
    i = I(cuda.grid(1))
    while i < n:
        if not is_weight(weights[i]):
            note(faults, WEIGHTS, 0, 0)
        clocks[i] = T(clocks[i] / weights[i]) if weights[i] > T(0) else T(np.inf)
        i = I(i + cuda.gridsize(1))


@device_kernel("int64* int64* X* int64*", "I I I")
def take_earliest(out, places, clocks, faults, n, samples, count):
    """A thread owns draws at the distance of the grid; a row whose first clock never rings has no
    weight above zero."""
    i = I(cuda.grid(1))
    while i < n:
        row = divided(i, samples)
        place = places[I(row * count + (i - row * samples))]
        if i == row * samples and not (clocks[I(row * count + I(place))] < T(np.inf)):
            note(faults, WEIGHTS, 0, 0)
        out[i] = place
        i = I(i + cuda.gridsize(1))
