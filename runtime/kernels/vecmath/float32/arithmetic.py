"""Roots and remainders of float32."""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import inf, nan

T = np.float32
eps = T(1.1920928955078125e-07)


def sqrt(x):
    """The processor's: correctly rounded."""
    return np.sqrt(x)


def hypot(x, y):
    """In float64, in which nothing overflows; of an infinity and nan infinite. Error 0.5 ulp."""
    a, b = np.float64(x), np.float64(y)
    is_infinite = (math.fabs(x) == inf) | (math.fabs(y) == inf)
    return T(inf) if is_infinite else T(np.sqrt(a * a + b * b))


def rsqrt(x):
    """As rsqrt_near; of what that is not for, by root and quotient. Error 1.5 ulp."""
    return T(1) / np.sqrt(x) if rsqrt_is_far(x) else rsqrt_near(x)


def rsqrt_near(x):
    """Of positive normal numbers: y by the bits, its exponent half that of x, with the other sign;
    of t = x y^2, near 1, 1 / sqrt(t) by degree 2, to 2^-15; a step of Newton's. Error 1.0 ulp."""
    bits = np.int32(T(x).view(np.int32) >> np.int32(1))
    y = np.int32(np.int32(0x5F3759DF) - bits).view(np.float32)
    t = x * y * y
    y = y * (T(1.8766320943832397) + t * (T(-1.2521660327911377) + t * T(0.3755340874195099)))
    return y + T(0.5) * y * (T(1) - x * y * y)


def rsqrt_is_far(x):
    """Whether x is not positive and normal, as log_is_far."""
    bits = np.uint32(T(x).view(np.uint32) - np.uint32(0x800000))
    return bits >= np.uint32(0x7F000000)


def nextafter(x, y):
    """The bits of x, which count away from 0, one up or down; from 0 the smallest number."""
    bits = T(x).view(np.int32)
    away = (x < y) == (x > T(0))
    step = np.int32(1) if away else np.int32(-1)
    result = np.int32(bits + step).view(np.float32)
    result = T(math.copysign(T(1.401298464324817e-45), y)) if x == T(0) else result
    result = y if x == y else result
    return result if (x == x) & (y == y) else x + y


def fmod(x, y):
    """In double: five quotients of 28 bits, whose products with y are exact, take |x| below |y|.
    Exact for ratios below 2^140; 0 beyond. NaN for y = 0."""
    a = np.float64(math.fabs(x))
    b = np.float64(math.fabs(y))
    r = exact_rest(a, b)
    r = a if b == inf else r
    return T(math.copysign(r, x)) if (a < inf) & (b > 0.0) else T(nan)


def exact_rest(a, b):
    """a - b floor(a / b) in double, for floats a >= 0 and b > 0. Serves fmod and remainder."""
    inverse = 1.0 / b
    r = a
    q = np.trunc(r * inverse)
    r = r - np.int64(np.float64(q).view(np.int64) & -33554432).view(np.float64) * b
    q = np.trunc(r * inverse)
    r = r - np.int64(np.float64(q).view(np.int64) & -33554432).view(np.float64) * b
    q = np.trunc(r * inverse)
    r = r - np.int64(np.float64(q).view(np.int64) & -33554432).view(np.float64) * b
    q = np.trunc(r * inverse)
    r = r - np.int64(np.float64(q).view(np.int64) & -33554432).view(np.float64) * b
    r = r - np.trunc(r * inverse) * b
    r = r + b if r < 0.0 else r
    r = r - b if r >= b else r
    return 0.0 if math.fabs(r) >= b else r


def remainder(x, y):
    """x - floor(x / y) y, exact but for one rounding; it has the sign of y."""
    a = np.float64(math.fabs(x))
    b = np.float64(math.fabs(y))
    r = exact_rest(a, b)
    r = a if b == inf else r
    opposite = (x < T(0)) != (y < T(0))
    r = b - r if opposite & (r != 0.0) else r
    r = T(math.copysign(r, y)) if r != 0.0 else T(math.copysign(r, x))
    return r if (a < inf) & (b > 0.0) else T(nan)


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
