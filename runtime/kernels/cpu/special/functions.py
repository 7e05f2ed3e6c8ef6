"""Special functions by SciPy, and integer functions by NumPy: element by element, no formula known.

Functions that deserve a vectorised formula are pointwise entries; these are rarely hot.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.loop_plans import operand, out, plan_ranges
from torchgen_out._runtime.kernels.cpu.planned import PlannedKernel, planned, view_of
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any


def scipy_special() -> ModuleType:
    """SciPy's special functions, imported when the first is called."""
    import scipy.special

    return scipy.special


def scipy_function(name: str) -> Callable[..., Any]:
    """One of them."""
    function: Callable[..., Any] = getattr(scipy_special(), name)
    return function


def _numpy_function(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(np, name)
    return function


def function_kernel(
    name: str, what: str, find: Callable[[str], Callable[..., Any]] = scipy_function
) -> PlannedKernel:
    """A kernel that applies a library's function to one or two operands. what: its docstring.

    Where operands are dense and of one shape, or one element, flat memory is all that the function
    has to see.
    """

    def plan(result: TensorSpec, *operands: Any) -> LaunchPlan:
        function = find(name)
        specs = [each for each in operands if each.__class__ is TensorSpec]
        counts = tuple([each.numel for each in specs])
        is_flat = all(
            each.is_contiguous and (each.numel == 1 or each.sizes == result.sizes) for each in specs
        )
        if is_flat and len(specs) == len(operands):
            if len(specs) == 1 and 0 < counts[0] < 2 * threads.GRAIN:
                return LaunchPlan(run_few, (function, *counts))
            return LaunchPlan((run_one, run_two)[len(specs) - 1], (function, *counts))

        def run(out: Array, *args: Any) -> None:
            places = zip(args, args[len(specs) :], specs, strict=False)
            views = iter([view_of(*place) for place in places])
            given = [next(views) if each.__class__ is TensorSpec else each for each in operands]
            function(*given, out.reshape(result.sizes))

        return LaunchPlan(run, None)

    plan.__name__, plan.__doc__ = name, what
    return PlannedKernel(plan, any_strides=True)


def run_few(out: Array, a: Array, at: int, params: Any) -> None:
    """Apply a function to flat memory of a few elements."""
    function, count = params
    function(a if a.size == count else a[at : at + count], out)


def run_one(out: Array, a: Array, at: int, params: Any) -> None:
    """Apply a function to flat memory."""
    function, count = params
    _apply(function, out, a if a.size == count else a[at : at + count])


def run_two(out: Array, a: Array, b: Array, at_a: int, at_b: int, params: Any) -> None:
    """Apply a function to pairs of elements."""
    function, count_a, count_b = params
    a = a if a.size == count_a else a[at_a : at_a + count_a]
    _apply(function, out, a, b if b.size == count_b else b[at_b : at_b + count_b])


def _apply(function: Any, out: Array, *operands: Array) -> None:
    """Parts of large arrays on several threads: the functions hold no interpreter lock."""
    if out.size < 2 * threads.GRAIN:
        function(*operands, out)
    else:
        arrays = out, *operands
        threads.run_flat(lambda out, *own: function(*own, out), arrays)


gcd = function_kernel("gcd", "Write the greatest common divisors.", _numpy_function)
lcm = function_kernel("lcm", "Write the least common multiples.", _numpy_function)
i0 = function_kernel("i0", "Write the modified Bessel function of order 0.")
i0e = function_kernel("i0e", "Write `exp(-abs(x)) * i0(x)`.")
i1 = function_kernel("i1", "Write the modified Bessel function of order 1.")
i1e = function_kernel("i1e", "Write `exp(-abs(x)) * i1(x)`.")
bessel_j0 = function_kernel("j0", "Write the Bessel function of the first kind of order 0.")
bessel_j1 = function_kernel("j1", "Write the Bessel function of the first kind of order 1.")
bessel_y0 = function_kernel("y0", "Write the Bessel function of the second kind of order 0.")
bessel_y1 = function_kernel("y1", "Write the Bessel function of the second kind of order 1.")
modified_bessel_k0 = function_kernel(
    "k0", "Write the modified Bessel function of the second kind of order 0."
)
modified_bessel_k1 = function_kernel(
    "k1", "Write the modified Bessel function of the second kind of order 1."
)
scaled_modified_bessel_k0 = function_kernel("k0e", "Write `exp(x) * k0(x)`.")
scaled_modified_bessel_k1 = function_kernel("k1e", "Write `exp(x) * k1(x)`.")
erfcx = function_kernel("erfcx", "Write `exp(x**2) * erfc(x)`.")
igamma = function_kernel("gammainc", "Write the regularised lower incomplete gamma function.")
igammac = function_kernel("gammaincc", "Write the regularised upper incomplete gamma function.")
log_ndtr = function_kernel("log_ndtr", "Write the logarithm of the normal distribution function.")
ndtri = function_kernel("ndtri", "Write the quantiles of the normal distribution.")
zeta = function_kernel("zeta", "Write the Hurwitz zeta function.")


def _first_of_several(name: str) -> Callable[..., Any]:
    function = scipy_function(name)

    def first(x: Array, out: Array) -> None:
        out[...] = function(x)[0]

    return first


airy_ai = function_kernel("airy", "Write the Airy function Ai.", _first_of_several)


@planned(results=2)
def frexp(mantissa: TensorSpec, exponent: TensorSpec, self: TensorSpec) -> LaunchPlan:
    """Write numbers of magnitude in [0.5, 1) and the powers of 2 that self is of them."""
    count = self.numel
    views = out(0, count), out(1, count), operand(0, count)
    return plan_ranges(split_numbers, count, 4 * count, [mantissa, exponent], [self], *views)


@kernel
def split_numbers(start, stop, mantissa, exponent, x):
    """Zero, infinity and NaN are their own mantissa, with exponent 0."""
    for i in range(start, stop):
        value, power = math.frexp(np.float64(x[i]))
        is_finite = abs(value) < np.inf
        mantissa[i] = value if is_finite else x[i]
        exponent[i] = power if is_finite else 0


def polygamma(out: Array, n: int, self: Array) -> None:
    """Write the n-th derivative of digamma."""
    out[...] = scipy_special().polygamma(n, self)
