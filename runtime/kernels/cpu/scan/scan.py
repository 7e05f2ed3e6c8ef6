"""Cumulative operators. Sums and products of floats accumulate in double precision, as PyTorch's.

Every loop takes folded arrays; rows run along the last dim, columns side by side otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.build import Kernel, kernel
from torchgen_out._runtime.kernels.common.folded import sizes_around
from torchgen_out._runtime.kernels.cpu.loop_plans import (
    NOTHING,
    after_cast,
    operand,
    out,
    plan_call,
    plan_ranges,
)
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any


@planned()
def cumsum(result: TensorSpec, self: TensorSpec, dim: int, dtype: Any = None) -> LaunchPlan:
    """Write the sums of what stands up to each place."""
    return _plan_scan(result, self, dim, (sum_rows, sum_columns), 0)


@planned()
def cumprod(result: TensorSpec, self: TensorSpec, dim: int, dtype: Any = None) -> LaunchPlan:
    """Write the products of what stands up to each place."""
    return _plan_scan(result, self, dim, (multiply_rows, multiply_columns), 1)


def _plan_scan(
    result: TensorSpec, self: TensorSpec, dim: int, loops: tuple[Any, Any], start: int
) -> LaunchPlan:
    """loops: over rows and over columns; start: of each scan, in the type that accumulates."""
    if not result.numel:
        return NOTHING
    outer, size, inner = sizes_around(result.sizes, dim)
    shape = (outer, size) if inner == 1 else (outer, size, inner)
    initial = (float if result.dtype.kind in "fc" else int)(start)
    plan = plan_ranges(
        *(loops[inner > 1], outer, result.numel, [result], [self._replace(dtype=result.dtype)]),
        *(out(0, *shape), operand(0, *shape), initial),
    )
    return after_cast(plan, self, result.dtype)


@kernel
def scan_rows(start, stop, out, self, initial, is_sum):
    """out[r, i] = the sum, or product, of self[r, : i + 1], in the type of `initial`.

    Four rows at a time: one sum waits for itself, four do not wait for each other.
    """
    out, self = out[start:stop], self[start:stop]
    rows, count = self.shape
    whole = rows - rows % 4
    for row in range(0, whole, 4):
        a, b, c, d = initial, initial, initial, initial
        for i in range(count):
            p, q, s, t = self[row, i], self[row + 1, i], self[row + 2, i], self[row + 3, i]
            a, b = (a + p, b + q) if is_sum else (a * p, b * q)
            c, d = (c + s, d + t) if is_sum else (c * s, d * t)
            out[row, i], out[row + 1, i] = a, b
            out[row + 2, i], out[row + 3, i] = c, d
    for row in range(whole, rows):
        acc = initial
        for i in range(count):
            acc = acc + self[row, i] if is_sum else acc * self[row, i]
            out[row, i] = acc


@kernel
def sum_rows(start, stop, out, self, initial):
    """`scan_rows`, compiled for sums."""
    scan_rows(start, stop, out, self, initial, True)


@kernel
def multiply_rows(start, stop, out, self, initial):
    """`scan_rows`, compiled for products."""
    scan_rows(start, stop, out, self, initial, False)


@kernel
def scan_columns(start, stop, out, self, initial, is_sum):
    """The same over the middle dim of (outer, n, inner): the inner loop vectorises."""
    out, self = out[start:stop], self[start:stop]
    carry = np.full(self.shape[2], initial + 0 * self[0, 0, 0])
    for o in range(self.shape[0]):
        carry[:] = initial
        for j in range(self.shape[1]):
            for i in range(self.shape[2]):
                carry[i] = carry[i] + self[o, j, i] if is_sum else carry[i] * self[o, j, i]
                out[o, j, i] = carry[i]


@kernel
def sum_columns(start, stop, out, self, initial):
    """`scan_columns`, compiled for sums."""
    scan_columns(start, stop, out, self, initial, True)


@kernel
def multiply_columns(start, stop, out, self, initial):
    """`scan_columns`, compiled for products."""
    scan_columns(start, stop, out, self, initial, False)


@kernel
def log_sum_exp(start, stop, out, self):
    """log(e^a + e^b) = max + log1p(e^(min - max)): the exponent is never positive."""
    out, self = out[start:stop], self[start:stop]
    for o in range(self.shape[0]):
        for i in range(self.shape[2]):
            acc = np.float64(self[o, 0, i])
            out[o, 0, i] = acc
            for j in range(1, self.shape[1]):
                x = np.float64(self[o, j, i])
                if x != x or acc != acc:
                    acc = x + acc
                else:
                    high, low = (x, acc) if x > acc else (acc, x)
                    if high != low or not math.isinf(high):
                        high += math.log1p(math.exp(low - high))
                    acc = high
                out[o, j, i] = acc


@planned()
def logcumsumexp(result: TensorSpec, self: TensorSpec, dim: int) -> LaunchPlan:
    """Write the logarithm of the sums of exponentials up to each place."""
    if not result.numel:
        return NOTHING
    if result.dtype.kind == "c":
        views = out(0, *result.sizes), operand(0, *result.sizes)
        return plan_call(_log_sum_exp_complex, [result], [self], *views, dim)
    shape = sizes_around(result.sizes, dim)
    views = out(0, *shape), operand(0, *shape)
    return plan_ranges(log_sum_exp, shape[0], result.numel, [result], [self], *views)


def _log_sum_exp_complex(out: Array, self: Array, dim: int) -> None:
    """The same step by step along the dim; the larger real part leads."""
    out = np.moveaxis(np.atleast_1d(out), dim, 0)
    steps = np.moveaxis(np.atleast_1d(self), dim, 0)
    out[0] = acc = steps[0]
    with np.errstate(all="ignore"):
        for j in range(1, len(steps)):
            first = acc.real >= steps[j].real
            high, low = np.where(first, acc, steps[j]), np.where(first, steps[j], acc)
            gap = np.where(np.isneginf(low.real), -np.inf, low - high)
            out[j] = acc = high + np.log1p(np.exp(gap))


@kernel
def best_so_far(start, stop, values, indices, self, is_greatest):
    """Until a NaN comes any value that is not worse takes the place; then only NaN does."""
    values, indices, self = values[start:stop], indices[start:stop], self[start:stop]
    count = self.shape[1]
    for o in range(self.shape[0]):
        for i in range(self.shape[2]):
            best, place, j = self[o, 0, i], 0, 0
            while j < count:
                value = self[o, j, i]
                if not (value < best if is_greatest else value > best):
                    best, place = value, j
                    if value != value:
                        break
                values[o, j, i] = best
                indices[o, j, i] = place
                j += 1
            while j < count:
                place = j if self[o, j, i] != self[o, j, i] else place
                values[o, j, i] = best
                indices[o, j, i] = place
                j += 1


@kernel
def max_so_far(start, stop, values, indices, self):
    """`best_so_far`, compiled for the greatest."""
    best_so_far(start, stop, values, indices, self, True)


@kernel
def min_so_far(start, stop, values, indices, self):
    """`best_so_far`, compiled for the smallest."""
    best_so_far(start, stop, values, indices, self, False)


def _plan_best(loop: Kernel) -> Callable[..., LaunchPlan]:
    def plan(values: TensorSpec, indices: TensorSpec, self: TensorSpec, dim: int) -> LaunchPlan:
        """Write the best value so far and its latest place."""
        if not values.numel:
            return NOTHING
        shape, outs = sizes_around(self.sizes, dim), [values, indices]
        views = out(0, *shape), out(1, *shape), operand(0, *shape)
        return plan_ranges(loop, shape[0], values.numel, outs, [self], *views)

    return plan


cummax = planned(results=2)(_plan_best(max_so_far))
cummin = planned(results=2)(_plan_best(min_so_far))
