"""Gamma functions of float64."""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import inf, nan
from torchgen_out._runtime.kernels.vecmath.double import sine_of_turns
from torchgen_out._runtime.kernels.vecmath.float64.logarithmic import log

T = np.float64


def lgamma(x):
    """The C library's; |gamma| for negative x."""
    return T(math.lgamma(np.float64(x)))


def digamma(x):
    """Asymptotic series from 10 on, below that shifted by 10, the ten reciprocals as one quotient;
    reflection below 0. Near a zero the error is relative to 1."""
    negative = x < 0.0
    y = 1.0 - x if negative else x
    shifts = y < 10.0
    b = y if shifts else 10.0
    t = b * (b + 9.0)
    above = 40320.0 + t * (24352.0 + t * (3924.0 + t * (240.0 + t * 5.0)))
    below = t * (40320.0 + t * (12176.0 + t * (1308.0 + t * (60.0 + t * 1.0))))
    steps = (b + b + 9.0) * above / below
    z = y + 10.0 if shifts else y
    inverse = 1.0 / z
    w = inverse * inverse
    w2 = w * w
    series = 0.007575757575757576 + w2 * 0.08333333333333333
    series = 0.08333333333333333 + w2 * (0.003968253968253968 + w2 * series)
    odd = -0.004166666666666667 + w2 * -0.021092796092796094
    odd = -0.008333333333333333 + w2 * odd
    series = series + w * odd
    result = log(z) - (0.5 * inverse + w * series)
    result = result - steps if shifts else result
    f = x - np.rint(x)
    sine = sine_of_turns(f)
    cosine = sine_of_turns(0.5 - math.fabs(f))
    result = result - 3.141592653589793 * cosine / sine if negative else result
    result = nan if negative & (f == 0.0) else result
    result = math.copysign(inf, -x) if x == 0.0 else result
    result = x if x == inf else result
    return result if x > -inf else nan


def trigamma(x):
    """Asymptotic series at y + 8, after eight steps; reflection below 1/2."""
    reflects = x < 0.5
    y = 1.0 - x if reflects else x
    a = 1.0 / y
    b = 1.0 / (y + 1.0)
    c = 1.0 / (y + 2.0)
    d = 1.0 / (y + 3.0)
    steps = (a * a + b * b) + (c * c + d * d)
    a = 1.0 / (y + 4.0)
    b = 1.0 / (y + 5.0)
    c = 1.0 / (y + 6.0)
    d = 1.0 / (y + 7.0)
    steps = steps + ((a * a + b * b) + (c * c + d * d))
    inverse = 1.0 / (y + 8.0)
    w = inverse * inverse
    w2 = w * w
    series = 0.07575757575757576 + w2 * 1.1666666666666667
    series = 0.16666666666666666 + w2 * (0.023809523809523808 + w2 * series)
    odd = -0.03333333333333333 + w2 * -0.2531135531135531
    odd = -0.03333333333333333 + w2 * odd
    series = series + w * odd
    result = steps + (inverse + (0.5 * w + inverse * w * series))
    sine = 3.141592653589793 / sine_of_turns(x - np.rint(x))
    return sine * sine - result if reflects else result
