"""Families of polynomials that a recurrence of three terms defines: one kernel for all of them.

Where the recurrence's coefficients are constant (Chebyshev's polynomials), high degrees have a
closed form; elsewhere degrees end at MOST, which takes a thread seconds.
"""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    device_function,
    device_kernel,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous, converted

COEFFICIENTS = " ".join(["float64"] * 10)
HIGH = 1024.0
"""The degree above which a closed form is exacter, and faster, than the recurrence."""
MOST = 2.0**26
"""The highest degree that is computed step by step; above it the result is nan."""


def three_term_recurrence(
    queue: Queue,
    out: Array,
    x: Array,
    n: Array,
    coefficients: Sequence[float],
) -> None:
    """Write the polynomials of degree n at x."""
    alike = [converted(queue, each, out.dtype) for each in (x, n)]
    operands = [contiguous(queue, each.expanded(out.sizes)) for each in alike]
    numbers = tuple(float(number) for number in coefficients)
    run_elements(queue, recur, out.numel, out, *operands, out.numel, *numbers)


@device_kernel("X* X* X*", f"I {COEFFICIENTS}")
def recur(out, x, n, count, f0, f1, a0, a1, a2, a3, b0, b1, d0, d1):
    """A thread owns elements at the distance of the grid, and computes them in float64."""
    is_constant = (a2 == 0.0) & (a3 == 0.0) & (b1 == 0.0) & (d1 == 0.0)
    i = I(cuda.grid(1))
    while i < count:
        at = np.float64(load_X(x[i]))
        degree = np.float64(load_X(n[i]))
        below = 0.0
        value = 1.0 if degree > -1.0 else 0.0
        if degree >= 1.0:
            below = 1.0
            value = f0 + f1 * at
        if (degree > HIGH) & is_constant:
            value = constant_recurrence(value, 0.5 * (a0 + a1 * at), math.floor(degree))
        else:
            k = 1.0
            last = 2.0 if degree > MOST else degree
            is_settled = not degree > MOST
            while (k + 1.0 <= last) & (value == value):
                factor = (a0 + a2 * k) + (a1 + a3 * k) * at
                above = (factor * value - (b0 + b1 * k) * below) / (d0 + d1 * k)
                if (abs(value) == 1.0) & (abs(below) == 1.0) & (above == below):
                    # and so for ever: 1, or 1 and -1 in turn
                    value = value if math.floor(degree) % 2.0 == k % 2.0 else above
                    is_settled = True
                    break
                below = value
                value = above
                k = k + 1.0
            value = value if is_settled else math.nan
        out[i] = store_X(T(value))
        i = I(i + cuda.gridsize(1))


@device_function
def constant_recurrence(first, half, degree):
    """The value of `degree` where p0 = 1, p1 = first, and p_(k+1) = 2 half p_k - p_(k-1).

    With half = cos(t) it is (first sin(nt) - sin((n-1)t)) / sin(t), beyond 1 by sinh, at the ends
    the limit; a negative `half` changes the sign of every second value.
    """
    is_turned = half < 0.0
    sign = -1.0 if is_turned & (degree % 2.0 == 1.0) else 1.0
    first = -first if is_turned else first
    half = abs(half)
    if half == 1.0:
        return sign * ((first - 1.0) * degree + 1.0)
    if half < 1.0:
        angle = math.acos(half)
        terms = first * math.sin(degree * angle) - math.sin((degree - 1.0) * angle)
        return sign * terms / math.sin(angle)
    growth = math.acosh(half)
    if not degree * growth < 709.0:
        return math.nan  # inf - inf
    terms = first * math.sinh(degree * growth) - math.sinh((degree - 1.0) * growth)
    return sign * terms / math.sinh(growth)
