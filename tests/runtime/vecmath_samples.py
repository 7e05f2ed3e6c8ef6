"""Numbers of float64 at which functions of one argument are likely to be worst."""

from __future__ import annotations

import re
from collections.abc import Iterator

import mpmath
import numpy as np

from tests.runtime.vecmath_running import Array
from torchgen_out._runtime.kernels.vecmath import compose

_NUMBER = re.compile(r"(?<![\w.])\d+\.?\d*(?:e[-+]?\d+)?")


def telling(name: str, low: float, high: float, count: int) -> Array:
    """Numbers of every size, dense ones, and those around what the source compares with."""
    source = np.random.default_rng(11)
    bits = source.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    sizes = 10.0 ** source.uniform(-20, 300, count) * source.choice([-1, 1], count)
    dense = [source.uniform(max(low, -top), min(high, top), count) for top in (40, 2)]
    nearby = list(_around(abs(float(n)) for n in _NUMBER.findall(compose.compose(name, "float64"))))
    x = np.concatenate([bits, sizes, *dense, nearby])
    return x[np.isfinite(x) & (x >= low) & (x <= high)]


def _around(numbers: Iterator[float]) -> Iterator[float]:
    for number in {each for each in numbers if 0 < each < 1e300}:
        for sign in (1, -1):
            for steps in (-17, -3, -2, -1, 0, 1, 2, 3, 17):
                yield sign * (number + steps * np.spacing(number))


def near_quarter_turns() -> Array:
    """For each exponent the numbers nearest to multiples of pi/2.

    m 2^e is near one where m is the denominator of a convergent of 2^e / (pi/2).
    """
    found = []
    with mpmath.workdps(700):
        for exponent in (*range(-54, 60), *range(60, 970, 7)):
            denominators = _convergents(mpmath.ldexp(2 / mpmath.pi, exponent))
            found += [m * 2.0**exponent for m in denominators]
    return np.array([sign * x for x in found for sign in (1, -1)])


def _convergents(value: mpmath.mpf) -> list[int]:
    """The largest denominators below 2^53 of the value's continued fraction."""
    last, denominator, found = 0, 1, [1]
    rest = value - mpmath.floor(value)
    while denominator < 2**53 and rest:
        rest = 1 / rest
        whole = int(mpmath.floor(rest))
        rest -= whole
        last, denominator = denominator, whole * denominator + last
        found.append(denominator)
    return [m for m in found if m < 2**53][-6:]
