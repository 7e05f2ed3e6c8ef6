"""Loops that turn random words into numbers of a distribution, for `filling.py`.

Each loop serves the blocks from `first_block` to `last_block` of a draw: the words of a chunk of
blocks, then for each run of numbers its part of the output, as far as it goes (the last run may be
cut off). `start` is where the draw begins in the stream.
"""

from __future__ import annotations

import math

import numpy as np

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.random.philox import CHUNK, fill_words
from torchgen_out._runtime.kernels.typed import typed

TWO_PI = 6.283185307179586


@typed
def uniform_single(first_block, last_block, out, start, seed, low, width):
    """24 random bits, as many as a float32 in [1/2, 1) holds."""
    n = out.size
    blocks = (n + 3) // 4
    words = np.empty((4, CHUNK), np.uint32)
    offset, scale = T(low), T(width * 2.0**-24)
    for base in range(first_block, last_block, CHUNK):
        count = CHUNK if last_block - base > CHUNK else last_block - base
        fill_words(words, count, start + np.uint64(base), seed)
        for w in range(4):
            first = w * blocks + base
            length = count if n - first > count else n - first
            for i in range(length):
                out[first + i] = offset + T(np.int32(words[w, i] >> np.uint32(8))) * scale


@typed
def uniform_double(first_block, last_block, out, start, seed, low, width):
    """53 random bits from two words."""
    n = out.size
    blocks = (n + 1) // 2
    words = np.empty((4, CHUNK), np.uint32)
    scale = width * 2.0**-53
    for base in range(first_block, last_block, CHUNK):
        count = CHUNK if last_block - base > CHUNK else last_block - base
        fill_words(words, count, start + np.uint64(base), seed)
        for w in range(2):
            first = w * blocks + base
            length = count if n - first > count else n - first
            for i in range(length):
                high = T(np.int32(words[2 * w, i] >> np.uint32(5)))
                low_bits = T(np.int32(words[2 * w + 1, i] >> np.uint32(6)))
                out[first + i] = low + (high * T(67108864) + low_bits) * scale


@typed
def normal_single(first_block, last_block, out, start, seed, mean, std):
    """Box and Muller: a pair of words gives a radius and an angle, and so two numbers."""
    n = out.size
    blocks = (n + 3) // 4
    words = np.empty((4, CHUNK), np.uint32)
    pair = np.empty((2, CHUNK), np.float32)
    for base in range(first_block, last_block, CHUNK):
        count = CHUNK if last_block - base > CHUNK else last_block - base
        fill_words(words, count, start + np.uint64(base), seed)
        for w in range(0, 4, 2):
            for i in range(count):
                u = (T(np.int32(words[w, i] >> np.uint32(1))) + T(0.5)) * T(2.0**-31)
                angle = T(np.int32(words[w + 1, i] >> np.uint32(8))) * T(TWO_PI * 2.0**-24)
                radius = T(std) * sqrt(T(-2) * log(u))
                pair[0, i] = T(mean) + radius * cos(angle)
                pair[1, i] = T(mean) + radius * sin(angle)
            for half in range(2):
                first = (w + half) * blocks + base
                length = count if n - first > count else n - first
                for i in range(length):
                    out[first + i] = pair[half, i]


@typed
def normal_double(first_block, last_block, out, start, seed, mean, std):
    """The same with two words for the radius and two for the angle."""
    n = out.size
    blocks = (n + 1) // 2
    words = np.empty((4, CHUNK), np.uint32)
    pair = np.empty((2, CHUNK), np.float64)
    for base in range(first_block, last_block, CHUNK):
        count = CHUNK if last_block - base > CHUNK else last_block - base
        fill_words(words, count, start + np.uint64(base), seed)
        for i in range(count):
            high = T(np.int32(words[0, i] >> np.uint32(5))) * T(67108864)
            u = (high + T(np.int32(words[1, i] >> np.uint32(6))) + T(0.5)) * T(2.0**-53)
            high = T(np.int32(words[2, i] >> np.uint32(5))) * T(67108864)
            turn = (high + T(np.int32(words[3, i] >> np.uint32(6)))) * T(2.0**-53)
            radius = std * sqrt(T(-2) * log(u))
            pair[0, i] = mean + radius * cos_near(turn * T(TWO_PI))
            pair[1, i] = mean + radius * sin_near(turn * T(TWO_PI))
        for half in range(2):
            first = half * blocks + base
            length = count if n - first > count else n - first
            for i in range(length):
                out[first + i] = pair[half, i]


@typed
def exponential_single(first_block, last_block, out, start, seed, scale):
    """-log(u) * scale; where u rounds to 1, half of the machine epsilon stands for -log(u)."""
    n = out.size
    blocks = (n + 3) // 4
    words = np.empty((4, CHUNK), np.uint32)
    for base in range(first_block, last_block, CHUNK):
        count = CHUNK if last_block - base > CHUNK else last_block - base
        fill_words(words, count, start + np.uint64(base), seed)
        for w in range(4):
            first = w * blocks + base
            length = count if n - first > count else n - first
            for i in range(length):
                u = (T(np.int32(words[w, i] >> np.uint32(1))) + T(0.5)) * T(2.0**-31)
                wait = -log(u)
                out[first + i] = (wait if wait > T(0) else T(2.0**-24)) * T(scale)


@typed
def exponential_double(first_block, last_block, out, start, seed, scale):
    """The same with 53 random bits."""
    n = out.size
    blocks = (n + 1) // 2
    words = np.empty((4, CHUNK), np.uint32)
    for base in range(first_block, last_block, CHUNK):
        count = CHUNK if last_block - base > CHUNK else last_block - base
        fill_words(words, count, start + np.uint64(base), seed)
        for w in range(2):
            first = w * blocks + base
            length = count if n - first > count else n - first
            for i in range(length):
                high = T(np.int32(words[2 * w, i] >> np.uint32(5))) * T(67108864)
                u = high + T(np.int32(words[2 * w + 1, i] >> np.uint32(6))) + T(0.5)
                wait = -log(u * T(2.0**-53))
                out[first + i] = (wait if wait > T(0) else T(2.0**-53)) * scale


@kernel
def whole_narrow(first_block, last_block, out, start, seed, offset, span):
    """offset + floor(word / 2**32 * span), for a span up to 2**32."""
    n = out.size
    blocks = (n + 3) // 4
    words = np.empty((4, CHUNK), np.uint32)
    for base in range(first_block, last_block, CHUNK):
        count = min(CHUNK, last_block - base)
        fill_words(words, count, start + np.uint64(base), seed)
        for w in range(4):
            first = w * blocks + base
            for i in range(min(count, n - first)):
                above = (np.uint64(words[w, i]) * span) >> np.uint64(32)
                out[first + i] = np.int64(offset + above)


@kernel
def whole_wide(first_block, last_block, out, start, seed, offset, span):
    """offset + two words modulo span; a span of 0 stands for 2**64."""
    n = out.size
    blocks = (n + 1) // 2
    words = np.empty((4, CHUNK), np.uint32)
    for base in range(first_block, last_block, CHUNK):
        count = min(CHUNK, last_block - base)
        fill_words(words, count, start + np.uint64(base), seed)
        for w in range(2):
            first = w * blocks + base
            for i in range(min(count, n - first)):
                high = np.uint64(words[2 * w, i]) << np.uint64(32)
                drawn = high | np.uint64(words[2 * w + 1, i])
                out[first + i] = np.int64(offset + (drawn % span if span else drawn))


@kernel
def below(first_block, last_block, out, start, seed, threshold):
    """Whether a word is below the threshold, as 0 or 1."""
    n = out.size
    blocks = (n + 3) // 4
    words = np.empty((4, CHUNK), np.uint32)
    for base in range(first_block, last_block, CHUNK):
        count = min(CHUNK, last_block - base)
        fill_words(words, count, start + np.uint64(base), seed)
        for w in range(4):
            first = w * blocks + base
            for i in range(min(count, n - first)):
                out[first + i] = np.uint64(words[w, i]) < threshold


@kernel
def drop(first_block, last_block, out, mask, x, start, seed, threshold, scale):
    """Keep an element and scale it where its word is not below the threshold, else zero."""
    n = out.size
    blocks = (n + 3) // 4
    words = np.empty((4, CHUNK), np.uint32)
    zero, factor = x.dtype.type(0), x.dtype.type(scale)
    for base in range(first_block, last_block, CHUNK):
        count = min(CHUNK, last_block - base)
        fill_words(words, count, start + np.uint64(base), seed)
        for w in range(4):
            first = w * blocks + base
            for i in range(min(count, n - first)):
                keep = np.uint64(words[w, i]) >= threshold
                mask[first + i] = keep
                out[first + i] = x[first + i] * factor if keep else zero


@kernel
def below_each(out, p, at, width, blocks, start, seed):
    """Whether a word is below p * 2**32, as 0 or 1, for `width` numbers p over and over.

    False if one is no probability.
    """
    for i in range(width):
        if not 0 <= p[at + i] <= 1:
            return False
    words = np.empty((4, blocks), np.uint32)
    fill_words(words, blocks, start, seed)
    flat = words.reshape(4 * blocks)
    for i in range(out.size):
        out[i] = flat[i] < np.float64(p[at + i % width]) * 2.0**32
    return True


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


@kernel
def to_cauchy(out, u, median, sigma):
    """The quantile of each number u in [0, 1): median + sigma * tan(pi * (u - 1/2))."""
    for i in range(out.size):
        out[i] = median + sigma * math.tan(math.pi * (u[i] - 0.5))


@kernel
def to_trials(out, waits):
    """Each waiting time rounded up."""
    for i in range(out.size):
        out[i] = math.ceil(waits[i])


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


@typed
def to_exp(out):
    """The exponential of each number."""
    for i in range(out.size):
        out[i] = exp(out[i])


UNIFORM = {"float32": (1, uniform_single), "float64": (2, uniform_double)}
NORMAL = {"float32": (1, normal_single), "float64": (2, normal_double)}
EXPONENTIAL = {"float32": (1, exponential_single), "float64": (2, exponential_double)}
