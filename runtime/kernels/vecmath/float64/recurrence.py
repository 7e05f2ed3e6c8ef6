"""Families of polynomials that a recurrence of three terms defines, in float64."""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import nan

T = np.float64


def three_term_recurrence(x, n, f0, f1, a0, a1, a2, a3, b0, b1, d0, d1):
    """The polynomial of degree n. Those of degree 0 and 1 are 1 and f0 + f1 x; d0 + d1 k times that
    of degree k + 1 is a0 + a1 x + k (a2 + a3 x) times that of degree k less b0 + b1 k times that of
    degree k - 1. Degrees are cut to integers; below 0 the value is 0, as for nan.

    Where the coefficients are constant (Chebyshev's polynomials), degrees above 1024 have a closed
    form; elsewhere they end at 2^26, which takes a second: beyond it the value is nan. It is, too,
    from where it is inf - inf.
    """
    is_constant = (a2 == 0.0) & (a3 == 0.0) & (b1 == 0.0) & (d1 == 0.0)
    below = 0.0
    value = 1.0 if n > -1.0 else 0.0
    if n >= 1.0:
        below = 1.0
        value = f0 + f1 * x
    if (n > 1024.0) & is_constant:
        return constant_recurrence(value, 0.5 * (a0 + a1 * x), np.floor(n))
    k = 1.0
    last = 2.0 if n > 67108864.0 else n
    is_settled = not n > 67108864.0
    while (k + 1.0 <= last) & (value == value):
        above = three_term_step(k, below, value, x, a0, a1, a2, a3, b0, b1, d0, d1)
        if (math.fabs(value) == 1.0) & (math.fabs(below) == 1.0) & (above == below):
            # and so for ever: 1, or 1 and -1 in turn
            value = value if np.floor(n) % 2.0 == k % 2.0 else above
            is_settled = True
            break
        below = value
        value = above
        k = k + 1.0
    return value if is_settled else nan


def three_term_recurrence_start(x, n, f0, f1, a0, a1, a2, a3, b0, b1, d0, d1):
    """The values of degree 0 and 1; of a smaller n its own instead of the second."""
    constant = 1.0 if n > -1.0 else 0.0
    return 1.0, f0 + f1 * x if n >= 1.0 else constant


def three_term_recurrence_steps(k, below, value, x, n, f0, f1, a0, a1, a2, a3, b0, b1, d0, d1):
    """Four steps from the values of degree k - 1 and k on, each only below n."""
    above = three_term_step(k, below, value, x, a0, a1, a2, a3, b0, b1, d0, d1)
    below = value
    value = above if k + 1.0 <= n else value
    k = k + 1.0
    above = three_term_step(k, below, value, x, a0, a1, a2, a3, b0, b1, d0, d1)
    below = value
    value = above if k + 1.0 <= n else value
    k = k + 1.0
    above = three_term_step(k, below, value, x, a0, a1, a2, a3, b0, b1, d0, d1)
    below = value
    value = above if k + 1.0 <= n else value
    k = k + 1.0
    above = three_term_step(k, below, value, x, a0, a1, a2, a3, b0, b1, d0, d1)
    return value, above if k + 1.0 <= n else value


def three_term_recurrence_goes_on(k, x, n, f0, f1, a0, a1, a2, a3, b0, b1, d0, d1):
    """Whether there is a degree k + 1."""
    return k + 1.0 <= n


def three_term_recurrence_is_far(x, n, f0, f1, a0, a1, a2, a3, b0, b1, d0, d1):
    return n > 1024.0


def three_term_step(k, below, value, x, a0, a1, a2, a3, b0, b1, d0, d1):
    """The value of degree k + 1. That 0 k is 0 is not for a compiler to know."""
    factor = (a0 + a2 * k) + (a1 + a3 * k) * x
    divisor = d0 if d1 == 0.0 else d0 + d1 * k
    return (factor * value - (b0 + b1 * k) * below) / divisor


def constant_recurrence(first, half, degree):
    """The value of `degree` where p0 = 1, p1 = first, and p_(k+1) = 2 half p_k - p_(k-1).

    With half = cos(t) it is (first sin(nt) - sin((n-1)t)) / sin(t), beyond 1 by sinh, at the ends
    the limit; a negative `half` changes the sign of every second value.
    """
    is_turned = half < 0.0
    sign = -1.0 if is_turned & (degree % 2.0 == 1.0) else 1.0
    first = -first if is_turned else first
    half = math.fabs(half)
    if half == 1.0:
        return sign if first == 1.0 else sign * ((first - 1.0) * degree + 1.0)
    if half < 1.0:
        angle = math.acos(half)
        terms = first * math.sin(degree * angle) - math.sin((degree - 1.0) * angle)
        return sign * terms / math.sin(angle)
    growth = math.acosh(half)
    if not degree * growth < 709.0:
        return nan  # inf - inf
    terms = first * math.sinh(degree * growth) - math.sinh((degree - 1.0) * growth)
    return sign * terms / math.sinh(growth)
