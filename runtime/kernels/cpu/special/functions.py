"""Special functions by SciPy, and integer functions by NumPy: element by element, no formula known.

Functions that deserve a vectorised formula are pointwise entries; these are rarely hot.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from types import ModuleType
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.planned import Planner, planned
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any


def _scipy() -> ModuleType:
    """SciPy's special functions, imported when the first is called."""
    import scipy.special

    return scipy.special


def plan_ufunc(name: str, find_module: Callable[[], ModuleType] = _scipy) -> Planner:
    """The planner of a function of one or two dense operands: flat memory is all it has to see."""

    def plan(result: TensorSpec, *operands: Any) -> LaunchPlan | None:
        if not all(each.__class__ is TensorSpec and each.is_contiguous for each in operands):
            return None
        if any(each.sizes != result.sizes for each in operands):
            return None
        count = prod(result.sizes)
        runs = {1: run_one, 2: run_two}
        return LaunchPlan(runs[len(operands)], (getattr(find_module(), name), count))

    return plan


def run_one(out: Array, a: Array, at: int, numbers: Any) -> None:
    """Apply a function to flat memory."""
    function, count = numbers
    _apply(function, out, a if a.size == count else a[at : at + count])


def _apply(function: Any, out: Array, *operands: Array) -> None:
    """Parts of large arrays on several threads: the functions hold no interpreter lock."""
    if out.size < 2 * threads.GRAIN:
        function(*operands, out)
    else:
        arrays = out, *operands
        threads.run_flat(lambda out, *own: function(*own, out), arrays)


def run_two(out: Array, a: Array, b: Array, at_a: int, at_b: int, numbers: Any) -> None:
    """Apply a function to pairs of elements."""
    function, count = numbers
    a = a if a.size == count else a[at_a : at_a + count]
    _apply(function, out, a, b if b.size == count else b[at_b : at_b + count])


def _numpy() -> ModuleType:
    return np


@planned(plan_ufunc("gcd", _numpy))
def gcd(out: Array, self: Array, other: Array) -> None:
    """Write the greatest common divisors."""
    np.gcd(self, other, out=out)


@planned(plan_ufunc("lcm", _numpy))
def lcm(out: Array, self: Array, other: Array) -> None:
    """Write the least common multiples."""
    np.lcm(self, other, out=out)


@planned(plan_ufunc("i0"))
def i0(out: Array, self: Array) -> None:
    """Write the modified Bessel function of order 0."""
    _scipy().i0(self, out=out)


@planned(plan_ufunc("i0e"))
def i0e(out: Array, self: Array) -> None:
    """Write `exp(-abs(x)) * i0(x)`."""
    _scipy().i0e(self, out=out)


@planned(plan_ufunc("i1"))
def i1(out: Array, self: Array) -> None:
    """Write the modified Bessel function of order 1."""
    _scipy().i1(self, out=out)


@planned(plan_ufunc("i1e"))
def i1e(out: Array, self: Array) -> None:
    """Write `exp(-abs(x)) * i1(x)`."""
    _scipy().i1e(self, out=out)


@planned(plan_ufunc("j0"))
def bessel_j0(out: Array, self: Array) -> None:
    """Write the Bessel function of the first kind of order 0."""
    _scipy().j0(self, out=out)


@planned(plan_ufunc("j1"))
def bessel_j1(out: Array, self: Array) -> None:
    """Write the Bessel function of the first kind of order 1."""
    _scipy().j1(self, out=out)


@planned(plan_ufunc("y0"))
def bessel_y0(out: Array, self: Array) -> None:
    """Write the Bessel function of the second kind of order 0."""
    _scipy().y0(self, out=out)


@planned(plan_ufunc("y1"))
def bessel_y1(out: Array, self: Array) -> None:
    """Write the Bessel function of the second kind of order 1."""
    _scipy().y1(self, out=out)


@planned(plan_ufunc("k0"))
def modified_bessel_k0(out: Array, x: Array) -> None:
    """Write the modified Bessel function of the second kind of order 0."""
    _scipy().k0(x, out=out)


@planned(plan_ufunc("k1"))
def modified_bessel_k1(out: Array, x: Array) -> None:
    """Write the modified Bessel function of the second kind of order 1."""
    _scipy().k1(x, out=out)


@planned(plan_ufunc("k0e"))
def scaled_modified_bessel_k0(out: Array, x: Array) -> None:
    """Write `exp(x) * k0(x)`."""
    _scipy().k0e(x, out=out)


@planned(plan_ufunc("k1e"))
def scaled_modified_bessel_k1(out: Array, x: Array) -> None:
    """Write `exp(x) * k1(x)`."""
    _scipy().k1e(x, out=out)


def airy_ai(out: Array, x: Array) -> None:
    """Write the Airy function Ai, the first of the four that SciPy computes together."""
    out[...] = _scipy().airy(x)[0]


@planned(plan_ufunc("erfcx"))
def erfcx(out: Array, self: Array) -> None:
    """Write `exp(x**2) * erfc(x)`."""
    _scipy().erfcx(self, out=out)


@planned(plan_ufunc("gammainc"))
def igamma(out: Array, self: Array, other: Array) -> None:
    """Write the regularised lower incomplete gamma function."""
    _scipy().gammainc(self, other, out=out)


@planned(plan_ufunc("gammaincc"))
def igammac(out: Array, self: Array, other: Array) -> None:
    """Write the regularised upper incomplete gamma function."""
    _scipy().gammaincc(self, other, out=out)


@planned(plan_ufunc("log_ndtr"))
def log_ndtr(out: Array, self: Array) -> None:
    """Write the logarithm of the normal distribution function."""
    _scipy().log_ndtr(self, out=out)


@planned(plan_ufunc("ndtri"))
def ndtri(out: Array, self: Array) -> None:
    """Write the quantiles of the normal distribution."""
    _scipy().ndtri(self, out=out)


def polygamma(out: Array, n: int, self: Array) -> None:
    """Write the n-th derivative of digamma."""
    out[...] = _scipy().polygamma(n, self)


@planned(plan_ufunc("zeta"))
def zeta(out: Array, self: Array, other: Array) -> None:
    """Write the Hurwitz zeta function."""
    _scipy().zeta(self, other, out=out)
