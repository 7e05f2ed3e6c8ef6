"""Cumulative operators. Sums and products of floats accumulate in double precision, as PyTorch's.

Every kernel takes folded arrays; rows run along the last dim, columns side by side otherwise.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import Kernel, kernel
from torchgen_out._runtime.kernels.cpu.copy import moving_plans
from torchgen_out._runtime.kernels.cpu.folding import buffer_of, fold, folded_shape, settle
from torchgen_out._runtime.kernels.cpu.loop_plans import leading_operands, operand, out, plan_loop
from torchgen_out._runtime.kernels.cpu.planned import Planner, planned
from torchgen_out._runtime.kernels.cpu.small import is_small
from torchgen_out._runtime.kernels.plan import LaunchPlan

Array = Any

# The type in which a scan accumulates.
_ACCUMULATE = {"f": np.float64, "c": np.complex128, "i": np.int64, "u": np.int64, "b": np.int64}


def plan_scan(loop: Kernel, *numbers: float) -> Planner:
    """The planner of a scan whose loop takes folded arrays."""

    def plan(*args: Any) -> LaunchPlan | None:
        count = leading_operands(args)
        *outs, self = args[:count]
        if not is_small(outs[0], self) or outs[0].dtype != self.dtype:
            return None
        shape = folded_shape(self.sizes, args[count])
        results = [out(i, *shape) for i in range(len(outs))]
        kind = float if self.dtype.kind == "f" else int
        return plan_loop(loop, outs, [self], *results, operand(0, *shape), *map(kind, numbers))

    return plan


@kernel
def multiply_up(out, self, start):
    """Products of folded arrays in the type of `start`, one line after the other."""
    outer, count, inner = self.shape
    for o in range(outer):
        for i in range(inner):
            acc = start
            for j in range(count):
                acc *= self[o, j, i]
                out[o, j, i] = acc


@planned(moving_plans.plan_cumsum)
def cumsum(out: Array, self: Array, dim: int, dtype: Any = None) -> None:
    """Write the sums of what stands up to each place."""
    _scan(out, self, dim, _sum_rows, _sum_columns, 0)


@planned(plan_scan(multiply_up, 1))
def cumprod(out: Array, self: Array, dim: int, dtype: Any = None) -> None:
    """Write the products of what stands up to each place."""
    _scan(out, self, dim, _multiply_rows, _multiply_columns, 1)


def _scan(out: Array, self: Array, dim: int, rows: Any, columns: Any, start: int) -> None:
    if not out.size:
        return
    source = fold(self.astype(out.dtype, copy=False), dim)
    buffer = buffer_of(out)
    target = buffer.reshape(source.shape)
    accumulate = _ACCUMULATE[out.dtype.kind]
    if source.shape[2] == 1:
        shape = source.shape[:2]
        threads.run_rows(rows, (target.reshape(shape), source.reshape(shape)), accumulate(start))
    else:
        carry = np.empty(source.shape[2], accumulate)
        columns(target, source, carry, start)
    settle(out, buffer)


@kernel
def _sum_rows(out, self, start):
    """Four rows at a time: one sum waits for itself, four do not wait for each other."""
    rows, count = self.shape
    whole = rows - rows % 4
    for row in range(0, whole, 4):
        a, b, c, d = start, start, start, start
        for i in range(count):
            a += self[row, i]
            b += self[row + 1, i]
            c += self[row + 2, i]
            d += self[row + 3, i]
            out[row, i] = a
            out[row + 1, i] = b
            out[row + 2, i] = c
            out[row + 3, i] = d
    for row in range(whole, rows):
        acc = start
        for i in range(count):
            acc += self[row, i]
            out[row, i] = acc


@kernel
def _multiply_rows(out, self, start):
    """The same for products."""
    rows, count = self.shape
    whole = rows - rows % 4
    for row in range(0, whole, 4):
        a, b, c, d = start, start, start, start
        for i in range(count):
            a *= self[row, i]
            b *= self[row + 1, i]
            c *= self[row + 2, i]
            d *= self[row + 3, i]
            out[row, i] = a
            out[row + 1, i] = b
            out[row + 2, i] = c
            out[row + 3, i] = d
    for row in range(whole, rows):
        acc = start
        for i in range(count):
            acc *= self[row, i]
            out[row, i] = acc


@kernel
def _sum_columns(out, self, carry, start):
    """`carry` holds a sum for each column: the inner loop vectorises."""
    for o in range(self.shape[0]):
        carry[:] = start
        for j in range(self.shape[1]):
            for i in range(self.shape[2]):
                carry[i] += self[o, j, i]
                out[o, j, i] = carry[i]


@kernel
def _multiply_columns(out, self, carry, start):
    """The same for products."""
    for o in range(self.shape[0]):
        carry[:] = start
        for j in range(self.shape[1]):
            for i in range(self.shape[2]):
                carry[i] *= self[o, j, i]
                out[o, j, i] = carry[i]


@kernel
def _log_sum_exp(out, self):
    """log(e^a + e^b) = max + log1p(e^(min - max)): the exponent is never positive."""
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


@planned(plan_scan(_log_sum_exp))
def logcumsumexp(out: Array, self: Array, dim: int) -> None:
    """Write the logarithm of the sums of exponentials up to each place."""
    if not out.size:
        return
    if out.dtype.kind == "c":
        _log_sum_exp_complex(np.moveaxis(np.atleast_1d(out), dim, 0), self, dim)
        return
    buffer = buffer_of(out)
    threads.run_rows(_log_sum_exp, (buffer.reshape(folded_shape(out.shape, dim)), fold(self, dim)))
    settle(out, buffer)


def _log_sum_exp_complex(out: Array, self: Array, dim: int) -> None:
    """The same step by step along the dim, which is first in `out`; the larger real part leads."""
    steps = np.moveaxis(np.atleast_1d(self), dim, 0)
    out[0] = acc = steps[0]
    with np.errstate(all="ignore"):
        for j in range(1, len(steps)):
            first = acc.real >= steps[j].real
            high, low = np.where(first, acc, steps[j]), np.where(first, steps[j], acc)
            gap = np.where(np.isneginf(low.real), -np.inf, low - high)
            out[j] = acc = high + np.log1p(np.exp(gap))


@kernel
def _max_so_far(values, indices, self):
    """Until a NaN comes any value that is not smaller takes the place; then only NaN does."""
    count = self.shape[1]
    for o in range(self.shape[0]):
        for i in range(self.shape[2]):
            best, place, j = self[o, 0, i], 0, 0
            while j < count:
                value = self[o, j, i]
                if not value < best:
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
def _min_so_far(values, indices, self):
    """The same for the smallest."""
    count = self.shape[1]
    for o in range(self.shape[0]):
        for i in range(self.shape[2]):
            best, place, j = self[o, 0, i], 0, 0
            while j < count:
                value = self[o, j, i]
                if not value > best:
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


@planned(plan_scan(_max_so_far))
def cummax(values: Array, indices: Array, self: Array, dim: int) -> None:
    """Write the greatest value so far and its latest place."""
    _best(values, indices, self, dim, _max_so_far)


@planned(plan_scan(_min_so_far))
def cummin(values: Array, indices: Array, self: Array, dim: int) -> None:
    """Write the smallest value so far and its latest place."""
    _best(values, indices, self, dim, _min_so_far)


def _best(values: Array, indices: Array, self: Array, dim: int, scan: Any) -> None:
    if not values.size:
        return
    folded = fold(self, dim)
    value_buffer, index_buffer = buffer_of(values), buffer_of(indices)
    threads.run_rows(
        scan, (value_buffer.reshape(folded.shape), index_buffer.reshape(folded.shape), folded)
    )
    settle(values, value_buffer)
    settle(indices, index_buffer)
