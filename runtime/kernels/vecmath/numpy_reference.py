"""The primitives as NumPy and SciPy functions on float64: formulas run on them as they stand.

`torchgen_out/kernels/pointwise.py` imports the names from here, so that a formula can be read and
tested as plain Python. Kernels never use this module: their text is composed from the others. A
formula with `a if c else b` takes numbers only; use `np.vectorize` for arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.vecmath.float64 import recurrence

T = np.float64
pi = math.pi
inf = math.inf
nan = math.nan
eps = T(np.finfo(T).eps)

exp = np.exp
exp2 = np.exp2
expm1 = np.expm1
log = np.log
log2 = np.log2
log10 = np.log10
log1p = np.log1p
sqrt = np.sqrt
cbrt = np.cbrt
sin = np.sin
cos = np.cos
tan = np.tan
asin = np.arcsin
acos = np.arccos
atan = np.arctan
atan2 = np.arctan2
sinh = np.sinh
cosh = np.cosh
tanh = np.tanh
asinh = np.arcsinh
acosh = np.arccosh
atanh = np.arctanh
pow = np.power
abs = np.absolute
floor = np.floor
ceil = np.ceil
round = np.rint
trunc = np.trunc
fmod = np.fmod
remainder = np.remainder
floor_divide = np.floor_divide
left_shift = np.left_shift
right_shift = np.right_shift
min = np.minimum
max = np.maximum
fmin = np.fmin
fmax = np.fmax
where = np.where
isnan = np.isnan
isinf = np.isinf
isfinite = np.isfinite
signbit = np.signbit
copysign = np.copysign
nextafter = np.nextafter
conj = np.conjugate
real = np.real
imag = np.imag
square = np.square
gcd = np.gcd
lcm = np.lcm


def rsqrt(x: Any) -> Any:
    """1 / sqrt(x)."""
    return 1.0 / np.sqrt(x)


def reciprocal(x: Any) -> Any:
    """1 / x, also of integers."""
    return 1.0 / np.asarray(x)[()]


def sign(x: Any) -> Any:
    """-1, 0 or 1, and 0 for NaN, as PyTorch; x / |x| for complex numbers."""
    if np.iscomplexobj(x):
        return np.sign(x)
    return np.nan_to_num(np.sign(x), nan=0.0)


def sigmoid(x: Any) -> Any:
    """The logistic function."""
    if np.iscomplexobj(x):
        return 1.0 / (1.0 + np.exp(-x))
    return _expit(x)


def _special(name: str) -> Callable[..., Any]:
    """A function of SciPy, which is imported when one is called first."""

    def function(*operands: Any) -> Any:
        import scipy.special

        return getattr(scipy.special, name)(*operands)

    return function


_expit = _special("expit")
erf = _special("erf")
erfc = _special("erfc")
erfcx = _special("erfcx")
erfinv = _special("erfinv")
ndtri = _special("ndtri")
lgamma = _special("gammaln")
digamma = _special("digamma")
polygamma = _special("polygamma")
zeta = _special("zeta")
igamma = _special("gammainc")
igammac = _special("gammaincc")
i0 = _special("i0")
i0e = _special("i0e")
i1 = _special("i1")
i1e = _special("i1e")
k0 = _special("k0")
k0e = _special("k0e")
k1 = _special("k1")
k1e = _special("k1e")
bessel_j0 = _special("j0")
bessel_j1 = _special("j1")
bessel_y0 = _special("y0")
bessel_y1 = _special("y1")


def trigamma(x: Any) -> Any:
    """The derivative of digamma."""
    return polygamma(1, x)


def airy_ai(x: Any) -> Any:
    """The first of Airy's functions, of which SciPy says nan far out."""
    return np.where(x > 110.0, 0.0, _special("airy")(x)[0])


def three_term_recurrence(x: Any, n: Any, *coefficients: Any) -> Any:
    """The polynomial of degree n of a family."""
    return np.vectorize(_polynomial)(x, n, *coefficients)


def _polynomial(*operands: float) -> float:
    try:
        return recurrence.three_term_recurrence(*operands)
    except ValueError:  # of Python's functions, where those of C give nan
        return nan
