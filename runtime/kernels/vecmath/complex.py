"""The primitives for complex64 and complex128; functions of one number take real parts as well.

Infinite parts, nan and signs of zero follow Annex G of the C standard; what would overflow on the
way to a finite result does not. Circular functions are the hyperbolic ones of ix. `real_` stands
before the primitives of the parts' type.
"""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.float64.arithmetic import hypot as real_hypot
from torchgen_out._runtime.kernels.vecmath.float64.trigonometric import atan2 as real_atan2

T = np.complex128
R = np.float64 if T(0).itemsize == 16 else np.float32
eps = R(np.finfo(R).eps)
largest_exponent = R(709) if T(0).itemsize == 16 else R(88)
half_pi = R(1.5707963267948966)


def complex_quotient(x, y):
    """x / y by Smith's method; by zero it is infinite or nan in each part.

    Both parts of y are divided by the larger one, so that nothing overflows on the way. The smaller
    one's share is left out where it is 0 / 0.
    """
    a, b, c, d = x.real, x.imag, y.real, y.imag
    turned = (math.fabs(c) < math.fabs(d)) | (d != d)
    larger, smaller = (d, c) if turned else (c, d)
    p, q = (b, a) if turned else (a, b)
    ratio = smaller / larger if larger != R(0) else R(0)
    scale = larger + smaller * ratio if larger != R(0) else R(0)
    imag = (q - p * ratio) / scale
    return T(complex((p + q * ratio) / scale, -imag if turned else imag))


def exp(x):
    a, b = x.real, x.imag
    if b == R(0):
        return T(complex(math.exp(a), b))
    if math.fabs(b) < math.inf:
        if a <= largest_exponent:
            size = math.exp(a)
            return T(complex(size * math.cos(b), size * math.sin(b)))
        root = math.exp(a / R(2))
        return T(complex(root * math.cos(b) * root, root * math.sin(b) * root))
    if a == -math.inf:
        return T(complex(R(0), R(0)))
    return T(complex(a if a == math.inf else R(math.nan), R(math.nan)))


def expm1(x):
    """e^a cos b - 1 = expm1(a) cos b - 2 sin^2(b / 2)."""
    a, b = x.real, x.imag
    if not (math.fabs(b) < math.inf) or a > largest_exponent or a == -math.inf:
        y = exp(x)
        return T(complex(y.real - R(1), y.imag))
    if b == R(0):
        return T(complex(math.expm1(a), b))
    half = math.sin(b / R(2))
    return T(complex(math.expm1(a) * math.cos(b) - R(2) * half * half, math.exp(a) * math.sin(b)))


def log(x):
    return np.log(x)


def log10(x):
    return np.log10(x)


def log2(x):
    return np.log2(x)


def sqrt(x):
    return np.sqrt(x)


def sinh(x):
    a, b = x.real, x.imag
    if b == R(0):
        return T(complex(math.sinh(a), b))
    if a == R(0):
        return T(complex(a * math.cos(b) if math.fabs(b) < math.inf else a, math.sin(b)))
    if not (math.fabs(b) < math.inf):
        return T(complex(a if math.fabs(a) == math.inf else R(math.nan), R(math.nan)))
    if math.fabs(a) <= largest_exponent:
        return T(complex(math.sinh(a) * math.cos(b), math.cosh(a) * math.sin(b)))
    root = math.exp(math.fabs(a) / R(2))
    half = root / R(2)
    return T(complex(math.copysign(half, a) * math.cos(b) * root, half * math.sin(b) * root))


def cosh(x):
    a, b = x.real, x.imag
    if b == R(0):
        return T(complex(math.cosh(a), math.copysign(R(1), a) * b))
    if a == R(0):
        return T(complex(math.cos(b), a * math.sin(b) if math.fabs(b) < math.inf else R(0)))
    if not (math.fabs(b) < math.inf):
        return T(complex(math.fabs(a) if math.fabs(a) == math.inf else R(math.nan), R(math.nan)))
    if math.fabs(a) <= largest_exponent:
        return T(complex(math.cosh(a) * math.cos(b), math.sinh(a) * math.sin(b)))
    root = math.exp(math.fabs(a) / R(2))
    half = root / R(2)
    return T(complex(half * math.cos(b) * root, math.copysign(half, a) * math.sin(b) * root))


def tanh(x):
    """By the tangent of b and the hyperbolic sine of a (Kahan, 1987); far out 1, and the rest."""
    a, b = x.real, x.imag
    if b == R(0):
        return T(complex(math.tanh(a), b))
    if not (math.fabs(b) < math.inf):
        if math.fabs(a) == math.inf:
            return T(complex(math.copysign(R(1), a), R(0)))
        return T(complex(a if a == R(0) else R(math.nan), R(math.nan)))
    if math.fabs(a) > R(22):
        rest = R(4) * math.sin(b) * math.cos(b) * math.exp(-R(2) * math.fabs(a))
        return T(complex(math.copysign(R(1), a), rest))
    tangent, sine = math.tan(b), math.sinh(a)
    beta = R(1) + tangent * tangent
    scale = R(1) + beta * sine * sine
    return T(complex(beta * math.sqrt(R(1) + sine * sine) * sine / scale, tangent / scale))


def sin(x):
    y = sinh(T(complex(-x.imag, x.real)))
    return T(complex(y.imag, -y.real))


def cos(x):
    return cosh(T(complex(-x.imag, x.real)))


def tan(x):
    y = tanh(T(complex(-x.imag, x.real)))
    return T(complex(y.imag, -y.real))


def asinh(x):
    return x if x.imag == R(0) and x.real != x.real else T(np.arcsinh(x))


def asin(x):
    return x if x.real == R(0) and x.imag != x.imag else T(np.arcsin(x))


def acos(x):
    if x.real == R(0) and x.imag != x.imag:
        return T(complex(half_pi, x.imag))
    return T(np.arccos(x))


def acosh(x):
    """i acos(x) or -i acos(x), whichever has a positive real part."""
    y = acos(x)
    return T(complex(math.fabs(y.imag), math.copysign(y.real, x.imag)))


def atanh(x):
    a, b = x.real, x.imag
    if a == a and b == b:
        return T(np.arctanh(x))
    if math.fabs(b) == math.inf:
        return T(complex(math.copysign(R(0), a), math.copysign(half_pi, b)))
    is_kept = a == R(0) or math.fabs(a) == math.inf
    return T(complex(math.copysign(R(0), a) if is_kept else R(math.nan), R(math.nan)))


def atan(x):
    y = atanh(T(complex(-x.imag, x.real)))
    return T(complex(y.imag, -y.real))


def exp2(x):
    return exp(T(complex(x.real * R(0.6931471805599453), x.imag * R(0.6931471805599453))))


def log1p(x):
    """log |1 + x| = log1p(|1 + x|^2 - 1) / 2, which is exact near 0."""
    a, b = x.real, x.imag
    if math.fabs(a) < R(0.5) and math.fabs(b) < R(0.5):
        return T(complex(math.log1p(a * (R(2) + a) + b * b) / R(2), math.atan2(b, R(1) + a)))
    return T(np.log(T(complex(R(1) + a, b))))


def rsqrt(x):
    return complex_quotient(R(1), np.sqrt(x))


def sigmoid(x):
    """Of what lies left of 0 as e^x / (1 + e^x), which does not overflow."""
    if x.real < R(0):
        power = exp(x)
        return complex_quotient(power, R(1) + power)
    return complex_quotient(R(1), R(1) + exp(-x))


def atan2(y, x):
    """Of real numbers: the angle of x + iy."""
    return real_atan2(y, x)


def pow(x, y):
    """0 ** 0 is 1, and 0 to a power of positive real part is 0."""
    if x == 0:
        return T(1) if y == 0 else T(0)
    return T(x**y)


def pow_known(x, y):
    """Products and reciprocals, as PyTorch's for a number as exponent."""
    if y.real < R(0):
        inverse = complex_quotient(R(1), x)
        return inverse if y.real == R(-1) else inverse * inverse
    square = x * x
    return square if y.real == R(2) else (x if y.real == R(1) else square * x)


def pow_is_known(y):
    size = math.fabs(y.real)
    return (y.imag == R(0)) & ((size == R(1)) | (size == R(2)) | (y.real == R(3)))


def abs(x):
    return real_hypot(x.real, x.imag)


def sign(x):
    """x / |x|, and 0 for 0."""
    size = real_hypot(x.real, x.imag)
    return T(complex(x.real / size, x.imag / size)) if size != R(0) else T(0)


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
