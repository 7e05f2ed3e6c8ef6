"""Hyperbolic functions and their inverses of float32."""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import inf, nan
from torchgen_out._runtime.kernels.vecmath.float32.logarithmic import log1p, log_double

T = np.float32


def sinh(x):
    """Of |x| = n ln 2 + r, with g and h = (2^n -+ 2^-n) / 2: g cosh(r) + h sinh(r), halved until
    the end, as 2^n overflows before the result. Tiny x is its own result. Error 1.9 ulp."""
    g, h, c, s = halves(x)
    result = T(math.copysign((g + (g * c + h * s)) * T(2), x))
    return x if math.fabs(x) < T(1e-4) else result


def cosh(x):
    """As sinh: h cosh(r) + g sinh(r). Error 1.9 ulp."""
    g, h, c, s = halves(x)
    return (h + (h * c + g * s)) * T(2)


def halves(x):
    """Half of g and of h, cosh(r) - 1 and sinh(r). From n = 40 on 2^-n does not matter, and soon
    its exponent would not do. Serves sinh and cosh."""
    a = T(math.fabs(x))
    y = T(89.5) if a > T(89.5) else a
    k = y * T(1.4426950408889634) + T(12583037)
    n = k - T(12583037)
    r = y - n * T(0.693145751953125) - n * T(1.4286068203094172e-06)
    z = r * r
    c = z * (T(0.5) + z * (T(0.041666265577077866) + z * T(0.0013946333201602101)))
    p = T(0.1666666716337204) + z * (T(0.008333289064466953) + z * T(0.00019905000226572156))
    s = r + r * z * p
    bits = np.int32(T(k).view(np.int32) << np.int32(23))
    up = np.int32(bits).view(np.float32)
    down = np.int32(np.int32(0x7D000000) - bits).view(np.float32)
    down = down if n < T(40) else T(0)
    return up - down, up + down, c, s


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
