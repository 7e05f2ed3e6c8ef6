"""The fits of Bessel and Airy functions, of the scaled erfc and of the normal quantile: float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import mpmath as mp

from tests.runtime.vecmath_coefficients import SMALL, Fit, Function, inverse

ONE = mp.mpf(1)
NEVER = mp.mpf(10) ** -9
"""How near to -1, which stands for infinity, the limit is taken."""


def relative(name: str, function: Function, count: int, low: object = -1, high: object = 1) -> Fit:
    """A fit with the least relative error."""
    function = cache(function)
    weight = inverse(lambda t: abs(function(t)))
    return Fit(name, function, count, mp.mpf(low), mp.mpf(high), weight)


def absolute(name: str, function: Function, count: int) -> Fit:
    """A fit with the least error, over [-1, 1]."""
    return Fit(name, cache(function), count, -ONE, ONE, lambda t: ONE)


def of_square(function: Function, top: int, at_zero: mp.mpf | None = None) -> Function:
    """As a function of t = 2 x^2 / top^2 - 1."""

    def value(t: mp.mpf) -> mp.mpf:
        x = mp.sqrt((1 + t) / 2) * top
        return at_zero if at_zero is not None and x < SMALL else function(max(x, SMALL))

    return value


def of_inverse(function: Function, start: int, limit: mp.mpf, power: int = 1) -> Function:
    """As a function of t = 2 (start / x)^power - 1, which has a limit at infinity."""

    def value(t: mp.mpf) -> mp.mpf:
        return limit if 1 + t < NEVER else function(start / ((1 + t) / 2) ** (ONE / power))

    return value


def modified_fits(order: int) -> Iterator[Fit]:
    """Those of I and K."""

    def first(x: mp.mpf) -> mp.mpf:
        return mp.besseli(order, x) / x**order

    def first_far(x: mp.mpf) -> mp.mpf:
        return mp.sqrt(x) * mp.exp(-x) * mp.besseli(order, x)

    def second(x: mp.mpf) -> mp.mpf:
        sign = -1 if order else 1
        whole = mp.besselk(order, x) + sign * mp.log(x / 2) * mp.besseli(order, x)
        return whole * x**order

    def second_far(x: mp.mpf) -> mp.mpf:
        return mp.sqrt(x) * mp.exp(x) * mp.besselk(order, x)

    at_zero = ONE / 2**order
    whole = of_square(first, 8, at_zero)
    yield relative(f"i{order}", lambda u: whole(2 * u - 1), 16 - order, 0)
    limit = 1 / mp.sqrt(2 * mp.pi)
    yield relative(f"i{order} far", of_inverse(first_far, 8, limit), 25)
    yield relative(f"i{order} small", of_square(first, 2, at_zero), 9)
    yield absolute(f"k{order}", of_square(second, 2), 10)
    yield relative(f"k{order} far", of_inverse(second_far, 2, mp.sqrt(mp.pi / 2)), 24)


def short_fits() -> Iterator[Fit]:
    """Those of I of float32."""
    limit = 1 / mp.sqrt(2 * mp.pi)
    for order, count in ((0, 12), (1, 11)):

        def first(x: mp.mpf, order: int = order) -> mp.mpf:
            return mp.besseli(order, x) / x**order

        def far(x: mp.mpf, order: int = order) -> mp.mpf:
            return mp.sqrt(x) * mp.exp(-x) * mp.besseli(order, x)

        whole = of_square(first, 8, ONE / 2**order)
        yield relative(f"i{order} short", lambda u, f=whole: f(2 * u - 1), count, 0)
        yield relative(f"i{order} far, short", of_inverse(far, 8, limit), 8)


def wave_fits(order: int) -> Iterator[Fit]:
    """Those of J and Y."""
    zeros = [mp.besseljzero(order, k) for k in (1, 2)]

    def first(x: mp.mpf) -> mp.mpf:
        x = _beside(x, zeros)
        value = mp.besselj(order, x) / x**order
        for zero in zeros:
            value = value / (x * x - zero * zero)
        return value

    def second(x: mp.mpf) -> mp.mpf:
        logarithm = mp.log(x) * mp.besselj(order, x)
        rest = mp.bessely(order, x) - 2 / mp.pi * (logarithm - (1 / x if order else 0))
        return rest / x**order

    yield relative(f"j{order}", of_square(first, 8), 14)
    yield absolute(f"y{order}", of_square(second, 8), 16)

    def parts(x: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
        phase = x - mp.pi / 4 - order * mp.pi / 2
        size = mp.sqrt(mp.pi * x / 2)
        j, y = mp.besselj(order, x) * size, mp.bessely(order, x) * size
        sine, cosine = mp.sin(phase), mp.cos(phase)
        return j * cosine + y * sine, x * (y * cosine - j * sine)

    limit = mp.mpf(4 * order - 1) / 8
    yield relative(f"j{order} even", of_inverse(lambda x: parts(x)[0], 8, ONE, 2), 13)
    yield relative(f"j{order} odd", of_inverse(lambda x: parts(x)[1], 8, limit, 2), 12)


def _beside(x: mp.mpf, zeros: list[mp.mpf]) -> mp.mpf:
    return x + SMALL if any(abs(x - zero) < SMALL for zero in zeros) else x


def airy_fits() -> Iterator[Fit]:
    """Those of Ai, by zeta = 2/3 x^(3/2)."""
    zero = mp.airyaizero(1)

    def middle(t: mp.mpf) -> mp.mpf:
        x = _beside(3 * t - 1, [zero])
        return mp.airyai(x) / (x - zero)

    yield relative("airy middle", middle, 34)

    def falling(zeta: mp.mpf) -> mp.mpf:
        x = (zeta * 3 / 2) ** (ONE * 2 / 3)
        return mp.airyai(x) * mp.exp(zeta) * mp.root(x, 4)

    root = mp.sqrt(mp.pi)
    yield relative("airy far", of_inverse(falling, _zeta(2), 1 / (2 * root)), 24)

    def waves(zeta: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
        x, phase = (zeta * 3 / 2) ** (ONE * 2 / 3), zeta + mp.pi / 4
        a, b = mp.airyai(-x) * mp.root(x, 4), mp.airybi(-x) * mp.root(x, 4)
        sine, cosine = mp.sin(phase), mp.cos(phase)
        return a * sine + b * cosine, zeta * (b * sine - a * cosine)

    yield relative("airy even", of_inverse(lambda z: waves(z)[0], _zeta(4), 1 / root, 2), 17)
    limit = mp.mpf(5) / 72 / root
    yield relative("airy odd", of_inverse(lambda z: waves(z)[1], _zeta(4), limit, 2), 16)


def _zeta(x: int) -> mp.mpf:
    return mp.mpf(2) / 3 * mp.mpf(x) ** (ONE * 3 / 2)


def scaled_erfc(q: mp.mpf) -> mp.mpf:
    """(1 + 2 x) e^(x^2) erfc(x) of q = (x - 4) / (x + 4), also at infinity."""
    if q > 1 - SMALL * 10000:
        return 2 / mp.sqrt(mp.pi) * (1 + (1 - q) / 16)
    x = 4 * (1 + q) / (1 - q)
    if x < 60:
        return mp.exp(x * x) * mp.erfc(x) * (1 + 2 * x)
    terms = ((-1) ** k * mp.fac2(2 * k - 1) / (2 * x * x) ** k for k in range(12))
    return sum(terms) / x / mp.sqrt(mp.pi) * (1 + 2 * x)


def quantile(q: mp.mpf) -> mp.mpf:
    """erfinv(y) / r of w = r^2 = -log(1 - y^2) and q = (r - 12.75) / (r + 12.75), far out."""
    root = mp.mpf("12.75") * (1 + q) / (1 - q)
    w = root * root
    rest = mp.exp(-w) / (1 + mp.sqrt(-mp.expm1(-w)))
    y = mp.sqrt(w - mp.log(mp.sqrt(mp.pi * w)))
    for _ in range(8):  # Halley's steps, of which the first errs by a few per cent
        step = (mp.erfc(y) - rest) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
        y = y + step / (1 + y * step)
    return y / root


def special_fits() -> Iterator[Fit]:
    """All of them."""
    makers: list[Callable[[], Iterator[Fit]]] = [airy_fits]
    for order in (0, 1):
        makers += [lambda order=order: modified_fits(order), lambda order=order: wave_fits(order)]
    for make in makers:
        yield from make()
    yield relative("erfcx", scaled_erfc, 25)
    yield relative("ndtri", quantile, 22, "-0.37", "0.37")
