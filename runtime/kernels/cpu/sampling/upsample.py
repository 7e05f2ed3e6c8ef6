"""Planes of another size on the CPU: every result is a weighted sum of a few rows and columns.

Which rows and columns, and their weights, comes in tables over (taps, results), the places of a
result in ascending order; an absent table leaves its dim as it is. A weight of 0 takes no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.folding import contiguous
from torchgen_out._runtime.kernels.typed import typed

Array = Any
BAND = 32
"""Rows of a plane that are made together: what lies between the two steps stays in the cache."""
WORK = 4
"""How much more an element costs than in element-wise work."""


def resample(
    out: Array,
    self: Array,
    rows: Array | None,
    row_weights: Array | None,
    columns: Array | None,
    column_weights: Array | None,
    adjoint: Sequence[Array | None],
) -> None:
    """Write the weighted sums. adjoint: for backward.

    Shape: self (*B, H, W), tables (taps, rows) and (taps, columns) -> (*B, rows, columns)
    """
    if not out.size:
        return
    rows, row_weights = _table(rows, row_weights, out.dtype)
    columns, column_weights = _table(columns, column_weights, out.dtype)
    results = out.reshape(-1, *out.shape[-2:])
    planes = contiguous(self).reshape(-1, *self.shape[-2:])
    bands = len(results) * -(-results.shape[1] // BAND)
    arrays = (results, planes, rows, row_weights, columns, column_weights)
    threads.run_ranges(resample_bands.of(out.dtype), bands, WORK * out.size, *arrays)


def _table(places: Array | None, weights: Array | None, dtype: Any) -> tuple[Array, Array]:
    """A table as the loop takes it, one without taps if it is absent."""
    if places is None:
        return np.empty((0, 0), np.int64), np.empty((0, 0), dtype)
    return np.ascontiguousarray(places), np.ascontiguousarray(weights, dtype)


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
        if columns.size == 0:
            mix_rows(out[p, first:last], x[p], rows, row_weights, first, 0)
        elif rows.size == 0:
            mix_columns(out[p, first:last], x[p, first:last], columns, column_weights)
        elif shrinks:
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
            a, b = weights[0, place], weights[1, place]
            one, other = x[rows[0, place] - low], x[rows[1, place] - low]
            for j in range(line.size):
                line[j] = a * one[j] + b * other[j]
        else:
            a, one = weights[0, place], x[rows[0, place] - low]
            for j in range(line.size):
                line[j] = a * one[j] if a != 0 else T(0)
            for k in range(1, rows.shape[0]):
                a, one = weights[k, place], x[rows[k, place] - low]
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
                second = b[j] * row[np.uint64(other[j])]
                line[j] = a[j] * row[np.uint64(one[j])] + (second if b[j] != zero else zero)
        else:
            for j in range(line.size):
                total = zero
                for k in range(columns.shape[0]):
                    a = weights[k, j]
                    total += a * row[np.uint64(columns[k, j])] if a != zero else zero
                line[j] = total
