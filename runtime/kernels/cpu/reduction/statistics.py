"""Variance, standard deviation and their means: two passes, accumulated in float64.

The first pass finds the mean, the second sums squared distances from it, which is accurate where
the difference of two large sums is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.common.reduced_dims import permuted, plan_fold
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING, operand, out, plan_loop
from torchgen_out._runtime.kernels.cpu.planned import PlannedKernel, on_copies, view_of
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed_sum

Array = Any


def _moments(is_root: bool, results: int) -> PlannedKernel:
    """The kernel of a variance, or of its root, with or without the mean."""

    def plan(*args: Any) -> LaunchPlan:
        """Write the variance or the standard deviation over `dim`, and the mean if asked for."""
        *outs, self, dim, correction, _ = args
        if not outs[0].numel:
            return NOTHING
        if self.dtype.kind == "c":
            return _plan_complex(outs, self, dim, correction, is_root)
        dim = tuple(dim) if dim.__class__ is list else dim
        order, shape, inner, size = plan_fold(self.sizes, dim, True)
        folded = self if order is None else permuted(self, order)
        count = outs[0].numel
        plan = plan_loop(
            row_moments if inner == 1 else column_moments,
            *(outs, [self], operand(0, *shape), out(0, count)),
            out(1, count) if results == 2 else None,
            *(degrees_of_freedom(size, correction), is_root),
        )
        return on_copies(plan, results, [folded])

    return PlannedKernel(plan, results, any_strides=True)


var = _moments(False, 1)
std = _moments(True, 1)
var_mean = _moments(False, 2)
std_mean = _moments(True, 2)


def degrees_of_freedom(count: int, correction: Any) -> float:
    """What the sum of squares is divided by; one is taken off where nothing else is said."""
    return float(max(count - (1 if correction is None else correction), 0))


def _plan_complex(
    outs: Sequence[TensorSpec], self: TensorSpec, dim: Any, correction: Any, is_root: bool
) -> LaunchPlan:
    """The moments of complex numbers are those of their parts, the variances added."""
    sizes, real = outs[0].sizes, outs[0].dtype

    def run(variance: Array, *args: Any) -> None:
        *means, x, at, _ = args
        view, total = view_of(x, at, self), np.zeros(sizes, real)
        for name in ("real", "imag"):
            part, mean = np.empty(sizes, real), np.empty(sizes, real)
            var_mean(part, mean, np.ascontiguousarray(getattr(view, name)), dim, correction, True)
            total += part
            for each in means:
                setattr(each, name, mean.reshape(-1))
        with np.errstate(invalid="ignore"):
            variance[:] = (np.sqrt(total) if is_root else total).reshape(-1)

    return LaunchPlan(run, None)


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
    """Both moments of each row, or the root of the first. mean: empty if nobody asks for it."""
    for r in range(x.shape[0]):
        center = row_mean(x[r])
        if mean.size:
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
            variance[o * inner + j] = math.sqrt(found) if is_root else found
        if mean.size:
            mean[o * inner : (o + 1) * inner] = center
