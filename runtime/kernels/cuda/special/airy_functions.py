"""Device functions: the Airy function Ai, in float64."""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_function
from torchgen_out._runtime.kernels.cuda.special.bessel_functions import second_kind_integral

AT_ZERO = 0.3550280538878172
"""Ai(0), 3^(-2/3) / Gamma(2/3)."""
SLOPE_AT_ZERO = -0.2588194037928068
"""Ai'(0), -3^(-1/3) / Gamma(1/3)."""
FAR = -14.0
"""From here on the asymptotic series has float64's precision."""


@device_function
def airy(x):
    """Ai(x): by Bessel's K of order 1/3 above 1, from 0 in Taylor steps below, far below by the
    asymptotic series of its waves."""
    if x != x:
        return x
    if x > 1.0:
        if x > 110.0:
            return 0.0
        zeta = 2.0 / 3.0 * x * math.sqrt(x)
        found = second_kind_integral(zeta, 1.0 / 3.0) * math.exp(-zeta)
        return found * math.sqrt(x / 3.0) / math.pi
    if x > FAR:
        return airy_by_steps(x)
    return airy_waves(-x) if x > -math.inf else math.nan


@device_function
def airy_by_steps(x):
    """Follow y'' = x y from 0: below 0 waves neither grow nor fade, so roundings stay small."""
    steps = math.floor(abs(x)) + 1.0
    step = x / steps
    value = AT_ZERO
    slope = SLOPE_AT_ZERO
    i = 0.0
    while i < steps:
        at = step * i
        # The Taylor coefficients times powers of the step: c2 = at c0 / 2, and so on.
        before = 0.0
        c0 = value
        c1 = slope * step
        total = c0 + c1
        derivative = c1
        k = 2.0
        while k < 40.0:
            following = step * step * (at * c0 + step * before) / (k * (k - 1.0))
            before = c0
            c0 = c1
            c1 = following
            total = total + following
            derivative = derivative + k * following
            k = k + 1.0
        value = total
        slope = derivative / step if step != 0.0 else slope
        i = i + 1.0
    return value


@device_function
def airy_waves(z):
    """Ai(-z): a sine and a cosine of zeta + pi/4 times the even and the odd terms of a series."""
    zeta = 2.0 / 3.0 * z * math.sqrt(z)
    even = 1.0
    odd = 0.0
    term = 1.0
    k = 1.0
    while k < 24.0:
        ratio = (6.0 * k - 5.0) * (6.0 * k - 3.0) * (6.0 * k - 1.0)
        ratio = ratio / (216.0 * k * (2.0 * k - 1.0) * zeta)
        if ratio > 0.9:
            break
        term = term * ratio
        if abs(term) < 1e-18:
            break
        remainder = k % 4.0
        if remainder == 1.0:
            odd = odd + term
        elif remainder == 2.0:
            even = even - term
        elif remainder == 3.0:
            odd = odd - term
        else:
            even = even + term
        k = k + 1.0
    phase = zeta + 0.25 * math.pi
    found = math.sin(phase) * even - math.cos(phase) * odd
    return found / (math.sqrt(math.pi) * math.sqrt(math.sqrt(z)))
