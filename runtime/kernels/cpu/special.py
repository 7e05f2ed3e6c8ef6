"""Special functions by SciPy, and integer functions by NumPy: element by element, no formula known.

Functions that deserve a vectorised formula are pointwise entries; these are rarely hot.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

Array = Any


def _scipy() -> ModuleType:
    """SciPy's special functions, imported when the first is called."""
    import scipy.special

    return scipy.special


def gcd(out: Array, self: Array, other: Array) -> None:
    """Write the greatest common divisors."""
    np.gcd(self, other, out=out)


def lcm(out: Array, self: Array, other: Array) -> None:
    """Write the least common multiples."""
    np.lcm(self, other, out=out)


def i0(out: Array, self: Array) -> None:
    """Write the modified Bessel function of order 0."""
    _scipy().i0(self, out=out)


def i0e(out: Array, self: Array) -> None:
    """Write `exp(-abs(x)) * i0(x)`."""
    _scipy().i0e(self, out=out)


def i1(out: Array, self: Array) -> None:
    """Write the modified Bessel function of order 1."""
    _scipy().i1(self, out=out)


def i1e(out: Array, self: Array) -> None:
    """Write `exp(-abs(x)) * i1(x)`."""
    _scipy().i1e(self, out=out)


def bessel_j0(out: Array, self: Array) -> None:
    """Write the Bessel function of the first kind of order 0."""
    _scipy().j0(self, out=out)


def bessel_j1(out: Array, self: Array) -> None:
    """Write the Bessel function of the first kind of order 1."""
    _scipy().j1(self, out=out)


def bessel_y0(out: Array, self: Array) -> None:
    """Write the Bessel function of the second kind of order 0."""
    _scipy().y0(self, out=out)


def bessel_y1(out: Array, self: Array) -> None:
    """Write the Bessel function of the second kind of order 1."""
    _scipy().y1(self, out=out)


def erfcx(out: Array, self: Array) -> None:
    """Write `exp(x**2) * erfc(x)`."""
    _scipy().erfcx(self, out=out)


def igamma(out: Array, self: Array, other: Array) -> None:
    """Write the regularised lower incomplete gamma function."""
    _scipy().gammainc(self, other, out=out)


def igammac(out: Array, self: Array, other: Array) -> None:
    """Write the regularised upper incomplete gamma function."""
    _scipy().gammaincc(self, other, out=out)


def log_ndtr(out: Array, self: Array) -> None:
    """Write the logarithm of the normal distribution function."""
    _scipy().log_ndtr(self, out=out)


def ndtri(out: Array, self: Array) -> None:
    """Write the quantiles of the normal distribution."""
    _scipy().ndtri(self, out=out)


def polygamma(out: Array, n: int, self: Array) -> None:
    """Write the n-th derivative of digamma."""
    out[...] = _scipy().polygamma(n, self)


def zeta(out: Array, self: Array, other: Array) -> None:
    """Write the Hurwitz zeta function."""
    _scipy().zeta(self, other, out=out)
