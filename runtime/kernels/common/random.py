"""Draws of counts, the same on every backend: what they make of uniform numbers.

Few expected events are counted up until the distribution reaches a uniform number. Many take
transformed rejection: a try makes a count of two uniform numbers and keeps it in most cases, so
that TRIES of them always suffice. All in float64, so that counts are exact up to 2**53. The texts
leave `uniform_pair(words, block, seed)`, two uniform numbers of a block of the stream, to backends.

Source: W. Hörmann, "The transformed rejection method for generating Poisson random variables"
(1993) and "The generation of binomial random variates" (1993).
"""

from __future__ import annotations

import math

import numpy as np

TRIES = 64
"""Blocks of the stream for a number; fewer than one try in five is in vain."""


FEW = 10.0
"""Expected events up to which they are counted up."""


def pair_of_words(w0, w1, w2, w3):
    """Two numbers in (0, 1), of 53 random bits each."""
    u = np.float64(w0 >> np.uint32(5)) * 67108864.0 + np.float64(w1 >> np.uint32(6))
    v = np.float64(w2 >> np.uint32(5)) * 67108864.0 + np.float64(w3 >> np.uint32(6))
    return (u + 0.5) * 2.0**-53, (v + 0.5) * 2.0**-53


def poisson_count(words, block, seed, rate):
    """How many events there are; a rate that is not above zero is its own count."""
    if not rate > 0.0:
        return rate
    if rate < FEW:
        u, _ = uniform_pair(words, block, seed)
        return few_events(u, rate)
    return many_events(words, block, seed, rate)


def few_events(u, rate):
    """The first count up to which the distribution reaches u."""
    share = math.exp(-rate)
    count = 0.0
    while u > share and count < 200.0:
        u -= share
        count += 1.0
        share *= rate / count
    return count


def many_events(words, block, seed, rate):
    """Transformed rejection of a Poisson count, Hörmann's PTRS."""
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    accepted = 0.9277 - 3.6224 / (b - 2.0)
    count = rate
    for turn in range(TRIES):
        u, v = uniform_pair(words, block + np.uint64(turn), seed)
        u -= 0.5
        rim = 0.5 - abs(u)
        count = math.floor((2.0 * a / rim + b) * u + rate + 0.43)
        if rim >= 0.07 and v <= accepted:
            return count
        if count < 0.0 or (rim < 0.013 and v > rim):
            continue
        height = math.log(v * inverse_alpha / (a / (rim * rim) + b))
        if height <= count * math.log(rate) - rate - math.lgamma(count + 1.0):
            return count
    return max(count, 0.0)


def binomial_count(words, block, seed, n, p):
    """How many of n trials succeed. Failures are drawn if they are fewer."""
    rarer = min(p, 1.0 - p)
    if n != n or p != p:
        drawn = n + p
    elif n <= 0.0 or rarer <= 0.0:
        drawn = 0.0
    elif n * rarer < FEW:
        u, _ = uniform_pair(words, block, seed)
        drawn = few_successes(u, n, rarer)
    else:
        drawn = many_successes(words, block, seed, n, rarer)
    return max(n, 0.0) - drawn if p > 0.5 else drawn


def few_successes(u, n, p):
    """The first count up to which the distribution reaches u."""
    odds = p / (1.0 - p)
    share = math.exp(n * math.log1p(-p))
    count = 0.0
    while u > share and count < n and count < 200.0:
        u -= share
        count += 1.0
        share *= odds * (n - count + 1.0) / count
    return count


def many_successes(words, block, seed, n, p):
    """Transformed rejection of a binomial count, Hörmann's BTRS, for p up to a half."""
    deviation = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    center = n * p + 0.5
    accepted = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * deviation
    mode = math.floor((n + 1.0) * p)
    top = math.lgamma(mode + 1.0) + math.lgamma(n - mode + 1.0)
    count = center
    for turn in range(TRIES):
        u, v = uniform_pair(words, block + np.uint64(turn), seed)
        u -= 0.5
        rim = 0.5 - abs(u)
        count = math.floor((2.0 * a / rim + b) * u + center)
        if rim >= 0.07 and v <= accepted:
            return count
        if count < 0.0 or count > n:
            continue
        height = math.log(v * alpha / (a / (rim * rim) + b))
        fall = top - math.lgamma(count + 1.0) - math.lgamma(n - count + 1.0)
        if height <= fall + (count - mode) * math.log(p / (1.0 - p)):
            return count
    return min(max(count, 0.0), n)
