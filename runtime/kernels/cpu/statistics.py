"""Variance, standard deviation and their means: two passes, accumulated in float64.

The first pass finds the mean, the second sums squared distances from it, which is accurate where
the difference of two large sums is not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.kernels.cpu.reduced_dims import fold
from runtime.kernels.typed import typed_sum

Array = Any


def var(out: Array, self: Array, dim: Any, correction: Any, keepdim: bool) -> None:
    """Write the variance over `dim`."""
    moments(out, np.empty(out.shape, self.dtype), self, dim, correction)


def std(out: Array, self: Array, dim: Any, correction: Any, keepdim: bool) -> None:
    """Write the standard deviation over `dim`."""
    var(out, self, dim, correction, keepdim)
    square_root(out)


def var_mean(
    out0: Array, out1: Array, self: Array, dim: Any, correction: Any, keepdim: bool
) -> None:
    """Write the variance and the mean over `dim`."""
    moments(out0, out1, self, dim, correction)


def std_mean(
    out0: Array, out1: Array, self: Array, dim: Any, correction: Any, keepdim: bool
) -> None:
    """Write the standard deviation and the mean over `dim`."""
    moments(out0, out1, self, dim, correction)
    square_root(out0)


@np.errstate(invalid="ignore")
def square_root(x: Array) -> None:
    """x = sqrt(x); NaN stays, silently."""
    np.sqrt(x, out=x)


def moments(variance: Array, mean: Array, x: Array, dim: Any, correction: Any) -> None:
    """Write both moments; those of a complex array are of its parts, variances added."""
    if x.dtype.kind == "c":
        parts = [np.empty(mean.shape, variance.dtype) for _ in range(2)]
        imaginary = np.empty_like(variance)
        moments(variance, parts[0], np.ascontiguousarray(x.real), dim, correction)
        moments(imaginary, parts[1], np.ascontiguousarray(x.imag), dim, correction)
        variance += imaginary
        mean.real, mean.imag = parts
        return
    if not mean.size:
        return
    block, plan = fold(x, dim)
    freedom = float(max(plan.count - (1 if correction is None else correction), 0))
    kernel = row_moments if plan.inner == 1 else column_moments
    kernel(block, variance.reshape(-1), mean.reshape(-1), freedom)


@typed_sum
def row_mean(row):
    """The mean of a row, in float64."""
    total = 0.0
    for i in range(row.size):
        total += row[i]
    return total / row.size


@typed_sum
def squared_distances(row, center):
    """The sum of squared distances from `center`, in float64."""
    total = 0.0
    for i in range(row.size):
        distance = row[i] - center
        total += distance * distance
    return total


@typed_sum
def row_moments(x, variance, mean, freedom):
    """Both moments of each row."""
    for r in range(x.shape[0]):
        center = row_mean(x[r])
        mean[r] = center
        variance[r] = squared_distances(x[r], center) / freedom


@typed_sum
def column_moments(x, variance, mean, freedom):
    """Both moments over the middle dim of (outer, n, inner), `inner` columns at a time."""
    n, inner = x.shape[1], x.shape[2]
    center, squares = np.empty(inner, np.float64), np.empty(inner, np.float64)
    for o in range(x.shape[0]):
        center[:] = 0.0
        squares[:] = 0.0
        for i in range(n):
            row = x[o, i]
            for j in range(inner):
                center[j] += row[j]
        for j in range(inner):
            center[j] /= n
        for i in range(n):
            row = x[o, i]
            for j in range(inner):
                distance = row[j] - center[j]
                squares[j] += distance * distance
        for j in range(inner):
            mean[o * inner + j] = center[j]
            variance[o * inner + j] = squares[j] / freedom
