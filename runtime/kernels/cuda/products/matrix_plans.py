"""Products as BLAS takes them: column-major matrices, with leading dimensions and transpositions.

A row-major matrix is the transpose of a column-major one over the same memory, so a row-major
result is computed as out.T = b.T @ a.T, and no operand with a dense dim is copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from runtime import errors
from runtime.core import dtype as dtypes
from runtime.kernels.cuda.direct import LibraryQueue as Queue
from runtime.kernels.cuda.direct import turned
from runtime.kernels.cuda.products import integers
from runtime.kernels.cuda.queue import Array

MOST_TOGETHER = 65535
"""Matrices of a batch in one call: some of the library's kernels have a block for each in a dim of
the grid that is no larger."""
BIAS_ALIGNMENT = 16
"""Bytes. How a bias lies is no preference that the library's heuristics could be told, and kernels
that they choose read so many at once."""


class Matrix(NamedTuple):
    """Column-major matrices in memory. step: elements from one of a batch to the next."""

    rows: int
    cols: int
    leading: int
    step: int


class Product(NamedTuple):
    """d = alpha * op(a) @ op(b) + beta * c, for a batch: all that is to be known but where.

    dtype: of a and b. result: of c and d, the type in which 16-bit products are added up if not the
    same. transpose_a, transpose_b: whether op transposes. has_bias: whether a vector is added to
    every column. alignments: the powers of two up to 256 by which the addresses of a, b, c and d
    can be divided.
    """

    dtype: dtypes.dtype
    result: dtypes.dtype
    a: Matrix
    transpose_a: bool
    b: Matrix
    transpose_b: bool
    c: Matrix
    d: Matrix
    batch: int
    has_bias: bool
    alignments: tuple[int, int, int, int]

    @property
    def inner(self) -> int:
        """The size over which is summed."""
        return self.a.rows if self.transpose_a else self.a.cols


class Places(NamedTuple):
    """The addresses of a product's operands; bias is 0 if there is none."""

    a: int
    b: int
    c: int
    d: int
    bias: int


def column_major(x: Array) -> Matrix | None:
    """How a batch of matrices (batch, rows, cols) lies, if the columns are dense."""
    _, rows, cols = x.sizes
    step, row_step, col_step = x.strides
    if rows != 1 and row_step != 1:
        return None
    if cols == 1:
        return Matrix(rows, cols, rows, step)
    return Matrix(rows, cols, col_step, step) if col_step >= rows else None


def operand(queue: Queue, x: Array) -> tuple[Array, Matrix, bool]:
    """(the array, copied if neither rows nor columns are dense; its memory; is it transposed)."""
    for seen, transposed in ((column_major(x), False), (column_major(turned(x)), True)):
        if seen is not None:
            return x, seen, transposed
    made = queue.empty(x.sizes, x.dtype)
    queue.copy(made, x)
    seen = column_major(turned(made))
    assert seen is not None
    return made, seen, True


def multiply(
    queue: Queue,
    out: Array,
    a: Array,
    b: Array,
    alpha: Any = 1,
    beta: Any = 0,
    addend: Array | None = None,
    bias: Array | None = None,
) -> None:
    """out = alpha * a @ b + beta * addend, and the dense vector `bias` added to each row.

    Shape: (B, m, k), (B, k, n) -> (B, m, n), as the addend; bias (n).
    dtype: one of all; or that of 16-bit operands, and float32.
    """
    if not out.numel:
        return
    if not a.sizes[2]:
        _without_product(queue, out, beta, addend, bias)
    elif out.dtype.kind == "i":
        _multiply_integers(queue, out, a, b, alpha, beta, addend, bias)
    elif column_major(turned(out)) is not None:
        last = None if addend is None else turned(addend)
        _column_major(queue, turned(out), turned(b), turned(a), alpha, beta, last, bias)
    elif column_major(out) is not None and bias is None:
        _column_major(queue, out, a, b, alpha, beta, addend, None)
    else:
        made = queue.empty(out.sizes, out.dtype)
        multiply(queue, made, a, b, alpha, beta, addend, bias)
        queue.copy(out, made)


def _without_product(
    queue: Queue, out: Array, beta: Any, addend: Array | None, bias: Array | None
) -> None:
    """Sums of no products are 0."""
    if bias is not None:
        queue.copy(out, bias.expanded(out.sizes))
    elif addend is None:
        queue.fill(out, 0)
    else:
        queue.apply(scaled, out, [addend], [beta])


def scaled(x, factor):
    """An element times a number."""
    return x * factor


def _multiply_integers(
    queue: Queue,
    out: Array,
    a: Array,
    b: Array,
    alpha: Any,
    beta: Any,
    addend: Array | None,
    bias: Array | None,
) -> None:
    """By a kernel of our own; what is to be added is, in a second step."""
    if bias is not None:
        beta, addend = 1, bias.expanded(out.sizes)
    if addend is None and alpha == 1:
        integers.multiply(queue, out, a, b)
        return
    made = queue.empty(out.sizes, out.dtype)
    integers.multiply(queue, made, a, b)
    if addend is None:
        queue.apply(scaled, out, [made], [alpha])
    else:
        queue.apply(weighted, out, [made, addend], [alpha, beta])


def weighted(x, y, factor_x, factor_y):
    """The sum of two elements, each times a number."""
    return x * factor_x + y * factor_y


def _column_major(
    queue: Queue,
    out: Array,
    a: Array,
    b: Array,
    alpha: Any,
    beta: Any,
    addend: Array | None,
    bias: Array | None,
) -> None:
    """The product into an array with dense columns. What is added lies likewise, or in `out`."""
    if out.sizes[0] > MOST_TOGETHER:
        for part in _parts(out, a, b, addend):
            _column_major(queue, *part[:3], alpha, beta, part[3], bias)
        return
    d = column_major(out)
    c = None if addend is None else column_major(addend)
    if addend is not None and c is None:
        queue.copy(out, addend)
    where = out if addend is None or c is None else addend
    assert d is not None
    a, in_a, transpose_a = operand(queue, a)
    b, in_b, transpose_b = operand(queue, b)
    row = None if bias is None else _aligned(queue, bias)
    places = Places(a.address, b.address, where.address, out.address, row.address if row else 0)
    alignments = (_alignment(a), _alignment(b), _alignment(where), _alignment(out))
    product = Product(
        a.dtype, out.dtype, in_a, transpose_a, in_b, transpose_b, c or d, d, out.sizes[0],
        row is not None, alignments,
    )  # fmt: skip
    if queue.products.run(product, places, alpha, beta):
        return
    if row is None:
        raise errors.no_product_algorithm(out.dtype)
    queue.copy(out, row.at(0, out.sizes, (0, 1, 0)))  # what is added, not as an epilogue
    _column_major(queue, out, a, b, alpha, 1, out, None)


def _parts(*arrays: Array | None) -> Iterator[list[Any]]:
    """Batches cut into such as the library takes."""
    count = next(each.sizes[0] for each in arrays if each is not None)
    for start in range(0, count, MOST_TOGETHER):
        size = min(MOST_TOGETHER, count - start)
        yield [None if each is None else each.narrowed(0, start, size) for each in arrays]


def _aligned(queue: Queue, bias: Array) -> Array:
    """A vector where the library's epilogues can read it."""
    if not bias.address % BIAS_ALIGNMENT:
        return bias
    made = queue.empty(bias.sizes, bias.dtype)
    queue.copy(made, bias)
    return made


def _alignment(x: Array) -> int:
    return min(x.address & -x.address, 256)
