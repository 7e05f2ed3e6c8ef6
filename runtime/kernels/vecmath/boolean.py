"""The primitives for truth values: false is 0, true is 1."""

import numpy as np

T = np.bool_


def pow(x, y):
    """0 ** 0 is 1."""
    return x or not y


def abs(x):
    return x


def sign(x):
    return x


def floor(x):
    return x


def ceil(x):
    return x


def round(x):
    return x


def trunc(x):
    return x


def min(x, y):
    return x and y


def max(x, y):
    return x or y


def fmin(x, y):
    return x and y


def fmax(x, y):
    return x or y


def where(condition, x, y):
    return x if condition else y


def isnan(x):
    return False


def isinf(x):
    return False


def isfinite(x):
    return True


def signbit(x):
    return False


def conj(x):
    return x


def real(x):
    return x


def imag(x):
    return False


def square(x):
    return x
