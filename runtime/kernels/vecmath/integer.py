"""The primitives for the integer types; arithmetic wraps around as in C.

Division by zero raises RuntimeError("ZeroDivisionError"), as PyTorch does on CPU: no result would
be right. Processors divide no vectors of integers, but those of doubles: where both numbers are
below 2^53 the rounded quotient is on the right side of every integer, for x / y is at least 1 / |y|
away from the next, which is more than half a unit in the last place.
"""

import math

import numpy as np

T = np.int64


def pow(x, y):
    """By squaring. A negative exponent gives 0 unless the base is 1 or -1, as PyTorch."""
    exponent = np.int64(y)
    if exponent < 0:
        if x == 1:
            return T(1)
        if x == T(-1):
            return T(-1) if exponent & 1 else T(1)
        return T(0)
    result = T(1)
    base = T(x)
    while exponent:
        if exponent & 1:
            result = T(result * base)
        base = T(base * base)
        exponent >>= 1
    return result


def left_shift(x, y):
    """Zero for a negative shift, and for one by all bits or more."""
    last = np.iinfo(T).bits - 1
    return T(x << T(y & T(last))) if (y >= T(0)) & (y <= T(last)) else T(0)


def right_shift(x, y):
    """The sign alone, 0 or -1, for a negative shift, and for one by all bits or more."""
    last = np.iinfo(T).bits - 1
    shifted = T(x >> T(y & T(last)))
    return shifted if (y >= T(0)) & (y <= T(last)) else (T(-1) if x < T(0) else T(0))


def floor_divide(x, y):
    """Rounded down, as Python's //; the smallest number by -1 stays itself."""
    if y == 0:
        raise RuntimeError("ZeroDivisionError")
    if y == -1:
        return T(-x)  # processors trap, or answer what they like, where this overflows
    return T(x // y)


def floor_divide_near(x, y):
    return T(np.int64(np.floor(np.float64(x) / np.float64(y))))


def floor_divide_is_far(x, y):
    """Whether a double may not hold one of them, or nothing is right."""
    size = math.fabs(np.float64(x)) + math.fabs(np.float64(y))
    return (size >= 9007199254740992.0) | (y == 0)


def remainder(x, y):
    """With the sign of y, as Python's %."""
    if y == 0:
        raise RuntimeError("ZeroDivisionError")
    if y == -1:
        return T(0)
    return T(x % y)


def remainder_near(x, y):
    return T(x - y * floor_divide_near(x, y))


def remainder_is_far(x, y):
    return floor_divide_is_far(x, y)


def fmod(x, y):
    """With the sign of x, as C's %."""
    if y == 0:
        raise RuntimeError("ZeroDivisionError")
    if y == -1:
        return T(0)
    r = x % y
    return T(r - y) if (r != 0) & ((x < 0) != (y < 0)) else T(r)


def fmod_near(x, y):
    return T(x - y * T(np.int64(np.float64(x) / np.float64(y))))


def fmod_is_far(x, y):
    return floor_divide_is_far(x, y)


def magnitude(x):
    """The size of a number, that of the smallest one too."""
    return np.uint64(-np.int64(x)) if x < T(0) else np.uint64(x)


def gcd(x, y):
    """Euclid's algorithm."""
    a, b = magnitude(x), magnitude(y)
    while b != np.uint64(0):
        a, b = b, a % b
    return T(a)


def lcm(x, y):
    """Never negative, but where it overflows."""
    divisor = magnitude(gcd(x, y))
    if divisor == np.uint64(0):
        return T(0)
    return T(magnitude(x) // divisor * magnitude(y))


def abs(x):
    """The smallest number stays itself."""
    return T(-x) if x < 0 else x


def sign(x):
    return T(x > 0) - T(x < 0)


def floor(x):
    return x


def ceil(x):
    return x


def round(x):
    return x


def trunc(x):
    return x


def min(x, y):
    return x if x < y else y


def max(x, y):
    return x if x > y else y


def fmin(x, y):
    return x if x < y else y


def fmax(x, y):
    return x if x > y else y


def where(condition, x, y):
    return x if condition else y


def isnan(x):
    return False


def isinf(x):
    return False


def isfinite(x):
    return True


def signbit(x):
    return x < 0


def conj(x):
    return x


def real(x):
    return x


def imag(x):
    return T(0)


def square(x):
    return T(x * x)


def reciprocal(x):
    return 1.0 / x
