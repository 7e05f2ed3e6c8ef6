"""The primitives for complex64 and complex128; functions of one number take real parts as well."""

import math

import numpy as np

T = np.complex128
R = np.float64 if T(0).itemsize == 16 else np.float32
eps = R(np.finfo(R).eps)


def complex_quotient(x, y):
    """x / y by Smith's method; by zero it is infinite or nan in each part.

    Both parts of y are divided by the larger one, so that nothing overflows on the way. The smaller
    one's share is left out where it is 0 / 0.
    """
    a, b, c, d = x.real, x.imag, y.real, y.imag
    turned = math.fabs(c) < math.fabs(d)
    larger, smaller = (d, c) if turned else (c, d)
    p, q = (b, a) if turned else (a, b)
    ratio = smaller / larger if larger != R(0) else R(0)
    scale = larger + smaller * ratio if larger != R(0) else R(0)
    imag = (q - p * ratio) / scale
    return T(complex((p + q * ratio) / scale, -imag if turned else imag))


def exp(x):
    return np.exp(x)


def expm1(x):
    return np.expm1(x)


def log(x):
    return np.log(x)


def log10(x):
    return np.log10(x)


def log2(x):
    return np.log2(x)


def sqrt(x):
    return np.sqrt(x)


def sin(x):
    return np.sin(x)


def cos(x):
    return np.cos(x)


def tan(x):
    return np.tan(x)


def sinh(x):
    return np.sinh(x)


def cosh(x):
    return np.cosh(x)


def tanh(x):
    return np.tanh(x)


def asin(x):
    return np.arcsin(x)


def acos(x):
    return np.arccos(x)


def atan(x):
    return np.arctan(x)


def asinh(x):
    return np.arcsinh(x)


def acosh(x):
    return np.arccosh(x)


def atanh(x):
    return np.arctanh(x)


def exp2(x):
    return np.exp(x * R(0.6931471805599453))


def log1p(x):
    return np.log(R(1) + x)


def rsqrt(x):
    return complex_quotient(R(1), np.sqrt(x))


def sigmoid(x):
    return complex_quotient(R(1), R(1) + np.exp(-x))


def atan2(y, x):
    """Of real numbers: the angle of x + iy."""
    return R(math.atan2(y, x))


def pow(x, y):
    """0 ** 0 is 1, and 0 to a power of positive real part is 0."""
    if x == 0:
        return T(1) if y == 0 else T(0)
    return T(x**y)


def abs(x):
    return np.abs(x)


def sign(x):
    """x / |x|, and 0 for 0."""
    size = np.abs(x)
    return x / size if size != R(0) else T(0)


def where(condition, x, y):
    return x if condition else y


def isnan(x):
    return (x.real != x.real) | (x.imag != x.imag)


def isinf(x):
    return (math.fabs(x.real) == math.inf) | (math.fabs(x.imag) == math.inf)


def isfinite(x):
    return (math.fabs(x.real) < math.inf) & (math.fabs(x.imag) < math.inf)


def conj(x):
    return np.conj(x)


def real(x):
    return x.real


def imag(x):
    return x.imag


def square(x):
    return x * x


def reciprocal(x):
    return complex_quotient(R(1), x)
