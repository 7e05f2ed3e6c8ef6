"""Variance, standard deviation and their means: two passes, accumulated in float64.

The first pass finds the mean, the second sums squared distances from it, which is accurate where
the difference of two large sums is not.
"""

from __future__ import annotations

import math
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.cpu.loop_plans import leading_operands, operand, out, plan_loop
from torchgen_out._runtime.kernels.cpu.planned import Planner, planned
from torchgen_out._runtime.kernels.cpu.reduced_dims import fold, plan_fold
from torchgen_out._runtime.kernels.cpu.small import is_small
from torchgen_out._runtime.kernels.plan import LaunchPlan
from torchgen_out._runtime.kernels.typed import typed_sum

Array = Any


def plan_moments(is_root: bool) -> Planner:
    """The planner of a variance, or of its root, with or without the mean."""

    def plan(*args: Any) -> LaunchPlan | None:
        count = leading_operands(args)
        *outs, self = args[:count]
        dim, correction, _ = args[count:]
        order, shape, inner, size = plan_fold(self.sizes, dim, True)
        if not is_small(outs[0], self) or order is not None or self.dtype != outs[0].dtype:
            return None
        loop = row_moments if inner == 1 else column_moments
        results = [out(i, prod(outs[0].sizes)) for i in (0, len(outs) - 1)]
        freedom = degrees_of_freedom(size, correction)
        return plan_loop(loop, outs, [self], operand(0, *shape), *results, freedom, is_root)

    return plan


@planned(plan_moments(is_root=False))
def var(out: Array, self: Array, dim: Any, correction: Any, keepdim: bool) -> None:
    """Write the variance over `dim`."""
    moments(out, np.empty(out.shape, self.dtype), self, dim, correction, False)


@planned(plan_moments(is_root=True))
def std(out: Array, self: Array, dim: Any, correction: Any, keepdim: bool) -> None:
    """Write the standard deviation over `dim`."""
    moments(out, np.empty(out.shape, self.dtype), self, dim, correction, True)


@planned(plan_moments(is_root=False))
def var_mean(
    out0: Array, out1: Array, self: Array, dim: Any, correction: Any, keepdim: bool
) -> None:
    """Write the variance and the mean over `dim`."""
    moments(out0, out1, self, dim, correction, False)


@planned(plan_moments(is_root=True))
def std_mean(
    out0: Array, out1: Array, self: Array, dim: Any, correction: Any, keepdim: bool
) -> None:
    """Write the standard deviation and the mean over `dim`."""
    moments(out0, out1, self, dim, correction, True)


def degrees_of_freedom(count: int, correction: Any) -> float:
    """What the sum of squares is divided by; one is taken off where nothing else is said."""
    return float(max(count - (1 if correction is None else correction), 0))


def moments(
    variance: Array, mean: Array, x: Array, dim: Any, correction: Any, is_root: bool
) -> None:
    """Write both moments; those of a complex array are of its parts, variances added."""
    if x.dtype.kind == "c":
        parts = [np.empty(mean.shape, variance.dtype) for _ in range(2)]
        imaginary = np.empty_like(variance)
        moments(variance, parts[0], np.ascontiguousarray(x.real), dim, correction, False)
        moments(imaginary, parts[1], np.ascontiguousarray(x.imag), dim, correction, False)
        variance += imaginary
        if is_root:
            with np.errstate(invalid="ignore"):
                np.sqrt(variance, out=variance)
        mean.real, mean.imag = parts
        return
    if not mean.size:
        return
    block, plan = fold(x, dim)
    kernel = row_moments if plan.inner == 1 else column_moments
    results = variance.reshape(-1), mean.reshape(-1)
    kernel(block, *results, degrees_of_freedom(plan.count, correction), is_root)


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
def row_moments(x, variance, mean, freedom, is_root):
    """Both moments of each row, or the root of the first.

    Each mean is written before its variance: whoever wants no means gives one array for both.
    """
    for r in range(x.shape[0]):
        center = row_mean(x[r])
        mean[r] = center
        found = squared_distances(x[r], center) / freedom
        variance[r] = math.sqrt(found) if is_root else found


@typed_sum
def column_moments(x, variance, mean, freedom, is_root):
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
            found = squares[j] / freedom
            mean[o * inner + j] = center[j]
            variance[o * inner + j] = math.sqrt(found) if is_root else found
