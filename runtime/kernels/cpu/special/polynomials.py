"""Families of polynomials that a recurrence of three terms defines: one kernel for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.kernels import threads
from runtime.kernels.build import kernel
from runtime.kernels.cpu.folding import broadcast, buffer_of, settle

Array = Any
WORK = 16
"""How much more an element costs than in element-wise work; few degrees are high."""


def three_term_recurrence(
    out: Array,
    x: Array,
    n: Array,
    first: Sequence[float],
    next: Sequence[float],
    previous: Sequence[float],
    divisor: Sequence[float],
) -> None:
    """Write the polynomials of degree n at x."""
    buffer = buffer_of(out)
    operands = [np.ascontiguousarray(broadcast(a, out.shape)).reshape(-1) for a in (x, n)]
    numbers = tuple(float(number) for part in (first, next, previous, divisor) for number in part)
    threads.run_flat(recur, (buffer.reshape(-1), *operands), numbers, work=WORK)
    settle(out, buffer)


@kernel
def recur(out, x, n, f0, f1, a0, a1, a2, a3, b0, b1, d0, d1):
    """In float64, whatever the elements are; a NaN, also one of inf - inf, ends the recurrence."""
    for i in range(out.size):
        at = float(x[i])
        degree = float(n[i])
        below = 0.0
        value = 1.0 if degree > -1.0 else 0.0
        if degree >= 1.0:
            below = 1.0
            value = f0 + f1 * at
        k = 1.0
        while k + 1.0 <= degree and value == value:
            factor = (a0 + a2 * k) + (a1 + a3 * k) * at
            above = (factor * value - (b0 + b1 * k) * below) / (d0 + d1 * k)
            below = value
            value = above
            k += 1.0
        out[i] = value
