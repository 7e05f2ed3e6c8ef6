"""The primitives for float32."""

import math

import numpy as np

T = np.float32
pi = math.pi
inf = math.inf
nan = math.nan
eps = T(1.1920928955078125e-07)


def exp(x):
    return math.exp(x)


def exp2(x):
    return np.exp2(x)


def expm1(x):
    return math.expm1(x)


def log(x):
    return np.log(x)


def log2(x):
    return np.log2(x)


def log10(x):
    return np.log10(x)


def log1p(x):
    return np.log1p(x)


def sqrt(x):
    return np.sqrt(x)


def rsqrt(x):
    return T(1) / np.sqrt(x)


def cbrt(x):
    return np.cbrt(x)


def sin(x):
    return math.sin(x)


def cos(x):
    return math.cos(x)


def tan(x):
    return math.tan(x)


def asin(x):
    return np.arcsin(x)


def acos(x):
    return np.arccos(x)


def atan(x):
    return math.atan(x)


def atan2(y, x):
    return math.atan2(y, x)


def sinh(x):
    return math.sinh(x)


def cosh(x):
    return math.cosh(x)


def tanh(x):
    return math.tanh(x)


def asinh(x):
    return math.asinh(x)


def acosh(x):
    return np.arccosh(x)


def atanh(x):
    return np.arctanh(x)


def sigmoid(x):
    """1 / (1 + e^-x). The exponent is never positive, so it cannot overflow."""
    z = exp(-math.fabs(x))
    return T(1) / (T(1) + z) if x >= T(0) else z / (T(1) + z)


def erf(x):
    return T(math.erf(x))


def erfc(x):
    return T(math.erfc(x))


def pow(x, y):
    return x**y


def erfinv(x):
    """A rough inverse, then two Halley steps on erf, near 1 on erfc, where 1 - |x| is exact."""
    a = math.fabs(np.float64(x))
    if not a < 1.0:
        return T(math.copysign(math.inf, x)) if a == 1.0 else T(math.nan)
    if a < 0.5:
        square = a * a
        y = a * (0.8862269254527580 + square * (0.2320136665346544 + square * 0.1275561753055979))
    else:
        logarithm = math.log1p(-a * a)
        half = 4.330746750799873 + 0.5 * logarithm
        y = math.sqrt(math.sqrt(half * half - logarithm / 0.147) - half)
    for _ in range(2):
        error = math.erf(y) - a if a < 0.5 else (1.0 - a) - math.erfc(y)
        step = error * 0.8862269254527580 * math.exp(y * y)
        y -= step / (1.0 + y * step)
    return T(math.copysign(y, x))


def lgamma(x):
    """The C library's; |gamma| for negative x."""
    return T(math.lgamma(np.float64(x)))


def digamma(x):
    """Reflection below 0, recurrence up to 10, then the asymptotic series."""
    x = np.float64(x)
    if x == 0.0:
        return T(math.copysign(math.inf, -x))
    if x < 0.0:
        if x == np.floor(x):
            return T(math.nan)
        fraction = x - np.trunc(x)
        reflected = -math.pi / math.tan(math.pi * fraction)
        x = 1.0 - x
    else:
        reflected = 0.0
    result = 0.0
    while x < 10.0:
        result -= 1.0 / x
        x += 1.0
    z = 1.0 / (x * x)
    series = z * (
        1.0 / 12.0
        - z
        * (
            1.0 / 120.0
            - z * (1.0 / 252.0 - z * (1.0 / 240.0 - z * (1.0 / 132.0 - z * (691.0 / 32760.0))))
        )
    )
    if x < 1e17:
        result += math.log(x) - 0.5 / x - series
    else:
        result += math.log(x)
    return T(result + reflected)


def trigamma(x):
    """Reflection below 0.5, recurrence up to 10, then the asymptotic series."""
    x = np.float64(x)
    sign = 1.0
    result = 0.0
    if x < 0.5:
        sine = math.sin(math.pi * (x - np.floor(x)))
        if sine == 0.0:
            return T(math.inf)
        result = -(math.pi / sine) * (math.pi / sine)
        sign = -1.0
        x = 1.0 - x
    while x < 10.0:
        result += 1.0 / (x * x)
        x += 1.0
    z = 1.0 / (x * x)
    series = z * (
        1.0 / 6.0
        - z
        * (
            1.0 / 30.0
            - z * (1.0 / 42.0 - z * (1.0 / 30.0 - z * (5.0 / 66.0 - z * (691.0 / 2730.0))))
        )
    )
    return T(sign * (result + 1.0 / x * (1.0 + 0.5 / x + series)))


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


def fmod(x, y):
    return T(np.fmod(x, y))


def remainder(x, y):
    """x - floor(x / y) * y, exact; it has the sign of y."""
    r = T(np.fmod(x, y))
    return r + y if (r != T(0)) & ((r < T(0)) != (y < T(0))) else r


def floor_divide(x, y):
    """floor(x / y) by way of the exact remainder, so that it agrees with `remainder`."""
    if y == T(0):
        return x / y
    r = T(np.fmod(x, y))
    quotient = (x - r) / y
    if (r != T(0)) & ((r < T(0)) != (y < T(0))):
        quotient -= T(1)
    if quotient == T(0):
        return T(math.copysign(T(0), x / y))
    down = np.floor(quotient)
    return down + T(1) if quotient - down > T(0.5) else down


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


def where(condition, x, y):
    return x if condition else y


def isnan(x):
    return x != x


def isinf(x):
    return math.fabs(x) == math.inf


def isfinite(x):
    return math.fabs(x) < math.inf


def signbit(x):
    return np.signbit(x)


def copysign(x, y):
    return T(math.copysign(x, y))


def nextafter(x, y):
    return T(np.nextafter(x, y))


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
