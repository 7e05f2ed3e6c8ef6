"""Special functions and integer functions: element by element.

Libdevice's where it has them; formulas for others stand in `bessel_functions` and
`gamma_functions`.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    DeviceFunction,
    device_function,
    device_kernel,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous
from torchgen_out._runtime.kernels.cuda.special.airy_functions import airy
from torchgen_out._runtime.kernels.cuda.special.bessel_functions import (
    modified_bessel,
    modified_second_kind,
)
from torchgen_out._runtime.kernels.cuda.special.gamma_functions import (
    hurwitz_zeta,
    incomplete_gamma,
    polygamma_by_zeta,
)


def gcd(queue: Queue, out: Array, self: Array, other: Array) -> None:
    """Write the greatest common divisors."""
    _join(queue, out, self, other, common_divisor)


def lcm(queue: Queue, out: Array, self: Array, other: Array) -> None:
    """Write the least common multiples."""
    _join(queue, out, self, other, common_multiple)


def _join(
    queue: Queue, out: Array, a: Array, b: Array, formula: DeviceFunction, **given: Any
) -> None:
    kernel = join_elements if out.dtype.kind == "i" else join_in_double
    operands = [contiguous(queue, each.expanded(out.sizes)) for each in (a, b)]
    run_elements(queue, kernel, out.numel, out, *operands, out.numel, formula=formula, **given)


def frexp(queue: Queue, mantissa: Array, exponent: Array, self: Array) -> None:
    """Write numbers of magnitude in [0.5, 1) and the powers of 2 that self is of them."""
    count = self.numel
    run_elements(queue, split_numbers, count, mantissa, exponent, contiguous(queue, self), count)


@device_kernel("X* int32* X*", "I")
def split_numbers(mantissa, exponent, x, n):
    """A thread owns elements at the distance of the grid. Zero, infinity and NaN are their own
    mantissa, with exponent 0."""
    i = I(cuda.grid(1))
    while i < n:
        value, power = math.frexp(np.float64(load_X(x[i])))
        is_finite = abs(value) < math.inf
        mantissa[i] = store_X(T(value)) if is_finite else x[i]
        exponent[i] = np.int32(power) if is_finite else np.int32(0)
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X* X*", "I")
def join_elements(out, a, b, n):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        out[i] = store_X(formula(load_X(a[i]), load_X(b[i])))
        i = I(i + cuda.gridsize(1))


@device_function
def common_divisor(a, b):
    """Euclid's algorithm; never negative."""
    while b != T(0):
        a, b = b, T(a % b)
    return T(-a) if a < T(0) else a


@device_function
def common_multiple(a, b):
    """The product over the greatest common divisor; never negative."""
    divisor = common_divisor(a, b)
    if divisor == T(0):
        return T(0)
    product = T(T(a // divisor) * b)
    return T(-product) if product < T(0) else product


# -- of one number ------------------------------------------------------------------------------


def _apply(queue: Queue, out: Array, x: Array, formula: DeviceFunction, **given: Any) -> None:
    run_elements(queue, apply_elements, out.numel, out, x, out.numel, formula=formula, **given)


@device_kernel("X* X*", "I")
def apply_elements(out, x, n):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        out[i] = store_X(formula(load_X(x[i])))
        i = I(i + cuda.gridsize(1))


def erfcx(queue: Queue, out: Array, self: Array) -> None:
    """Write `exp(x**2) * erfc(x)`."""
    _apply(queue, out, self, scaled_erfc)


@device_function
def scaled_erfc(x):
    """exp(x**2) * erfc(x)."""
    return erfcx(x)


def log_ndtr(queue: Queue, out: Array, self: Array) -> None:
    """Write the logarithm of the normal distribution function."""
    _apply(queue, out, self, log_normal_distribution)


@device_function
def log_normal_distribution(x):
    """log(erfc(-x / sqrt(2)) / 2), by erfcx where the distribution is small."""
    t = T(x * T(0.7071067811865476))
    if x < T(-1):
        return T(log(T(erfcx(-t) * T(0.5))) - T(t * t))
    return log1p(T(erfc(t) * T(-0.5)))


def ndtri(queue: Queue, out: Array, self: Array) -> None:
    """Write the quantiles of the normal distribution."""
    _apply(queue, out, self, normal_quantile)


@device_function
def normal_quantile(x):
    """The inverse of the normal distribution function; NaN outside [0, 1]."""
    return normcdfinv(x)


# -- Bessel functions ---------------------------------------------------------------------------


def bessel_j0(queue: Queue, out: Array, self: Array) -> None:
    """Write the Bessel function of the first kind of order 0."""
    _apply(queue, out, self, first_kind_of_order_0)


def bessel_j1(queue: Queue, out: Array, self: Array) -> None:
    """Write the Bessel function of the first kind of order 1."""
    _apply(queue, out, self, first_kind_of_order_1)


def bessel_y0(queue: Queue, out: Array, self: Array) -> None:
    """Write the Bessel function of the second kind of order 0."""
    _apply(queue, out, self, second_kind_of_order_0)


def bessel_y1(queue: Queue, out: Array, self: Array) -> None:
    """Write the Bessel function of the second kind of order 1."""
    _apply(queue, out, self, second_kind_of_order_1)


@device_function
def first_kind_of_order_0(x):
    """J0."""
    return bessel_j0(x)


@device_function
def first_kind_of_order_1(x):
    """J1."""
    return bessel_j1(x)


@device_function
def second_kind_of_order_0(x):
    """Y0: minus infinity at 0, NaN below."""
    return bessel_y0(x)


@device_function
def second_kind_of_order_1(x):
    """Y1: minus infinity at 0, NaN below."""
    return bessel_y1(x)


def i0(queue: Queue, out: Array, self: Array) -> None:
    """Write the modified Bessel function of order 0."""
    _apply_modified(queue, out, self, 0, False)


def i0e(queue: Queue, out: Array, self: Array) -> None:
    """Write `exp(-abs(x)) * i0(x)`."""
    _apply_modified(queue, out, self, 0, True)


def i1(queue: Queue, out: Array, self: Array) -> None:
    """Write the modified Bessel function of order 1."""
    _apply_modified(queue, out, self, 1, False)


def i1e(queue: Queue, out: Array, self: Array) -> None:
    """Write `exp(-abs(x)) * i1(x)`."""
    _apply_modified(queue, out, self, 1, True)


def _apply_modified(queue: Queue, out: Array, x: Array, order: int, scaled: bool) -> None:
    precision = 1e-17 if out.dtype.itemsize == 8 else 1e-8
    given = {"ORDER": order, "SCALED": scaled, "PRECISION": precision}
    _apply(queue, out, x, modified_bessel, **given)


def modified_bessel_k0(queue: Queue, out: Array, x: Array) -> None:
    """Write the modified Bessel function of the second kind of order 0."""
    _apply_second_kind(queue, out, x, 0.0, False)


def modified_bessel_k1(queue: Queue, out: Array, x: Array) -> None:
    """Write the modified Bessel function of the second kind of order 1."""
    _apply_second_kind(queue, out, x, 1.0, False)


def scaled_modified_bessel_k0(queue: Queue, out: Array, x: Array) -> None:
    """Write `exp(x) * k0(x)`."""
    _apply_second_kind(queue, out, x, 0.0, True)


def scaled_modified_bessel_k1(queue: Queue, out: Array, x: Array) -> None:
    """Write `exp(x) * k1(x)`."""
    _apply_second_kind(queue, out, x, 1.0, True)


def _apply_second_kind(queue: Queue, out: Array, x: Array, order: float, scaled: bool) -> None:
    _apply_in_double(queue, out, x, modified_second_kind, ORDER=order, SCALED=scaled)


def airy_ai(queue: Queue, out: Array, x: Array) -> None:
    """Write the Airy function Ai."""
    _apply_in_double(queue, out, x, airy)


def _apply_in_double(
    queue: Queue, out: Array, x: Array, formula: DeviceFunction, **given: Any
) -> None:
    run_elements(queue, apply_double, out.numel, out, x, out.numel, formula=formula, **given)


@device_kernel("X* X*", "I")
def apply_double(out, x, n):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        out[i] = store_X(T(formula(np.float64(load_X(x[i])))))
        i = I(i + cuda.gridsize(1))


# -- around the gamma function ------------------------------------------------------------------


def igamma(queue: Queue, out: Array, self: Array, other: Array) -> None:
    """Write the regularised lower incomplete gamma function."""
    _join(queue, out, self, other, incomplete_gamma, UPPER=False)


def igammac(queue: Queue, out: Array, self: Array, other: Array) -> None:
    """Write the regularised upper incomplete gamma function."""
    _join(queue, out, self, other, incomplete_gamma, UPPER=True)


def zeta(queue: Queue, out: Array, self: Array, other: Array) -> None:
    """Write the Hurwitz zeta function."""
    _join(queue, out, self, other, hurwitz_zeta)


def polygamma(queue: Queue, out: Array, n: int, self: Array) -> None:
    """Write the n-th derivative of digamma."""
    numbers = (out.numel, float(n))
    given = {"formula": polygamma_by_zeta}
    run_elements(queue, apply_with_number, out.numel, out, self, *numbers, **given)


@device_kernel("X* X* X*", "I")
def join_in_double(out, a, b, n):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        found = formula(np.float64(load_X(a[i])), np.float64(load_X(b[i])))
        out[i] = store_X(T(found))
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X*", "I float64")
def apply_with_number(out, x, n, number):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        out[i] = store_X(T(formula(number, np.float64(load_X(x[i])))))
        i = I(i + cuda.gridsize(1))
