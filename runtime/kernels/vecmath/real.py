"""Sign, rounding, extremes and tests: the same for float32 and float64."""

import math

import numpy as np

T = np.float32


def abs(x):
    return T(math.fabs(x))


def sign(x):
    """0 for NaN, as PyTorch."""
    return T(x > T(0)) - T(x < T(0))


def floor(x):
    return np.floor(x)


def ceil(x):
    return np.ceil(x)


def round(x):
    """To nearest, ties to even."""
    return np.rint(x)


def trunc(x):
    return np.trunc(x)


def min(x, y):
    """NaN if either is."""
    return x if (x < y) | (x != x) else y


def max(x, y):
    """NaN if either is."""
    return x if (x > y) | (x != x) else y


def fmin(x, y):
    """The other one if one is NaN."""
    return x if (x <= y) | (y != y) else y


def fmax(x, y):
    """The other one if one is NaN."""
    return x if (x >= y) | (y != y) else y


def pow_known(x, y):
    """Products, roots and reciprocals. Roots are those of `sqrt`, as PyTorch's for a number as
    exponent: of -0 it is -0, and of -inf nan. 1 / x^2 is the square of 1 / x, which overflows or
    vanishes no sooner than it. Error 1.9 ulp, of roots of x 0.5."""
    if math.fabs(y) == T(0.5):
        return np.sqrt(x) if y == T(0.5) else T(1) / np.sqrt(x)
    if (y == T(-1)) | (y == T(-2)):
        inverse = T(1) / x
        return inverse if y == T(-1) else inverse * inverse
    square = x * x
    return square if y == T(2) else (x if y == T(1) else (T(1) if y == T(0) else square * x))


def pow_is_known(y):
    is_whole = (y == np.rint(y)) & (y >= T(-2)) & (y <= T(3))
    return is_whole | (math.fabs(y) == T(0.5))


def where(condition, x, y):
    return x if condition else y


def isnan(x):
    return x != x


def isinf(x):
    return math.fabs(x) == T(math.inf)


def isfinite(x):
    return math.fabs(x) < T(math.inf)


def signbit(x):
    return np.signbit(x)


def copysign(x, y):
    return T(math.copysign(x, y))


def conj(x):
    return x


def real(x):
    return x


def imag(x):
    return T(0)


def square(x):
    return x * x


def reciprocal(x):
    return T(1) / x
