"""Planes of another size on the CPU: every result is a weighted sum of a few rows and columns.

Which rows and columns, and their weights, comes in tables over (taps, results), the places of a
result in ascending order; an absent table leaves its dim as it is. A weight of 0 takes no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from torchgen_out._runtime.kernels.cpu.loop_plans import (
    NOTHING,
    operand,
    out,
    plan_loop,
    plan_ranges,
)
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed

BAND = 32
"""Rows of a plane that are made together: what lies between the two steps stays in the cache."""
WORK = 4
"""How much more an element costs than in element-wise work."""


@planned()
def resample(
    result: TensorSpec,
    self: TensorSpec,
    rows: TensorSpec | None,
    row_weights: TensorSpec | None,
    columns: TensorSpec | None,
    column_weights: TensorSpec | None,
    adjoint: Sequence[TensorSpec | None],
) -> LaunchPlan:
    """Write the weighted sums. adjoint: for backward.

    Shape: self (*B, H, W), tables (taps, rows) and (taps, columns) -> (*B, rows, columns)
    """
    if not result.numel:
        return NOTHING
    planes = prod(result.sizes[:-2])
    operands = self, rows, row_weights, columns, column_weights, *adjoint
    arrays = out(0, planes, *result.sizes[-2:]), operand(0, planes, *self.sizes[-2:])
    tables = [
        operand(n, *each.sizes) for n, each in enumerate(operands[:5]) if n and each is not None
    ]
    if not tables:
        return plan_loop(take, [result], operands, out(0, result.numel), operand(0, result.numel))
    loop = (
        resample_rows if columns is None else resample_columns if rows is None else resample_bands
    )
    bands = planes * -(-result.sizes[-2] // BAND)
    return plan_ranges(loop, bands, WORK * result.numel, [result], operands, *arrays, *tables)


@typed
def take(out, x):
    """Everything as it is."""
    for i in range(out.size):
        out[i] = x[i]


@typed
def resample_rows(start, stop, out, x, rows, row_weights):
    """Some of all planes' bands, of other rows alone."""
    high = out.shape[1]
    bands = (high + BAND - 1) // BAND
    for item in range(start, stop):
        p = item // bands
        first = (item - p * bands) * BAND
        last = min(first + BAND, high)
        mix_rows(out[p, first:last], x[p], rows, row_weights, first, 0)


@typed
def resample_columns(start, stop, out, x, columns, column_weights):
    """Some of all planes' bands, of other columns alone."""
    high = out.shape[1]
    bands = (high + BAND - 1) // BAND
    for item in range(start, stop):
        p = item // bands
        first = (item - p * bands) * BAND
        last = min(first + BAND, high)
        mix_columns(out[p, first:last], x[p, first:last], columns, column_weights)


@typed
def resample_bands(start, stop, out, x, rows, row_weights, columns, column_weights):
    """Some of all planes' bands. Columns first, unless that would mix more rows than there will be.

    Both steps take a band at a time: a row that was just written would be waited for.
    """
    high = out.shape[1]
    bands = (high + BAND - 1) // BAND
    shrinks = high < x.shape[1]
    deep = BAND if shrinks else longest_reach(rows)
    lines = np.empty((deep, x.shape[2] if shrinks else out.shape[2]), out.dtype)
    for item in range(start, stop):
        p = item // bands
        first = (item - p * bands) * BAND
        last = min(first + BAND, high)
        if shrinks:
            mix_rows(lines[: last - first], x[p], rows, row_weights, first, 0)
            mix_columns(out[p, first:last], lines, columns, column_weights)
        else:
            low, top = rows[0, first], rows[-1, last - 1] + 1
            mix_columns(lines[: top - low], x[p, low:top], columns, column_weights)
            mix_rows(out[p, first:last], lines, rows, row_weights, first, low)


@typed
def longest_reach(rows):
    """How many rows at most the results of one band are made of."""
    longest = 0
    for first in range(0, rows.shape[1], BAND):
        last = min(first + BAND, rows.shape[1]) - 1
        longest = max(longest, rows[-1, last] - rows[0, first] + 1)
    return longest


@typed
def mix_rows(out, x, rows, weights, first, low):
    """out[i] = the sum over taps of weights[:, first + i] * x[rows[:, first + i] - low]."""
    for i in range(out.shape[0]):
        line, place = out[i], first + i
        if rows.shape[0] == 2 and weights[1, place] != 0:
            a, b = T(weights[0, place]), T(weights[1, place])
            one, other = x[rows[0, place] - low], x[rows[1, place] - low]
            for j in range(line.size):
                line[j] = a * one[j] + b * other[j]
        else:
            a, one = T(weights[0, place]), x[rows[0, place] - low]
            for j in range(line.size):
                line[j] = a * one[j] if a != 0 else T(0)
            for k in range(1, rows.shape[0]):
                a, one = T(weights[k, place]), x[rows[k, place] - low]
                if a != 0:
                    for j in range(line.size):
                        line[j] += a * one[j]


@typed
def mix_columns(out, x, columns, weights):
    """out[:, j] = the sum over taps of weights[:, j] * x[:, columns[:, j]]."""
    zero = T(0)
    for i in range(out.shape[0]):
        line, row = out[i], x[i]
        if columns.shape[0] == 2:
            a, b, one, other = weights[0], weights[1], columns[0], columns[1]
            for j in range(line.size):
                second = T(b[j]) * row[np.uint64(other[j])]
                line[j] = T(a[j]) * row[np.uint64(one[j])] + (second if b[j] != 0 else zero)
        else:
            for j in range(line.size):
                total = zero
                for k in range(columns.shape[0]):
                    a = T(weights[k, j])
                    total += a * row[np.uint64(columns[k, j])] if a != zero else zero
                line[j] = total
