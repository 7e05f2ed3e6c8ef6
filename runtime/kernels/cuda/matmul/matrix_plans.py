"""Products as BLAS takes them: column-major matrices, with leading dimensions and transpositions.

A row-major matrix is the transpose of a column-major one over the same memory, so a row-major
result is computed as out.T = b.T @ a.T, and no operand with a dense dim is copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.direct import ProductQueue as Queue
from torchgen_out._runtime.kernels.cuda.direct import turned
from torchgen_out._runtime.kernels.cuda.matmul import integers
from torchgen_out._runtime.kernels.cuda.queue import Array

MOST_TOGETHER = 65535
"""Matrices of a batch in one call: some of the library's kernels have a block for each in a dim of
the grid that is no larger."""
BIAS_ALIGNMENT = 16
"""Bytes. How a bias lies is no preference that the library's heuristics could be told, and kernels
that they choose read so many at once."""


def are_multiplied(dtype: dtypes.dtype) -> bool:
    """Whether the library knows products of such elements."""
    halves = dtypes.float16, dtypes.bfloat16
    return dtype.kind in "fc" and (dtype.opmath is dtype or dtype in halves)


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


def lies_well(x: Array) -> bool:
    """Whether rows or columns are dense."""
    return column_major(x) is not None or column_major(turned(x)) is not None


Geometry = tuple[dtypes.dtype, tuple[int, ...], tuple[int, ...]]
"""Dtype, sizes and strides: an array without its address."""


class Plan(NamedTuple):
    """A product of arrays where they lie. is_turned: whether out.T = b.T @ a.T is computed."""

    product: Product
    is_turned: bool


@lru_cache(maxsize=1024)
def planned(
    out: Geometry,
    a: Geometry,
    b: Geometry,
    addend: Geometry | None,
    has_bias: bool,
    alignments: tuple[int, ...],
) -> Plan | None:
    """How out = a @ b + addend is computed; None unless one call does, and nothing is copied.

    alignments: of out, a, b and the addend.
    """
    arrays = [
        Array(alignment, *each)  # as good as the address
        for each, alignment in zip((out, a, b, addend or out), alignments, strict=True)
    ]
    result, left, right, last = arrays
    if not (result.numel and left.sizes[2]) or result.dtype.kind == "i":
        return None
    if result.sizes[0] > MOST_TOGETHER or not (lies_well(left) and lies_well(right)):
        return None
    is_turned = column_major(turned(result)) is not None
    if is_turned:
        result, left, right, last = (turned(each) for each in (result, right, left, last))
    d, c = column_major(result), column_major(last)
    if d is None or c is None or (has_bias and not is_turned):
        return None
    (in_a, transpose_a), (in_b, transpose_b) = (_operand(each) for each in (left, right))
    places = tuple([each.address for each in (left, right, last, result)])
    product = Product(
        left.dtype, result.dtype, in_a, transpose_a, in_b, transpose_b, c, d, result.sizes[0],
        has_bias, places,
    )  # fmt: skip
    return Plan(product, is_turned)


def _operand(x: Array) -> tuple[Matrix, bool]:
    """(memory that lies well, whether it is the transpose)."""
    seen = column_major(x)
    if seen is not None:
        return seen, False
    seen = column_major(turned(x))
    assert seen is not None
    return seen, True


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
    where = out if addend is None else addend
    alignments = _alignment(out), _alignment(a), _alignment(b), _alignment(where)
    seen = None if addend is None else addend[1:]
    plan = planned(out[1:], a[1:], b[1:], seen, bias is not None, alignments)
    if plan is None:
        _prepare(queue, out, a, b, alpha, beta, addend, bias)
        return
    if bias is not None and bias.address % BIAS_ALIGNMENT:
        bias = _copied(queue, bias)
    first, second = (b, a) if plan.is_turned else (a, b)
    row = 0 if bias is None else bias.address
    places = Places(first.address, second.address, where.address, out.address, row)
    if queue.products.run(plan.product, places, alpha, beta):
        return
    if bias is None:
        raise errors.no_product_algorithm(out.dtype)
    queue.copy(out, bias.expanded(out.sizes))  # what is added, not as an epilogue
    multiply(queue, out, a, b, alpha, 1, out)


def _prepare(
    queue: Queue,
    out: Array,
    a: Array,
    b: Array,
    alpha: Any,
    beta: Any,
    addend: Array | None,
    bias: Array | None,
) -> None:
    """What is no single product of arrays where they lie: in parts, by ourselves, or of copies."""
    if not out.numel:
        return
    if not a.sizes[2]:
        _without_product(queue, out, beta, addend, bias)
    elif out.dtype.kind == "i":
        _multiply_integers(queue, out, a, b, alpha, beta, addend, bias)
    elif out.sizes[0] > MOST_TOGETHER:
        for part in _parts(out, a, b, addend):
            multiply(queue, *part[:3], alpha, beta, part[3], bias)
    elif column_major(turned(out)) is None and (bias is not None or column_major(out) is None):
        made = queue.empty(out.sizes, out.dtype)
        multiply(queue, made, a, b, alpha, beta, addend, bias)
        queue.copy(out, made)
    else:
        if addend is not None and not _lies_alike(addend, out):
            queue.copy(out, addend)
            addend = out
        a, b = (each if lies_well(each) else _copied(queue, each) for each in (a, b))
        multiply(queue, out, a, b, alpha, beta, addend, bias)


def _lies_alike(addend: Array, out: Array) -> bool:
    """Whether the dense dim of an output is dense in what is added, too."""
    if column_major(turned(out)) is not None:
        return column_major(turned(addend)) is not None
    return column_major(addend) is not None


def _copied(queue: Queue, x: Array) -> Array:
    made = queue.empty(x.sizes, x.dtype)
    queue.copy(made, x)
    return made


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


def _parts(*arrays: Array | None) -> Iterator[list[Any]]:
    """Batches cut into such as the library takes."""
    count = next(each.sizes[0] for each in arrays if each is not None)
    for start in range(0, count, MOST_TOGETHER):
        size = min(MOST_TOGETHER, count - start)
        yield [None if each is None else each.narrowed(0, start, size) for each in arrays]


def _alignment(x: Array) -> int:
    return min(x.address & -x.address, 256)
