"""Hyperbolic functions and their inverses of float32."""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import inf, nan
from torchgen_out._runtime.kernels.vecmath.float32.exponential import exp_double
from torchgen_out._runtime.kernels.vecmath.float32.logarithmic import log1p, log_double

T = np.float32


def sinh(x):
    """In double: (e^a - e^-a) / 2; near 0 by its series. Error 0.5 ulp."""
    a = np.float64(math.fabs(x))
    e = exp_double(91.0 if a > 91.0 else a)
    result = a + a * a * a * 0.16666666666666666 if a < 0.01 else 0.5 * (e - 1.0 / e)
    return T(math.copysign(result, x))


def cosh(x):
    """In double: (e^a + e^-a) / 2. Error 0.5 ulp."""
    a = np.float64(math.fabs(x))
    e = exp_double(91.0 if a > 91.0 else a)
    return T(0.5 * (e + 1.0 / e))


def tanh(x):
    """Below 0.625 an odd polynomial of degree 11; above, 1 - 2 / (e^2a + 1), of a = n ln(2)/2 + r,
    where an error of n times that of ln(2)/2 does not matter, nor anything beyond 10. Error 1.4
    ulp."""
    a = T(math.fabs(x))
    z = a * a
    p = T(0.020639071241021156) + z * T(-0.005704966373741627)
    p = T(0.13331441581249237) + z * (T(-0.05373971164226532) + z * p)
    near = a + a * z * (T(-0.3333328068256378) + z * p)
    y = T(10) if a > T(10) else a
    k = y * T(2.885390043258667) + T(12583039)
    r = y - (k - T(12583039)) * T(0.3465735912322998)
    p = T(0.2679755389690399) + r * T(0.08859883248806)
    p = T(1.3333144187927246) + r * (T(0.6666881442070007) + r * p)
    p = T(1) + r * (T(2) + r * (T(1.999999761581421) + r * p))
    power = np.int32(T(k).view(np.int32) << np.int32(23)).view(np.float32)
    far = T(1) - T(2) / (T(1) + p * power)
    return T(math.copysign(near if a < T(0.625) else far, x))


def asinh(x):
    """In double: log(a + sqrt(a^2 + 1)); near 0 by its series. Error 0.5 ulp."""
    a = np.float64(math.fabs(x))
    near = a - a * a * a * 0.16666666666666666
    result = near if a < 0.01 else log_double(a + np.sqrt(a * a + 1.0))
    return T(math.copysign(result, x)) if a < inf else x


def acosh(x):
    """In double: log(x + sqrt(x^2 - 1)); NaN below 1. Error 0.5 ulp."""
    d = np.float64(x)
    result = T(log_double(d + np.sqrt(d * d - 1.0)))
    result = T(nan) if x < T(1) else result
    return result if x < T(inf) else x


def atanh(x):
    """Below 1/2 an odd polynomial of degree 15; above, log1p(2a / (1 - a)) / 2. Error 1.1 ulp."""
    a = T(math.fabs(x))
    z = a * a
    p = T(0.02446243353188038) + z * T(0.17601685225963593)
    p = T(0.10966901481151581) + z * (T(0.10284539312124252) + z * p)
    p = T(0.19999726116657257) + z * (T(0.14294874668121338) + z * p)
    near = a + a * z * (T(0.3333333730697632) + z * p)
    far = T(0.5) * log1p((a + a) / (T(1) - a))
    return T(math.copysign(near if a < T(0.5) else far, x))
