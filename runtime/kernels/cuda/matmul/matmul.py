"""Matrix products on CUDA: one call of cuBLASLt each, into the given output; of integers by ours.

Transposes arrive as strides and reach the library as flags. Shapes and dtypes were checked by
`runtime.ops.shapes.matmul`.
"""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime.kernels.cuda.direct import LibraryQueue as Queue
from torchgen_out._runtime.kernels.cuda.direct import adding, batched, direct, turned
from torchgen_out._runtime.kernels.cuda.matmul import integers
from torchgen_out._runtime.kernels.cuda.matmul.matrix_plans import multiply
from torchgen_out._runtime.kernels.cuda.queue import Array, contiguous


@adding
def product(
    queue: Queue,
    out: Array,
    self: Array | None,
    a: Array,
    b: Array,
    beta: Any,
    alpha: Any,
    conjugated: bool,
) -> None:
    """Write beta * self + alpha * (a @ b): of matrices, a matrix and a vector, or batches.

    Where the result is one matrix, the products of a batch are summed: that sum is the inner dim of
    one product of (n, b * m) and (b * m, p). Of two vectors it is a @ b, or conj(a) @ b.
    """
    if a.ndim == 1:
        _multiply_vectors(queue, out, a, b, conjugated)
        return
    if b.ndim == 1:
        self = None if self is None else _column(self.expanded(out.sizes))
        out, b = _column(out), _column(b)
    elif b.ndim > out.ndim:
        count, n, m = a.sizes
        wide = queue.empty((n, count, m), a.dtype)
        queue.copy(wide, a.at(0, (n, count, m), [a.strides[d] for d in (1, 0, 2)]))
        b = contiguous(queue, b).reshaped(count * m, b.sizes[2])
        a = wide.reshaped(n, count * m)
    if b.ndim == 2:
        out, a, b = batched(out), batched(a), batched(b)
    _add_product(queue, out, self, a, b, beta, alpha)


def _multiply_vectors(queue: Queue, out: Array, a: Array, b: Array, conjugated: bool) -> None:
    if not a.numel:
        queue.fill(out, 0)
    elif out.dtype.kind == "i":
        integers.dot(queue, out, a, b)
    else:
        vectors = [_stepped(queue, each) for each in (a, b)]
        queue.blas.dot(out, *vectors, conjugated and a.dtype.is_complex)


@adding
def addr(
    queue: Queue, out: Array, self: Array, vec1: Array, vec2: Array, beta: Any, alpha: Any
) -> None:
    """Write beta * self + alpha * outer(vec1, vec2)."""
    vectors = [_column(vec1), vec2]
    if beta == 0:
        queue.apply(scaled_product, out, vectors, [alpha])
    else:
        queue.apply(add_scaled_product, out, [self, *vectors], [beta, alpha])


def scaled_product(a, b, alpha):
    """An element of an outer product, scaled."""
    return alpha * (a * b)


def add_scaled_product(x, a, b, beta, alpha):
    """The same added to what is there, scaled."""
    return beta * x + alpha * (a * b)


@direct
def linear(queue: Queue, out: Array, input: Array, weight: Array, bias: Array | None) -> None:
    """Write input @ weight.T + bias, all rows of input in one product."""
    m = input.sizes[-1]
    rows = input
    if input.ndim != 2:
        rows = contiguous(queue, input).reshaped(prod(input.sizes[:-1]), m)
    weights = _column(weight) if weight.ndim == 1 else turned(weight)
    result = out.reshaped(rows.sizes[0], weights.sizes[1])
    if bias is None:
        multiply(queue, batched(result), batched(rows), batched(weights))
    else:
        bias = bias if bias.ndim < 2 else bias.expanded(out.sizes)
        if bias.ndim > 2:
            bias = contiguous(queue, bias).reshaped(*result.sizes)
        _add_product(queue, batched(result), bias, batched(rows), batched(weights), 1, 1)


def _add_product(
    queue: Queue, out: Array, self: Array | None, a: Array, b: Array, beta: Any, alpha: Any
) -> None:
    """out = beta * self + alpha * a @ b. A dense row is the library's bias; 0 * self is unread."""
    if self is None or beta == 0:
        multiply(queue, out, a, b, alpha)
    elif beta == 1 and _is_bias(self, out):
        multiply(queue, out, a, b, alpha, bias=self.at(0, (self.sizes[-1],), (1,)))
    else:
        multiply(queue, out, a, b, alpha, beta, self.expanded(out.sizes))


def _is_bias(self: Array, out: Array) -> bool:
    """Whether a dense row of real numbers, which is not `out`, is to be added to every row of one
    matrix."""
    n = out.sizes[-1]
    return (
        self.numel == n
        and self.address != out.address
        and self.ndim > 0
        and self.sizes[-1] == n
        and (self.strides[-1] == 1 or n == 1)
        and out.sizes[0] == 1
        and not out.dtype.is_complex
    )


def _column(x: Array) -> Array:
    """A vector as a matrix of one column."""
    return x.at(0, (*x.sizes, 1), (*x.strides, 1))


def _stepped(queue: Queue, x: Array) -> Array:
    """A vector whose elements lie apart: of one that is repeated, a copy."""
    return x if x.strides[0] else contiguous(queue, x)
