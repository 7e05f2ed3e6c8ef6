"""softmax, log_softmax and logsumexp: exponentials with the largest element subtracted first.

Rows are contiguous along the dim; where the dim is not innermost, `inner` neighbouring columns of
an (outer, n, inner) array advance together, so that both forms vectorise.
"""

# ruff: noqa: F821 - T and the primitives are names of the compiled text.

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from runtime.kernels import threads
from runtime.kernels.cpu.planned import Operand, Plan, Planner, planned
from runtime.kernels.cpu.reduced_dims import fold
from runtime.kernels.typed import TypedKernel, typed, typed_sum

Array = Any
WORK = 4
"""How much more an element costs than in element-wise work."""


def plan_small(
    rows: Callable[[], TypedKernel], columns: Callable[[], TypedKernel], operands: int
) -> Planner:
    """The planner of small softmaxes.

    rows: what gives the loop for the last dim, kernel(out, *arrays, *offsets, n); columns: that
    for another, kernel(out, *arrays, *offsets, n, inner).
    """

    def plan(out: Operand, *args: Any) -> Plan | None:
        inputs, dim = args[:operands], args[operands]
        if not out.sizes or out.dtype.kind != "f":
            return None
        if not 0 < prod(out.sizes) * WORK < threads.GRAIN:
            return None
        if any(each.dtype != out.dtype or not each.is_contiguous for each in inputs):
            return None
        arguments = (*[out.dtype] * (1 + operands), *[int] * (1 + operands))
        dim %= len(out.sizes)
        if dim == len(out.sizes) - 1:
            return Plan(rows().entry_point(out.dtype, arguments), out.sizes[-1])
        entry = columns().entry_point(out.dtype, (*arguments, int))

        def run(*args: Any) -> None:
            entry(*args[:-1], *args[-1])

        return Plan(run, (out.sizes[dim], prod(out.sizes[dim + 1 :])))

    return plan


@planned(plan_small(lambda: softmax_flat, lambda: softmax_columns_flat, 1))
def softmax(out: Array, self: Array, dim: int, dtype: Any) -> None:
    """Write exp(x - max) / sum of exp(x - max) over `dim`."""
    _run(softmax_rows, softmax_columns, dim, out, self.astype(out.dtype, copy=False))


@planned(plan_small(lambda: log_softmax_flat, lambda: log_softmax_columns_flat, 1))
def log_softmax(out: Array, self: Array, dim: int, dtype: Any) -> None:
    """Write x - max - log(sum of exp(x - max)) over `dim`."""
    _run(log_softmax_rows, log_softmax_columns, dim, out, self.astype(out.dtype, copy=False))


@planned(plan_small(lambda: softmax_backward_flat, lambda: softmax_backward_columns_flat, 2))
def softmax_backward_data(
    out: Array, grad_output: Array, output: Array, dim: int, input_dtype: Any
) -> None:
    """Write output * (grad - sum of grad * output over `dim`)."""
    _run(softmax_backward_rows, softmax_backward_columns, dim, out, grad_output, output)


@planned(
    plan_small(lambda: log_softmax_backward_flat, lambda: log_softmax_backward_columns_flat, 2)
)
def log_softmax_backward_data(
    out: Array, grad_output: Array, output: Array, dim: int, input_dtype: Any
) -> None:
    """Write grad - exp(output) * sum of grad over `dim`."""
    _run(log_softmax_backward_rows, log_softmax_backward_columns, dim, out, grad_output, output)


def logsumexp(out: Array, self: Array, dim: Any, keepdim: bool) -> None:
    """Write log(sum of exp(x)) over the dims of `dim`."""
    rows, _ = fold(self, dim, with_columns=False)
    if self.dtype.kind == "c":
        _logsumexp_complex(out.reshape(-1), rows)
    else:
        logsumexp_rows(out.reshape(-1), rows)


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


# Rows.


@typed
def row_max(row):
    """The largest element, NaN if there is one; -inf of no elements.

    Floats compare as their bits do, as integers, once those below zero are turned round; integers
    have no NaN, so that the loop vectorises.
    """
    bits = row.view(BITS)
    top = turned(T(-np.inf).view(BITS))
    for i in range(bits.size):
        key = turned(bits[i])
        top = key if key > top else top
    return BITS(turned(top)).view(T)


@typed
def turned(bits):
    """Bits of a float as an integer of the same order; the same function undoes it."""
    return BITS(bits ^ ((bits >> BITS(SIGN)) & BITS((1 << SIGN) - 1)))


@typed_sum
def softmax_rows(out, x):
    """Three passes over a row: the maximum; exponentials and their sum; the scaling."""
    n = x.shape[1]
    for r in range(x.shape[0]):
        row, result = x[r], out[r]
        top = row_max(row)
        total = T(0)
        for i in range(n):
            value = exp(row[i] - top)
            result[i] = value
            total += value
        scale = T(1) / total
        for i in range(n):
            result[i] *= scale


@typed_sum
def log_softmax_rows(out, x):
    """Three passes over a row: the maximum; the sum of exponentials; the differences."""
    n = x.shape[1]
    for r in range(x.shape[0]):
        row, result = x[r], out[r]
        top = row_max(row)
        total = T(0)
        for i in range(n):
            total += exp(row[i] - top)
        logarithm = T(log(total))
        for i in range(n):
            result[i] = (row[i] - top) - logarithm


@typed_sum
def logsumexp_rows(out, x):
    """As log_softmax; an infinite maximum is not subtracted, for inf - inf is NaN."""
    n = x.shape[1]
    for r in range(x.shape[0]):
        row = x[r]
        top = row_max(row)
        if abs(top) == T(np.inf):
            top = T(0)
        total = T(0)
        for i in range(n):
            total += exp(row[i] - top)
        out[r] = log(total) + top


@typed_sum
def softmax_backward_rows(grad_input, grad, y):
    """y * (grad - dot(grad, y)) row by row."""
    n = y.shape[1]
    for r in range(y.shape[0]):
        g, p, result = grad[r], y[r], grad_input[r]
        total = T(0)
        for i in range(n):
            total += g[i] * p[i]
        for i in range(n):
            result[i] = p[i] * (g[i] - total)


@typed_sum
def log_softmax_backward_rows(grad_input, grad, y):
    """grad - exp(y) * sum(grad) row by row."""
    n = y.shape[1]
    for r in range(y.shape[0]):
        g, p, result = grad[r], y[r], grad_input[r]
        total = T(0)
        for i in range(n):
            total += g[i]
        for i in range(n):
            result[i] = g[i] - exp(p[i]) * total


# Rows of flat arrays, for the plans.


@typed_sum
def softmax_flat(out, x, at, n):
    """softmax_rows over rows of n elements, the first of which is x[at]."""
    rows = out.size // n
    softmax_rows(out.reshape(rows, n), x[at : at + out.size].reshape(rows, n))


@typed_sum
def log_softmax_flat(out, x, at, n):
    """As softmax_flat."""
    rows = out.size // n
    log_softmax_rows(out.reshape(rows, n), x[at : at + out.size].reshape(rows, n))


@typed_sum
def softmax_backward_flat(out, grad, y, at_grad, at_y, n):
    """As softmax_flat."""
    rows, size = out.size // n, out.size
    g, p = grad[at_grad : at_grad + size], y[at_y : at_y + size]
    softmax_backward_rows(out.reshape(rows, n), g.reshape(rows, n), p.reshape(rows, n))


@typed_sum
def log_softmax_backward_flat(out, grad, y, at_grad, at_y, n):
    """As softmax_flat."""
    rows, size = out.size // n, out.size
    g, p = grad[at_grad : at_grad + size], y[at_y : at_y + size]
    log_softmax_backward_rows(out.reshape(rows, n), g.reshape(rows, n), p.reshape(rows, n))


# Columns.


@typed
def column_max(top, block):
    """top[j] = the largest of block[:, j]."""
    for j in range(top.size):
        top[j] = T(-np.inf)
    for i in range(block.shape[0]):
        row = block[i]
        for j in range(top.size):
            top[j] = row[j] if row[j] > top[j] else top[j]


@typed
def softmax_columns(out, x):
    """As softmax_rows, on `inner` columns at a time."""
    n, inner = x.shape[1], x.shape[2]
    top, total = np.empty(inner, x.dtype), np.empty(inner, x.dtype)
    for o in range(x.shape[0]):
        column_max(top, x[o])
        total[:] = T(0)
        for i in range(n):
            row, result = x[o, i], out[o, i]
            for j in range(inner):
                value = exp(row[j] - top[j])
                result[j] = value
                total[j] += value
        for j in range(inner):
            total[j] = T(1) / total[j]
        for i in range(n):
            result = out[o, i]
            for j in range(inner):
                result[j] *= total[j]


@typed
def log_softmax_columns(out, x):
    """As log_softmax_rows, on `inner` columns at a time."""
    n, inner = x.shape[1], x.shape[2]
    top, total = np.empty(inner, x.dtype), np.empty(inner, x.dtype)
    for o in range(x.shape[0]):
        column_max(top, x[o])
        total[:] = T(0)
        for i in range(n):
            row = x[o, i]
            for j in range(inner):
                total[j] += exp(row[j] - top[j])
        for j in range(inner):
            total[j] = log(total[j])
        for i in range(n):
            row, result = x[o, i], out[o, i]
            for j in range(inner):
                result[j] = (row[j] - top[j]) - total[j]


@typed
def softmax_backward_columns(grad_input, grad, y):
    """As softmax_backward_rows, on `inner` columns at a time."""
    n, inner = y.shape[1], y.shape[2]
    total = np.empty(inner, y.dtype)
    for o in range(y.shape[0]):
        total[:] = T(0)
        for i in range(n):
            g, p = grad[o, i], y[o, i]
            for j in range(inner):
                total[j] += g[j] * p[j]
        for i in range(n):
            g, p, result = grad[o, i], y[o, i], grad_input[o, i]
            for j in range(inner):
                result[j] = p[j] * (g[j] - total[j])


@typed
def log_softmax_backward_columns(grad_input, grad, y):
    """As log_softmax_backward_rows, on `inner` columns at a time."""
    n, inner = y.shape[1], y.shape[2]
    total = np.empty(inner, y.dtype)
    for o in range(y.shape[0]):
        total[:] = T(0)
        for i in range(n):
            g = grad[o, i]
            for j in range(inner):
                total[j] += g[j]
        for i in range(n):
            g, p, result = grad[o, i], y[o, i], grad_input[o, i]
            for j in range(inner):
                result[j] = g[j] - exp(p[j]) * total[j]


# Columns of flat arrays, for the plans.


@typed
def softmax_columns_flat(out, x, at, n, inner):
    """softmax_columns over the middle dim of (outer, n, inner), the first element being x[at]."""
    shape = (out.size // (n * inner), n, inner)
    softmax_columns(out.reshape(shape), x[at : at + out.size].reshape(shape))


@typed
def log_softmax_columns_flat(out, x, at, n, inner):
    """As softmax_columns_flat."""
    shape = (out.size // (n * inner), n, inner)
    log_softmax_columns(out.reshape(shape), x[at : at + out.size].reshape(shape))


@typed
def softmax_backward_columns_flat(out, grad, y, at_grad, at_y, n, inner):
    """As softmax_columns_flat."""
    shape, size = (out.size // (n * inner), n, inner), out.size
    g, p = grad[at_grad : at_grad + size], y[at_y : at_y + size]
    softmax_backward_columns(out.reshape(shape), g.reshape(shape), p.reshape(shape))


@typed
def log_softmax_backward_columns_flat(out, grad, y, at_grad, at_y, n, inner):
    """As softmax_columns_flat."""
    shape, size = (out.size // (n * inner), n, inner), out.size
    g, p = grad[at_grad : at_grad + size], y[at_y : at_y + size]
    log_softmax_backward_columns(out.reshape(shape), g.reshape(shape), p.reshape(shape))
