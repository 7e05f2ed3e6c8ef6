"""Families of polynomials that a recurrence of three terms defines: one kernel for all of them.

Where the recurrence's coefficients are constant (Chebyshev's polynomials), high degrees have a
closed form; elsewhere degrees end at MOST, where an element takes half a second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING, operand, out, plan_ranges
from torchgen_out._runtime.kernels.cpu.planned import on_copies, planned
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec, collapse

HIGH = 1024.0
"""The degree above which a closed form is exacter, and faster, than the recurrence."""
MOST = 2.0**26
"""The highest degree that is computed step by step; above it the result is nan."""
WORK = 16
"""How much more an element costs than in element-wise work; few degrees are high."""


@planned(any_strides=True)
def three_term_recurrence(
    result: TensorSpec, x: TensorSpec, n: TensorSpec, coefficients: Sequence[float]
) -> LaunchPlan:
    """Write the polynomials of degree n at x."""
    numbers = tuple([float(number) for number in coefficients])
    operands = [each.expanded(result.sizes) for each in (x, n)]
    rows = [result.strides, *[each.strides for each in operands]]
    (*outer, width), (_, *steps) = collapse(result.sizes, rows, list(range(len(result.sizes))))
    if not result.numel:
        return NOTHING
    if len(outer) > 1:
        dense = [each._replace(strides=result.strides) for each in operands]
        return on_copies(three_term_recurrence.planner(result, *dense, coefficients), 1, operands)
    count, walks = result.numel, [row if outer else [0, *row] for row in steps]
    ends = [(count // width) * by_row + width * step for by_row, step in walks]
    views = [operand(number, end) for number, end in enumerate(ends)]
    arguments = out(0, count), *views, width, (*walks[0], *walks[1]), numbers
    return plan_ranges(recur, count, WORK * count, [result], operands, *arguments)


@kernel
def recur(start, stop, out, x, n, width, steps, numbers):
    """In float64, of elements cast to the result's dtype. NaN, also of inf - inf, ends it."""
    (row_x, step_x, row_n, step_n), (f0, f1, a0, a1, a2, a3, b0, b1, d0, d1) = steps, numbers
    is_constant = a2 == 0.0 and a3 == 0.0 and b1 == 0.0 and d1 == 0.0
    row = start // width
    column = start - row * width
    from_x, from_n = row * row_x + column * step_x, row * row_n + column * step_n
    for i in range(start, stop):
        at = np.float64(out.dtype.type(x[np.uint64(from_x)]))
        degree = np.float64(out.dtype.type(n[np.uint64(from_n)]))
        from_x, from_n, column = from_x + step_x, from_n + step_n, column + 1
        if column == width:
            from_x += row_x - width * step_x
            from_n += row_n - width * step_n
            column = 0
        below = 0.0
        value = 1.0 if degree > -1.0 else 0.0
        if degree >= 1.0:
            below = 1.0
            value = f0 + f1 * at
        if degree > HIGH and is_constant:
            value = constant_recurrence(value, 0.5 * (a0 + a1 * at), math.floor(degree))
        else:
            k = 1.0
            last = 2.0 if degree > MOST else degree
            is_settled = not degree > MOST
            while k + 1.0 <= last and value == value:
                factor = (a0 + a2 * k) + (a1 + a3 * k) * at
                above = (factor * value - (b0 + b1 * k) * below) / (d0 + d1 * k)
                if abs(value) == 1.0 and abs(below) == 1.0 and above == below:
                    # and so for ever: 1, or 1 and -1 in turn
                    value = value if math.floor(degree) % 2.0 == k % 2.0 else above
                    is_settled = True
                    break
                below = value
                value = above
                k += 1.0
            value = value if is_settled else math.nan
        out[i] = value


@kernel
def constant_recurrence(first, half, degree):
    """The value of `degree` where p0 = 1, p1 = first, and p_(k+1) = 2 half p_k - p_(k-1).

    With half = cos(t) it is (first sin(nt) - sin((n-1)t)) / sin(t), beyond 1 by sinh, at the ends
    the limit; a negative `half` changes the sign of every second value.
    """
    sign = -1.0 if half < 0.0 and degree % 2.0 == 1.0 else 1.0
    if half < 0.0:
        first = -first
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
