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
    """Below 0.625 an odd polynomial of degree 11; above, 1 - 2 / (e^2a + 1), the power as in exp,
    but without its ends: beyond 2a = 20 it does not matter. Error 1.4 ulp."""
    a = T(math.fabs(x))
    z = a * a
    p = T(0.020639071241021156) + z * T(-0.005704966373741627)
    p = T(0.13331441581249237) + z * (T(-0.05373971164226532) + z * p)
    near = a + a * z * (T(-0.3333328068256378) + z * p)
    y = a + a
    y = T(20) if y > T(20) else y
    k = y * T(1.4426950408889634) + T(12583039)
    n = k - T(12583039)
    r = y - n * T(0.693145751953125) - n * T(1.4286068203094172e-06)
    p = T(0.0083687799051404) + r * T(0.0013814496342092752)
    p = T(0.1666651964187622) + r * (T(0.04166839271783829) + r * p)
    p = T(1) + r * (T(1) + r * (T(0.4999999403953552) + r * p))
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
