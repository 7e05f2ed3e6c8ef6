"""Special functions by libdevice, and integer functions: element by element.

What libdevice lacks is missing here too: the incomplete gamma functions, the Hurwitz zeta function,
the derivatives of digamma, and the Bessel functions, some of which it has.
"""

# ruff: noqa: F821 - T, I and the like are names of the compiled text.

from __future__ import annotations

from runtime.kernels.cuda.queue import Array, Queue, contiguous
from runtime.kernels.cuda.typed import (
    DeviceFunction,
    device_function,
    device_kernel,
    run_elements,
)


def gcd(queue: Queue, out: Array, self: Array, other: Array) -> None:
    """Write the greatest common divisors."""
    _join(queue, out, self, other, common_divisor)


def lcm(queue: Queue, out: Array, self: Array, other: Array) -> None:
    """Write the least common multiples."""
    _join(queue, out, self, other, common_multiple)


def _join(queue: Queue, out: Array, a: Array, b: Array, formula: DeviceFunction) -> None:
    operands = [contiguous(queue, each.expanded(out.sizes)) for each in (a, b)]
    run_elements(queue, join_elements, out.numel, out, *operands, out.numel, formula=formula)


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


def erfcx(queue: Queue, out: Array, self: Array) -> None:
    """Write `exp(x**2) * erfc(x)`."""
    _apply(queue, out, self, scaled_erfc)


def log_ndtr(queue: Queue, out: Array, self: Array) -> None:
    """Write the logarithm of the normal distribution function."""
    _apply(queue, out, self, log_normal_distribution)


def ndtri(queue: Queue, out: Array, self: Array) -> None:
    """Write the quantiles of the normal distribution."""
    _apply(queue, out, self, normal_quantile)


def _apply(queue: Queue, out: Array, x: Array, formula: DeviceFunction) -> None:
    run_elements(queue, apply_elements, out.numel, out, x, out.numel, formula=formula)


@device_kernel("X* X*", "I")
def apply_elements(out, x, n):
    """A thread owns elements at the distance of the grid; libdevice's functions of these names are
    those of float64, into which float32 is converted and back."""
    i = I(cuda.grid(1))
    while i < n:
        out[i] = store_X(T(formula(np.float64(load_X(x[i])))))
        i = I(i + cuda.gridsize(1))


@device_function
def scaled_erfc(x):
    """exp(x**2) * erfc(x)."""
    return libdevice.erfcx(x)


@device_function
def log_normal_distribution(x):
    """log(erfc(-x / sqrt(2)) / 2), by erfcx where the distribution is small."""
    t = x * 0.7071067811865476
    if x < -1.0:
        return libdevice.log(libdevice.erfcx(-t) / 2.0) - t * t
    return libdevice.log1p(-libdevice.erfc(t) / 2.0)


@device_function
def normal_quantile(x):
    """The inverse of the normal distribution function; NaN outside [0, 1]."""
    return libdevice.normcdfinv(x)
