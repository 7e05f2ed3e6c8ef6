"""softmax, log_softmax and logsumexp: exponentials with the largest element subtracted first.

The rows here are contiguous along the dim; where it is not innermost, those of
`softmax_columns.py` advance together.
"""

# ruff: noqa: F821 - T and the primitives are names of the compiled text.

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from runtime.kernels import threads
from runtime.kernels.cpu.folding import folded_shape
from runtime.kernels.cpu.normalization.softmax_columns import (
    log_softmax_backward_columns,
    log_softmax_backward_columns_flat,
    log_softmax_columns,
    log_softmax_columns_flat,
    logsumexp_columns,
    softmax_backward_columns,
    softmax_backward_columns_flat,
    softmax_columns,
    softmax_columns_flat,
)
from runtime.kernels.cpu.planned import Operand, Plan, Planner, planned
from runtime.kernels.cpu.reduced_dims import fold
from runtime.kernels.cpu.small import are_dense_alike
from runtime.kernels.typed import TypedKernel, typed, typed_sum

Array = Any
WORK = 4
"""How much more an element costs than in element-wise work."""


def plan_parts(
    rows: Callable[[], TypedKernel], columns: Callable[[], TypedKernel], operands: int
) -> Planner:
    """The planner of softmaxes of dense arrays, parts of them on several threads.

    rows: what gives the loop for the last dim, kernel(start, stop, out, *arrays, *offsets, n);
    columns: that for another, kernel(start, stop, out, *arrays, *offsets, n, inner).
    """

    def plan(out: Operand, *args: Any) -> Plan | None:
        inputs, dim = args[:operands], args[operands]
        if not out.sizes or not are_dense_alike(out.dtype, out, *inputs):
            return None
        arguments = (int, int, *[out.dtype] * (1 + operands), *[int] * (1 + operands))
        outer, size, inner = folded_shape(out.sizes, dim)
        is_last = dim % len(out.sizes) == len(out.sizes) - 1
        if is_last:
            entry = rows().entry_point(out.dtype, arguments)
        else:
            entry = columns().entry_point(out.dtype, (*arguments, int))
        work, numbers = prod(out.sizes) * WORK, (size,) if is_last else (size, inner)

        def run(*args: Any) -> None:
            entry(0, outer, *args[:-1], *numbers)

        def run_parts(*args: Any) -> None:
            threads.run_ranges(entry, outer, work, *args[:-1], *numbers)

        return Plan(run if work < 2 * threads.GRAIN else run_parts, 0)

    return plan


@planned(plan_parts(lambda: softmax_flat, lambda: softmax_columns_flat, 1))
def softmax(out: Array, self: Array, dim: int, dtype: Any) -> None:
    """Write exp(x - max) / sum of exp(x - max) over `dim`."""
    _run(softmax_rows, softmax_columns, dim, out, self.astype(out.dtype, copy=False))


@planned(plan_parts(lambda: log_softmax_flat, lambda: log_softmax_columns_flat, 1))
def log_softmax(out: Array, self: Array, dim: int, dtype: Any) -> None:
    """Write x - max - log(sum of exp(x - max)) over `dim`."""
    _run(log_softmax_rows, log_softmax_columns, dim, out, self.astype(out.dtype, copy=False))


@planned(plan_parts(lambda: softmax_backward_flat, lambda: softmax_backward_columns_flat, 2))
def softmax_backward_data(
    out: Array, grad_output: Array, output: Array, dim: int, input_dtype: Any
) -> None:
    """Write output * (grad - sum of grad * output over `dim`)."""
    _run(softmax_backward_rows, softmax_backward_columns, dim, out, grad_output, output)


@planned(
    plan_parts(lambda: log_softmax_backward_flat, lambda: log_softmax_backward_columns_flat, 2)
)
def log_softmax_backward_data(
    out: Array, grad_output: Array, output: Array, dim: int, input_dtype: Any
) -> None:
    """Write grad - exp(output) * sum of grad over `dim`."""
    _run(log_softmax_backward_rows, log_softmax_backward_columns, dim, out, grad_output, output)


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


def _run(rows_kernel: Any, columns_kernel: Any, dim: int, out: Array, *inputs: Array) -> None:
    """Call the kernel of the layout, on contiguous arrays folded around `dim`."""
    sizes = out.shape
    if not out.size:
        return
    if not sizes or dim == -1 or dim == len(sizes) - 1:
        shape = (-1, sizes[-1]) if sizes else (1, 1)
        arrays = [np.ascontiguousarray(a).reshape(shape) for a in (out, *inputs)]
        threads.run_rows(rows_kernel, tuple(arrays), work=WORK)
        return
    dim %= len(sizes)
    shape = (-1, sizes[dim], prod(sizes[dim + 1 :]))
    arrays = [np.ascontiguousarray(a).reshape(shape) for a in (out, *inputs)]
    threads.run_rows(columns_kernel, tuple(arrays), work=WORK)


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
def softmax_rows(out, x):
    """Three passes over a row: the maximum; exponentials and their sum; the scaling."""
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
def log_softmax_rows(out, x):
    """Three passes over a row: the maximum; the sum of exponentials; the differences."""
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
def softmax_backward_rows(grad_input, grad, y):
    """y * (grad - dot(grad, y)) row by row."""
    n = y.shape[1]
    for r in range(y.shape[0]):
        total = T(0)
        for i in range(n):
            total += grad[r, i] * y[r, i]
        for i in range(n):
            grad_input[r, i] = y[r, i] * (grad[r, i] - total)


@typed_sum
def log_softmax_backward_rows(grad_input, grad, y):
    """grad - exp(y) * sum(grad) row by row."""
    n = y.shape[1]
    for r in range(y.shape[0]):
        total = T(0)
        for i in range(n):
            total += grad[r, i]
        for i in range(n):
            grad_input[r, i] = grad[r, i] - exp(y[r, i]) * total


# Rows of flat arrays, for the plans.


@typed
def lines_of(flat, at, start, stop, n):
    """Rows start to stop of n elements, the first of which is flat[at]."""
    return flat[at + start * n : at + stop * n].reshape(stop - start, n)


@typed_sum
def softmax_flat(start, stop, out, x, at, n):
    """softmax_rows over rows start to stop."""
    softmax_rows(lines_of(out, 0, start, stop, n), lines_of(x, at, start, stop, n))


@typed_sum
def log_softmax_flat(start, stop, out, x, at, n):
    """As softmax_flat."""
    log_softmax_rows(lines_of(out, 0, start, stop, n), lines_of(x, at, start, stop, n))


@typed_sum
def softmax_backward_flat(start, stop, out, grad, y, at_grad, at_y, n):
    """As softmax_flat."""
    g, p = lines_of(grad, at_grad, start, stop, n), lines_of(y, at_y, start, stop, n)
    softmax_backward_rows(lines_of(out, 0, start, stop, n), g, p)


@typed_sum
def log_softmax_backward_flat(start, stop, out, grad, y, at_grad, at_y, n):
    """As softmax_flat."""
    g, p = lines_of(grad, at_grad, start, stop, n), lines_of(y, at_y, start, stop, n)
    log_softmax_backward_rows(lines_of(out, 0, start, stop, n), g, p)
