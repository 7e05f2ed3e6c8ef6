"""softmax, log_softmax and logsumexp: exponentials with the largest element subtracted first.

The rows here are contiguous along the dim; where it is not innermost, those of
`softmax_columns.py` advance together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.common.folded import sizes_around
from torchgen_out._runtime.kernels.common.reduced_dims import fold
from torchgen_out._runtime.kernels.cpu.loop_plans import (
    NOTHING,
    after_cast,
    operand,
    out,
    plan_ranges,
)
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.cpu.softmax.softmax_columns import (
    log_softmax_backward_columns,
    log_softmax_columns,
    logsumexp_columns,
    softmax_backward_columns,
    softmax_columns,
)
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import TypedKernel, typed, typed_sum

Array = Any
WORK = 4
"""How much more an element costs than in element-wise work."""


def plan_softmax(
    loops: tuple[TypedKernel, TypedKernel],
    result: TensorSpec,
    inputs: Sequence[TensorSpec],
    dim: int,
) -> LaunchPlan:
    """The plan of a loop over rows, or over columns where the dim is not innermost."""
    if not result.numel:
        return NOTHING
    outer, n, inner = sizes_around(result.sizes, dim)
    shape = (outer, n) if inner == 1 else (outer, n, inner)
    views = [operand(i, *shape) for i in range(len(inputs))]
    work = WORK * result.numel
    return plan_ranges(loops[inner > 1], outer, work, [result], inputs, out(0, *shape), *views)


def plan_cast(
    loops: tuple[TypedKernel, TypedKernel], result: TensorSpec, self: TensorSpec, dim: int
) -> LaunchPlan:
    """The same of one operand, which is cast to the result's dtype first."""
    plan = plan_softmax(loops, result, [self._replace(dtype=result.dtype)], dim)
    return after_cast(plan, self, result.dtype)


@planned()
def softmax(result: TensorSpec, self: TensorSpec, dim: int, dtype: Any) -> LaunchPlan:
    """Write exp(x - max) / sum of exp(x - max) over `dim`."""
    return plan_cast((softmax_rows, softmax_columns), result, self, dim)


@planned()
def log_softmax(result: TensorSpec, self: TensorSpec, dim: int, dtype: Any) -> LaunchPlan:
    """Write x - max - log(sum of exp(x - max)) over `dim`."""
    return plan_cast((log_softmax_rows, log_softmax_columns), result, self, dim)


@planned()
def softmax_backward_data(
    result: TensorSpec, grad_output: TensorSpec, output: TensorSpec, dim: int, input_dtype: Any
) -> LaunchPlan:
    """Write output * (grad - sum of grad * output over `dim`)."""
    loops = softmax_backward_rows, softmax_backward_columns
    return plan_softmax(loops, result, [grad_output, output], dim)


@planned()
def log_softmax_backward_data(
    result: TensorSpec, grad_output: TensorSpec, output: TensorSpec, dim: int, input_dtype: Any
) -> LaunchPlan:
    """Write grad - exp(output) * sum of grad over `dim`."""
    loops = log_softmax_backward_rows, log_softmax_backward_columns
    return plan_softmax(loops, result, [grad_output, output], dim)


def logsumexp(out: Array, self: Array, dim: Any, keepdim: bool) -> None:
    """Write log(sum of exp(x)) over the dims of `dim`."""
    if self.dtype.kind == "c":
        rows, _ = fold(self, dim, with_columns=False)
        _logsumexp_complex(out.reshape(-1), rows)
        return
    block, plan = fold(self, dim)
    if plan.inner == 1:
        threads.run_rows(logsumexp_rows, (out.reshape(-1), block), work=WORK * plan.count)
    else:
        kernel = logsumexp_columns.of(self.dtype)
        threads.run_ranges(kernel, out.size, WORK * self.size, out.reshape(-1), block)


def _logsumexp_complex(out: Array, rows: Array) -> None:
    with np.errstate(all="ignore"):
        top = rows.real.max(axis=1, initial=-np.inf)
        top[~np.isfinite(top)] = 0
        out[...] = np.log(np.exp(rows - top[:, None]).sum(axis=1)) + top


# Rows. None is taken out of its array: a view counts its references, which costs as much as eight
# elements of a short row.


@typed
def row_max(bits, r, n):
    """The largest of n elements of row r, given as bits; NaN if there is one, -inf of none.

    Floats compare as their bits do, as integers, once those below zero are turned round; integers
    have no NaN, so that the loop vectorises.
    """
    top = turned(T(-np.inf).view(BITS))
    for i in range(n):
        key = turned(bits[r, i])
        top = key if key > top else top
    return BITS(turned(top)).view(T)


@typed
def turned(bits):
    """Bits of a float as an integer of the same order; the same function undoes it."""
    return BITS(bits ^ ((bits >> BITS(SIGN)) & BITS((1 << SIGN) - 1)))


@typed_sum
def softmax_rows(start, stop, out, x):
    """Three passes over a row: the maximum; exponentials and their sum; the scaling."""
    out, x = out[start:stop], x[start:stop]
    n, bits = x.shape[1], x.view(BITS)
    for r in range(x.shape[0]):
        top = row_max(bits, r, n)
        total = T(0)
        for i in range(n):
            value = exp(x[r, i] - top)
            out[r, i] = value
            total += value
        scale = T(1) / total
        for i in range(n):
            out[r, i] *= scale


@typed_sum
def log_softmax_rows(start, stop, out, x):
    """Three passes over a row: the maximum; the sum of exponentials; the differences."""
    out, x = out[start:stop], x[start:stop]
    n, bits = x.shape[1], x.view(BITS)
    for r in range(x.shape[0]):
        top = row_max(bits, r, n)
        total = T(0)
        for i in range(n):
            total += exp(x[r, i] - top)
        logarithm = T(log(total))
        for i in range(n):
            out[r, i] = (x[r, i] - top) - logarithm


@typed_sum
def logsumexp_rows(out, x):
    """As log_softmax; an infinite maximum is not subtracted, for inf - inf is NaN."""
    n, bits = x.shape[1], x.view(BITS)
    for r in range(x.shape[0]):
        top = row_max(bits, r, n)
        if abs(top) == T(np.inf):
            top = T(0)
        total = T(0)
        for i in range(n):
            total += exp(x[r, i] - top)
        out[r] = log(total) + top


@typed_sum
def softmax_backward_rows(start, stop, grad_input, grad, y):
    """y * (grad - dot(grad, y)) row by row."""
    grad_input, grad, y = grad_input[start:stop], grad[start:stop], y[start:stop]
    n = y.shape[1]
    for r in range(y.shape[0]):
        total = T(0)
        for i in range(n):
            total += grad[r, i] * y[r, i]
        for i in range(n):
            grad_input[r, i] = y[r, i] * (grad[r, i] - total)


@typed_sum
def log_softmax_backward_rows(start, stop, grad_input, grad, y):
    """grad - exp(y) * sum(grad) row by row."""
    grad_input, grad, y = grad_input[start:stop], grad[start:stop], y[start:stop]
    n = y.shape[1]
    for r in range(y.shape[0]):
        total = T(0)
        for i in range(n):
            total += grad[r, i]
        for i in range(n):
            grad_input[r, i] = grad[r, i] - exp(y[r, i]) * total
