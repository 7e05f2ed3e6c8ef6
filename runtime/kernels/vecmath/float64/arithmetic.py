"""Roots and remainders of float64."""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import inf, nan

T = np.float64
eps = T(2.220446049250313e-16)


def sqrt(x):
    """The processor's: correctly rounded."""
    return np.sqrt(x)


def hypot(x, y):
    """By the ratio of the two; of an infinity and nan infinite. Error 1.7 ulp."""
    a, b = math.fabs(x), math.fabs(y)
    longer, shorter = (a, b) if (a > b) | (a != a) else (b, a)
    ratio = shorter / longer if longer > 0.0 else 0.0
    size = longer * np.sqrt(1.0 + ratio * ratio)
    size = size if (a == a) & (b == b) else x + y
    return inf if (a == inf) | (b == inf) else size


def rsqrt(x):
    """Two roundings. Error 1.5 ulp."""
    return 1.0 / np.sqrt(x)


def nextafter(x, y):
    """The bits of x, which count away from 0, one up or down; from 0 the smallest number."""
    bits = np.float64(x).view(np.int64)
    away = (x < y) == (x > 0.0)
    result = np.int64(bits + (1 if away else -1)).view(np.float64)
    result = math.copysign(5e-324, y) if x == 0.0 else result
    result = y if x == y else result
    return result if (x == x) & (y == y) else x + y


def fmod(x, y):
    """Exact for |x / y| below 2^130; 0 beyond, which is a DEVIATION. NaN for y = 0."""
    a = math.fabs(x)
    b = math.fabs(y)
    r = a if b == inf else exact_rest(a, b)
    return math.copysign(r, x) if (a < inf) & (b > 0.0) else nan


def exact_rest(a, b):
    """a - b floor(a / b) for a >= 0 and b > 0 by five quotients of 26 bits, whose products with
    the halves of b are exact. Serves fmod and remainder."""
    scale = 2.0**600 if b < 1e-290 else 1.0
    b = b * scale
    r = a * scale
    inverse = 1.0 / b
    high = np.int64(np.float64(b).view(np.int64) & -134217728).view(np.float64)
    low = b - high
    q = np.trunc(r * inverse)
    q = np.int64(np.float64(q).view(np.int64) & -134217728).view(np.float64)
    r = (r - q * high) - q * low
    q = np.trunc(r * inverse)
    q = np.int64(np.float64(q).view(np.int64) & -134217728).view(np.float64)
    r = (r - q * high) - q * low
    q = np.trunc(r * inverse)
    q = np.int64(np.float64(q).view(np.int64) & -134217728).view(np.float64)
    r = (r - q * high) - q * low
    q = np.trunc(r * inverse)
    q = np.int64(np.float64(q).view(np.int64) & -134217728).view(np.float64)
    r = (r - q * high) - q * low
    q = np.trunc(r * inverse)
    q = np.int64(np.float64(q).view(np.int64) & -134217728).view(np.float64)
    r = (r - q * high) - q * low
    r = r + b if r < 0.0 else r
    r = r - b if r >= b else r
    return r * (1.0 / scale) if math.fabs(r) < b else 0.0


def remainder(x, y):
    """x - floor(x / y) y, exact but for one rounding; it has the sign of y."""
    a = math.fabs(x)
    b = math.fabs(y)
    r = a if b == inf else exact_rest(a, b)
    opposite = (x < 0.0) != (y < 0.0)
    r = b - r if opposite & (r != 0.0) else r
    r = math.copysign(r, y if r != 0.0 else x)
    return r if (a < inf) & (b > 0.0) else nan


def floor_divide(x, y):
    """floor(x / y) by way of the exact remainder, so that it agrees with `remainder`."""
    if y == T(0):
        return x / y
    r = fmod(x, y)
    quotient = (x - r) / y
    if (r != T(0)) & ((r < T(0)) != (y < T(0))):
        quotient -= T(1)
    if quotient == T(0):
        return T(math.copysign(T(0), x / y))
    down = np.floor(quotient)
    return down + T(1) if quotient - down > T(0.5) else down
