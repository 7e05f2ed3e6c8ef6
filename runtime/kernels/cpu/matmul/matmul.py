"""Matrix products on the CPU: one BLAS call each, into the given output.

Transposes arrive as strided arrays and reach BLAS as flags. Shapes and dtypes were checked by
`runtime.ops.shapes.matmul`.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu import small
from torchgen_out._runtime.kernels.cpu.loop_plans import operand, out, plan_loop
from torchgen_out._runtime.kernels.cpu.matmul import adding_plans, blas, matrix_plans
from torchgen_out._runtime.kernels.cpu.planned import or_arrays
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed_sum

Array = Any


BLOCK = 1024  # elements of a sum that stays in the element type

quiet = np.errstate(all="ignore")  # inf and NaN are values here, not worth a warning


@typed_sum
def sum_of_products(a, b, out):
    """out[0] = the sum of a * b: blocks in the element type, whose sums are added in float64."""
    total = 0.0
    for start in range(0, a.size, BLOCK):
        x, y = a[start : start + BLOCK], b[start : start + BLOCK]
        part = T(0)
        for i in range(x.size):
            part += x[i] * y[i]
        total += part
    out[0] = total


def plan_product(
    result: TensorSpec,
    self: TensorSpec | None,
    a: TensorSpec,
    b: TensorSpec,
    beta: Any,
    alpha: Any,
    conjugated: bool,
) -> LaunchPlan | None:
    """Plan products; of dense vectors of any length."""
    if self is None and not prod(a.sizes) * prod(b.sizes):
        return LaunchPlan(_write_zeros, None)
    if len(a.sizes) > 1:
        return adding_plans.plan_product(result, self, a, b, beta, alpha)
    if result.dtype.kind in "iu":
        row = a._replace(sizes=(1, *a.sizes), strides=(1, *a.strides))
        return matrix_plans.plan_mv(result, row, b)
    if result.dtype.kind == "c" and a.is_contiguous and b.is_contiguous:
        return _plan_complex(result, a, b, conjugated)
    if not small.are_dense_alike(a.dtype, a, b):
        return None
    if prod(a.sizes) >= LONG:
        return _plan_chunks(a)
    vectors = [operand(i, *each.sizes) for i, each in enumerate((a, b))]
    return plan_loop(sum_of_products, [result], [a, b], *vectors, out(0, 1))


def _write_zeros(out: Array, *_: Any) -> None:
    """A product of nothing."""
    out.fill(0)


def _plan_complex(result: TensorSpec, a: TensorSpec, b: TensorSpec, conjugated: bool) -> LaunchPlan:
    """The product of vectors of complex numbers, whose parts are read as real ones."""
    real = result.dtype.type().real.dtype
    entry = sum_of_complex.entry_point(real, (*[real] * 3, *[int] * 3, bool))
    count = prod(a.sizes)

    def run(out: Array, a: Array, b: Array, a_at: int, b_at: int, _: Any) -> None:
        entry(a.view(real), b.view(real), out.view(real), a_at, b_at, count, conjugated)

    return LaunchPlan(run, None)


@typed_sum
def sum_of_complex(a, b, out, a_at, b_at, count, conjugated):
    """As `sum_of_products`, of complex numbers as pairs of their parts; perhaps of conj(a)."""
    real, imag = 0.0, 0.0
    sign = T(-1) if conjugated else T(1)
    for start in range(0, count, BLOCK):
        stop = min(start + BLOCK, count)
        x, y = a[2 * (a_at + start) : 2 * (a_at + stop)], b[2 * (b_at + start) : 2 * (b_at + stop)]
        rr, ii, ri, ir = T(0), T(0), T(0), T(0)
        for i in range(stop - start):
            k = np.uint64(2 * i)
            c, d, e, f = x[k], x[k + np.uint64(1)], y[k], y[k + np.uint64(1)]
            rr += c * e
            ii += d * f
            ri += c * f
            ir += d * e
        real += rr - sign * ii
        imag += ri + sign * ir
    out[0], out[1] = real, imag


LONG = 128 * BLOCK  # elements from which on threads share a sum
CHUNK = 32 * BLOCK
"""Elements that one thread sums, however many threads there are: so the sum is always the same."""


@typed_sum
def sums_of_chunks(start, stop, a, b, a_at, b_at, count, totals):
    """totals[i] = the sum of a * b over the elements of chunk i, of start to stop."""
    for i in range(start, stop):
        first, last = i * CHUNK, min((i + 1) * CHUNK, count)
        total = 0.0
        for block in range(first, last, BLOCK):
            end = min(block + BLOCK, last)
            x, y = a[a_at + block : a_at + end], b[b_at + block : b_at + end]
            part = T(0)
            for j in range(x.size):
                part += x[j] * y[j]
            total += part
        totals[i] = total


def _plan_chunks(a: TensorSpec) -> LaunchPlan:
    """The product of long vectors, whose chunks are shared by the threads."""
    count = prod(a.sizes)
    kinds = (int, int, a.dtype, a.dtype, int, int, int, np.dtype(np.float64))
    entry, chunks = sums_of_chunks.entry_point(a.dtype, kinds), -(-count // CHUNK)

    def run(out: Array, a: Array, b: Array, a_at: int, b_at: int, count: int) -> None:
        totals = np.empty(chunks)
        threads.run_ranges(entry, chunks, count, a, b, a_at, b_at, count, totals)
        out[0] = sum(totals.tolist())

    return LaunchPlan(run, count)


@or_arrays(plan_product)
def product(
    out: Array, self: Array | None, a: Array, b: Array, beta: Any, alpha: Any, conjugated: bool
) -> None:
    """Write beta * self + alpha * (a @ b): of matrices, a matrix and a vector, or batches.

    Where the result is one matrix, the products of a batch are summed: that sum is the inner dim of
    one product of (n, b * m) and (b * m, p). Of two vectors it is a @ b, or conj(a) @ b.
    """
    if a.ndim == 1:
        _multiply_vectors(out, a, b, conjugated)
        return
    beta, alpha = _start(out, self, beta, alpha)
    if alpha == 0:
        return
    if b.ndim == 1:
        out, b = out.reshape(-1, 1), b.reshape(-1, 1)
    elif b.ndim > out.ndim:
        count, n, m = a.shape
        a, b = a.transpose(1, 0, 2).reshape(n, count * m), b.reshape(count * m, b.shape[2])
    multiply = blas.batched if b.ndim == 3 else blas.product
    multiply(out, a, b, alpha, beta)


def _multiply_vectors(out: Array, a: Array, b: Array, conjugated: bool) -> None:
    if out.dtype.kind == "f":
        sum_of_products(a, b, out.reshape(1))
    else:
        _vdot_by_numpy(out, a if conjugated else a.conj(), b)


@quiet
def _vdot_by_numpy(out: Array, self: Array, other: Array) -> None:
    out[...] = np.vdot(self, other)


def _start(out: Array, self: Array | None, beta: Any, alpha: Any) -> tuple[Any, Any]:
    """Copy what the product is added to; with beta 0 it is not read: it may hold NaN.

    With alpha 0 the factors are not read either, and what is written here is the result.
    Integers are scaled by integers, as in PyTorch.
    """
    if out.dtype.kind in "iu":
        beta, alpha = int(beta), int(alpha)
    if beta != 0:
        out[...] = self
    if alpha == 0:
        out[...] = out * out.dtype.type(beta) if beta != 0 else 0
    return beta, alpha


@or_arrays(adding_plans.plan_addr)
@quiet
def addr(out: Array, self: Array, vec1: Array, vec2: Array, beta: Any, alpha: Any) -> None:
    """Write beta * self + alpha * outer(vec1, vec2)."""
    np.multiply(vec1[:, None], vec2, out=out)
    if out.dtype == np.bool_:
        if not alpha:
            out[...] = False
        if beta:
            np.logical_or(out, self, out=out)
        return
    if alpha != 1:
        np.multiply(out, out.dtype.type(alpha), out=out)
    if beta != 0:
        np.add(out, self if beta == 1 else self * out.dtype.type(beta), out=out)


@or_arrays(matrix_plans.plan_linear)
def linear(out: Array, input: Array, weight: Array, bias: Array | None) -> None:
    """Write input @ weight.T + bias, all rows of input in one product."""
    if weight.ndim == 1:
        rows = input.reshape(prod(input.shape[:-1]), input.shape[-1])
        blas.product(out.reshape(-1, 1), rows, weight.reshape(-1, 1))
        return
    if input.ndim == 2:
        rows, rows_out = input, out
    else:
        count = prod(input.shape[:-1])
        rows, rows_out = input.reshape(count, input.shape[-1]), out.reshape(count, out.shape[-1])
    if bias is None:
        blas.product(rows_out, rows, weight.T)
    elif bias.ndim == 1 and bias.size == weight.shape[0]:
        blas.affine(rows_out, rows, weight.T, bias)
    else:
        rows_out[...] = bias if bias.ndim < 3 else bias.reshape(rows_out.shape)
        blas.product(rows_out, rows, weight.T, 1, 1)
