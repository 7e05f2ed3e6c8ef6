"""Computes the polynomial coefficients of runtime/kernels/vecmath: python vecmath_coefficients.py

Each is the minimax polynomial of a smooth function on an interval, found by Remez exchange with
mpmath: alternate solving for equal errors at n + 1 points and moving the points to the extrema.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, reduce

import mpmath as mp

Function = Callable[[mp.mpf], mp.mpf]
mp.mp.dps = 50
SMALL = mp.mpf(10) ** -12
LN2 = mp.log(2)


@dataclass(frozen=True)
class Fit:
    """A polynomial of `count` coefficients for `function`, least in max |weight * error|."""

    name: str
    function: Function
    count: int
    low: mp.mpf
    high: mp.mpf
    weight: Function

    def solve(self) -> tuple[list[float], mp.mpf]:
        """Return the coefficients from the constant up, and the largest weighted error."""
        return remez(self.function, self.count, self.low, self.high, self.weight)


def remez(
    function: Function, count: int, low: mp.mpf, high: mp.mpf, weight: Function
) -> tuple[list[float], mp.mpf]:
    """Exchange points until the largest error is within 2% of the least possible."""
    middle, radius = (low + high) / 2, (high - low) / 2
    points = [
        middle - radius * mp.cos(mp.pi * (2 * k + 1) / (2 * (count + 1))) for k in range(count + 1)
    ]
    coefficients: list[mp.mpf] = []
    worst = mp.inf
    for _ in range(12):
        points = [x if weight(x) > SMALL else x + 2 * radius / 100 for x in points]
        coefficients, level = _leveled(function, count, points, weight)

        def error(x: mp.mpf, c: list[mp.mpf] = coefficients) -> mp.mpf:
            value = reduce(lambda total, each: total * x + each, reversed(c))
            return weight(x) * (function(x) - value)

        steps = 40 * (count + 1)
        grid = [middle - radius * mp.cos(mp.pi * k / steps) for k in range(steps + 1)]
        extrema = _alternating_extrema([(x, error(x)) for x in grid], count + 1)
        worst = max(abs(e) for _, e in extrema)
        points = [x for x, _ in extrema]
        if len(points) < count + 1 or worst < level * mp.mpf("1.02"):
            break
    return [float(c) for c in coefficients], worst


def _leveled(
    function: Function, count: int, points: list[mp.mpf], weight: Function
) -> tuple[list[mp.mpf], mp.mpf]:
    """Solve for the polynomial whose weighted errors at the points are +-level in turn."""
    matrix = mp.matrix(count + 1, count + 1)
    right = mp.matrix(count + 1, 1)
    for i, x in enumerate(points):
        for power in range(count):
            matrix[i, power] = x**power
        matrix[i, count] = (-1) ** i / weight(x)
        right[i] = function(x)
    solution = mp.lu_solve(matrix, right)
    return [solution[i] for i in range(count)], abs(solution[count])


def _alternating_extrema(
    errors: list[tuple[mp.mpf, mp.mpf]], wanted: int
) -> list[tuple[mp.mpf, mp.mpf]]:
    """Return the extremum of each run of one sign, without the smaller ends if too many."""
    found: list[tuple[mp.mpf, mp.mpf]] = []
    for x, e in errors:
        if not found or (e >= 0) != (found[-1][1] >= 0):
            found.append((x, e))
        elif abs(e) > abs(found[-1][1]):
            found[-1] = (x, e)
    while len(found) > wanted:
        found.pop(0 if abs(found[0][1]) < abs(found[-1][1]) else -1)
    return found


def rest(function: Function, order: int, limit: str) -> Function:
    """(f(t) - t) / t^order at t = sqrt(z) for an odd f = t + limit t^order + ..."""

    def value(z: mp.mpf) -> mp.mpf:
        t = mp.sqrt(z)
        return (function(t) - t) / t**order if z > SMALL else mp.mpf(eval(limit))

    return value


def odd(name: str, function: Function, limit: str, count: int, top: mp.mpf) -> Fit:
    """An odd function as t + t^3 P(t^2), relative to the function."""

    def weight(z: mp.mpf) -> mp.mpf:
        t = mp.sqrt(z)
        return t**3 / function(t) if z > 0 else mp.mpf(0)

    return Fit(name, rest(function, 3, limit), count, mp.mpf(0), top, weight)


def exp_rest(r: mp.mpf) -> mp.mpf:
    return (mp.expm1(r) - r) / r**2 if abs(r) > SMALL else mp.mpf(1) / 2 + r / 6


def exp2_rest(r: mp.mpf) -> mp.mpf:
    return (mp.power(2, r) - 1) / r if abs(r) > SMALL else LN2


def exp_twice_rest(r: mp.mpf) -> mp.mpf:
    return mp.expm1(2 * r) / r if abs(r) > SMALL else 2 + 2 * r


def log_rest(order: int) -> Function:
    """log(1 + f) less its first terms, over f^order."""

    def value(f: mp.mpf) -> mp.mpf:
        if abs(f) < mp.mpf(10) ** -8:
            return (-1) ** (order + 1) * (mp.mpf(1) / order - f / (order + 1))
        head = {1: mp.mpf(0), 2: f, 3: f - f * f / 2}[order]
        return (mp.log1p(f) - head) / f**order

    return value


def log_weight(order: int) -> Function:
    return lambda f: abs(f) ** order / abs(mp.log1p(f)) if f != 0 else mp.mpf(0)


def times(function: Function, factor: mp.mpf) -> Function:
    return lambda x: function(x) * factor


def artanh_rest(z: mp.mpf) -> mp.mpf:
    """(2 artanh s - 2 s) / s^3 at s = sqrt(z)."""
    s = mp.sqrt(z)
    return (mp.log((1 + s) / (1 - s)) - 2 * s) / s**3 if z > SMALL else mp.mpf(2) / 3 + z * 2 / 5


def log_tail(z: mp.mpf) -> mp.mpf:
    """(3/2 log((1 + s) / (1 - s)) / s - 3 - z) / z^2."""
    s = mp.sqrt(z)
    if z < mp.mpf(10) ** -9:
        return mp.mpf(3) / 5 + mp.mpf(3) / 7 * z + mp.mpf(3) / 9 * z * z
    return (mp.mpf(3) / 2 * mp.log((1 + s) / (1 - s)) / s - 3 - z) / z**2


def cosh_rest(z: mp.mpf) -> mp.mpf:
    """(cosh t - 1) / t^2 at t = sqrt(z)."""
    return (mp.cosh(mp.sqrt(z)) - 1) / z if z > SMALL else mp.mpf(1) / 2 + z / 24


def cos_rest(z: mp.mpf) -> mp.mpf:
    if z < mp.mpf(10) ** -8:
        return mp.mpf(1) / 24 - z / 720 + z * z / 40320
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2


def cot_rest(z: mp.mpf) -> mp.mpf:
    """(1 / t - cot t) / t at t = sqrt(z)."""
    t = mp.sqrt(z)
    return (1 / t - mp.cot(t)) / t if z > SMALL else mp.mpf(1) / 3 + z / 45


def erf_rest(z: mp.mpf) -> mp.mpf:
    """(erf(t) / t - 2 / sqrt(pi)) / z."""
    lead, t = 2 / mp.sqrt(mp.pi), mp.sqrt(z)
    return (mp.erf(t) / t - lead) / z if z > mp.mpf(10) ** -15 else -lead / 3 + lead * z / 10


def erf_weight(z: mp.mpf) -> mp.mpf:
    return z * mp.sqrt(z) / mp.erf(mp.sqrt(z)) if z > 0 else mp.mpf(0)


def scaled_erfc(center: int, with_slope: bool = False) -> Function:
    """e^(x^2) erfc(x), perhaps times 1 + 2x, of q = (x - center) / (x + center)."""

    @cache
    def value(q: mp.mpf) -> mp.mpf:
        x = center * (1 + q) / (1 - q)
        return mp.exp(x * x) * mp.erfc(x) * (1 + 2 * x if with_slope else 1)

    return value


def fraction(x: str, center: int) -> mp.mpf:
    return (mp.mpf(x) - center) / (mp.mpf(x) + center)


@cache
def erfinv_ratio(w: mp.mpf) -> mp.mpf:
    """erfinv(x) / x of w = -log(1 - x^2), by Halley's method on erfc."""
    if w < mp.mpf(10) ** -30:
        return mp.sqrt(mp.pi) / 2
    x = mp.sqrt(-mp.expm1(-w))
    rest_ = mp.exp(-w) / (1 + x)
    y = mp.erfinv(x) if w < 20 else mp.sqrt(w - mp.log(mp.sqrt(mp.pi * w)))
    for _ in range(60):
        step = (mp.erfc(y) - rest_) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
        y, last = y + step / (1 + y * step), y
        if abs(y - last) < mp.mpf(10) ** -40 * y:
            break
    return y / x


def erfinv_in_root(center: str) -> Function:
    return lambda t: erfinv_ratio((t + mp.mpf(center)) ** 2)


def lgamma_ratio(t: mp.mpf) -> mp.mpf:
    """lgamma(2 + t) / t."""
    return mp.loggamma(2 + t) / t if abs(t) > mp.mpf(10) ** -15 else 1 - mp.euler


def sine_of_turns(z: mp.mpf) -> mp.mpf:
    f = mp.sqrt(z)
    return mp.sin(mp.pi * f) / f if z > mp.mpf(10) ** -20 else +mp.pi


def inverse(function: Function) -> Function:
    """The weight of a relative error."""
    return lambda x: 1 / function(x)


def float32_fits() -> Iterator[Fit]:
    """Those of float32 that are rounded to float32."""
    h = LN2 / 2 * mp.mpf("1.001")
    yield Fit("exp", exp_rest, 5, -h, h, lambda r: r * r / mp.exp(r))
    yield Fit("twice exp", times(exp_rest, 2), 5, -h, h, lambda r: r * r / mp.exp(r))
    yield Fit("expm1", exp_rest, 5, -h, h, abs)
    yield Fit("exp in tanh", exp_twice_rest, 6, -h / 2, h / 2, lambda r: abs(r) / mp.exp(2 * r))
    yield Fit("cosh", cosh_rest, 3, mp.mpf(0), h * h, lambda z: z)
    yield odd("sinh", mp.sinh, "1 / mp.mpf(6)", 3, h * h)
    low, high = mp.mpf("0.93243014"), mp.mpf("1.06907379")  # of x y^2 in rsqrt
    yield Fit("rsqrt", lambda t: 1 / mp.sqrt(t), 3, low, high, mp.sqrt)
    half = mp.mpf("0.5005")
    yield Fit("exp2", times(exp2_rest, 2), 6, -half, half, lambda r: abs(r) / mp.power(2, r))
    low, high = mp.sqrt(mp.mpf("0.5")) - 1 - mp.mpf("1e-6"), mp.sqrt(2) - 1 + mp.mpf("1e-6")
    for name, factor in (("log", mp.mpf(1)), ("log2", 1 / LN2), ("log10", 1 / mp.log(10))):
        yield Fit(name, times(log_rest(3), factor), 9, low, high, log_weight(3))
    top = (mp.pi / 4 * mp.mpf("1.001")) ** 2
    yield odd("sin", mp.sin, "-1 / mp.mpf(6)", 3, top)
    yield Fit("cos", cos_rest, 3, mp.mpf(0), top, lambda z: z * z)
    top = (mp.pi / 4 * mp.mpf("1.005")) ** 2
    yield odd("tan near", mp.tan, "1 / mp.mpf(3)", 6, top)
    yield Fit("cot", cot_rest, 4, mp.mpf(0), top, lambda z: mp.sqrt(z) * mp.tan(mp.sqrt(z)))
    yield odd("tanh", mp.tanh, "-1 / mp.mpf(3)", 5, mp.mpf("0.625") ** 2)
    yield odd("asin", mp.asin, "1 / mp.mpf(6)", 5, mp.mpf("0.25"))
    yield odd("atan", mp.atan, "-1 / mp.mpf(3)", 9, mp.mpf(1))
    yield odd("atanh", mp.atanh, "1 / mp.mpf(3)", 7, mp.mpf("0.2501"))
    yield Fit("erf", erf_rest, 6, mp.mpf(0), mp.mpf(1), erf_weight)
    yield Fit("exp2 in erf", exp2_rest, 5, -half, half, lambda r: abs(r) / mp.power(2, r))
    yield Fit(
        "log2 erfc",
        lambda x: mp.log(mp.erfc(x), 2) / x,
        6,
        mp.mpf("0.97"),
        mp.mpf("3.9"),
        lambda x: x * LN2 * mp.erfc(x) / mp.erf(x),
    )
    yield Fit("erfinv", erfinv_ratio, 11, mp.mpf(0), mp.mpf(6), inverse(erfinv_ratio))
    root = erfinv_in_root("3.2")
    low, high = mp.sqrt(mp.mpf("5.9")) - mp.mpf("3.2"), 4 - mp.mpf("3.2")
    yield Fit("erfinv tail", root, 9, low, high, inverse(root))


def double_fits() -> Iterator[Fit]:
    """Those of float32 that are used in double, and of double.py."""
    low, high = mp.sqrt(mp.mpf("0.5")) - 1 - mp.mpf("1e-6"), mp.sqrt(2) - 1 + mp.mpf("1e-6")
    yield Fit("log_double", log_rest(2), 13, low, high, log_weight(2))
    yield Fit("log2_double", times(log_rest(1), 1 / LN2), 12, low, high, times(log_weight(1), LN2))
    half = mp.mpf("0.5005")
    yield Fit("exp2_double", lambda r: mp.power(2, r), 7, -half, half, lambda r: mp.power(2, -r))
    h = LN2 / 2 * mp.mpf("1.0001")
    yield Fit("exp_double", exp_rest, 7, -h, h, lambda r: r * r / mp.exp(r))
    yield odd("tan", mp.tan, "1 / mp.mpf(3)", 8, (mp.pi / 4 * mp.mpf("1.0001")) ** 2)
    scaled = scaled_erfc(4)
    yield Fit("erfc", scaled, 12, mp.mpf(-1), fraction("10.06", 4), inverse(scaled))
    half = mp.mpf("0.5")
    yield Fit("lgamma", lgamma_ratio, 18, -half, half, inverse(lgamma_ratio))
    yield Fit("lgamma near", lgamma_ratio, 11, -half, half, inverse(lgamma_ratio))
    yield Fit("whole sine", sine_of_turns, 9, mp.mpf(0), mp.mpf("0.25"), inverse(sine_of_turns))
    yield Fit("sine", sine_of_turns, 7, mp.mpf(0), mp.mpf("0.25"), inverse(sine_of_turns))


def float64_fits() -> Iterator[Fit]:
    """Those of float64."""
    h = LN2 / 2 * mp.mpf("1.0001")
    yield Fit("exp", exp_rest, 10, -h, h, lambda r: r * r / mp.exp(r))
    yield Fit("expm1", exp_rest, 11, -h, h, lambda r: abs(r) * abs(r / mp.expm1(r)) if r else r)
    half = mp.mpf("0.50001")
    yield Fit("exp2", exp2_rest, 11, -half, half, lambda r: abs(r) / mp.power(2, r))
    top = mp.mpf("0.02945")
    yield Fit("log", artanh_rest, 7, mp.mpf(0), top, lambda z: z / 2)
    yield Fit("pow", log_tail, 8, mp.mpf(0), top, lambda z: z * z / 3)
    top = mp.mpf("0.8") ** 2
    yield odd("sin", mp.sin, "-1 / mp.mpf(6) + z / 120", 6, top)
    yield Fit("cos", cos_rest, 6, mp.mpf(0), top, lambda z: z * z)
    yield odd("tan", mp.tan, "1 / mp.mpf(3) + 2 * z / 15", 15, top)
    yield odd("asin", mp.asin, "1 / mp.mpf(6) + z * 3 / 40", 12, mp.mpf("0.25001"))
    top = (mp.tan(mp.pi / 8) * mp.mpf("1.0001")) ** 2
    yield odd("atan", mp.atan, "-1 / mp.mpf(3) + z / 5", 11, top)
    yield odd("sinh", mp.sinh, "1 / mp.mpf(6) + z / 120", 8, mp.mpf("1.0001"))
    yield odd("tanh", mp.tanh, "-1 / mp.mpf(3) + z * 2 / 15", 11, mp.mpf("0.6251") ** 2)
    yield odd("asinh", mp.asinh, "-1 / mp.mpf(6) + z * 3 / 40", 12, mp.mpf("0.5301") ** 2)
    yield odd("atanh", mp.atanh, "1 / mp.mpf(3) + z / 5", 13, mp.mpf("0.25001"))
    yield Fit("erf", erf_rest, 12, mp.mpf(0), mp.mpf("1.0001"), erf_weight)
    scaled = scaled_erfc(2)
    low, high = fraction("0.99", 2), fraction("6", 2)
    yield Fit("erf tail", scaled, 15, low, high, inverse(scaled))
    scaled = scaled_erfc(4, with_slope=True)
    low, high = fraction("0.45", 4), fraction("27.3", 4)
    yield Fit("erfc", scaled, 22, low, high, inverse(scaled))
    center = mp.mpf("3.125")
    central: Function = lambda t: erfinv_ratio(t + center)  # noqa: E731
    yield Fit("erfinv", central, 24, -center, center, inverse(central))
    root = erfinv_in_root("3.25")
    low = mp.sqrt(mp.mpf("6.25")) - mp.mpf("3.25")
    yield Fit("erfinv middle", root, 20, low, 4 - mp.mpf("3.25"), inverse(root))
    root = erfinv_in_root("5")
    yield Fit("erfinv tail", root, 18, mp.mpf(-1), mp.mpf("6.01") - 5, inverse(root))


def main() -> None:
    """Print all fits with the binary logarithm of their error."""
    for title, fits in (
        ("float32", float32_fits()),
        ("float32, in double", double_fits()),
        ("float64", float64_fits()),
    ):
        for fit in fits:
            coefficients, worst = fit.solve()
            print(f"{title} {fit.name}: 2^{float(mp.log(worst, 2)):.1f}")
            for value in coefficients:
                print("   ", repr(value))


if __name__ == "__main__":
    sys.exit(main())
