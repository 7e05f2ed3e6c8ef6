"""Families of polynomials that a recurrence of three terms defines: one kernel for all of them."""

# ruff: noqa: F821 - T, I and the like are names of the compiled text.

from __future__ import annotations

from collections.abc import Sequence

from runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from runtime.kernels.cuda.queue import Array, Queue, contiguous

COEFFICIENTS = " ".join(["float64"] * 10)


def three_term_recurrence(
    queue: Queue,
    out: Array,
    x: Array,
    n: Array,
    first: Sequence[float],
    next: Sequence[float],
    previous: Sequence[float],
    divisor: Sequence[float],
) -> None:
    """Write the polynomials of degree n at x."""
    operands = [contiguous(queue, each.expanded(out.sizes)) for each in (x, n)]
    numbers = tuple(float(number) for part in (first, next, previous, divisor) for number in part)
    run_elements(queue, recur, out.numel, out, *operands, out.numel, *numbers)


@device_kernel("X* X* X*", f"I {COEFFICIENTS}")
def recur(out, x, n, count, f0, f1, a0, a1, a2, a3, b0, b1, d0, d1):
    """A thread owns elements at the distance of the grid, and computes them in float64."""
    i = I(cuda.grid(1))
    while i < count:
        at = np.float64(load_X(x[i]))
        degree = np.float64(load_X(n[i]))
        below = 0.0
        value = 1.0 if degree > -1.0 else 0.0
        if degree >= 1.0:
            below = 1.0
            value = f0 + f1 * at
        k = 1.0
        while (k + 1.0 <= degree) & (value == value):
            factor = (a0 + a2 * k) + (a1 + a3 * k) * at
            above = (factor * value - (b0 + b1 * k) * below) / (d0 + d1 * k)
            below = value
            value = above
            k = k + 1.0
        out[i] = store_X(T(value))
        i = I(i + cuda.gridsize(1))
