"""Batches of matrices stored column by column, as LAPACK and its kin take them."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.direct import LibraryQueue as Queue
from torchgen_out._runtime.kernels.cuda.direct import turned
from torchgen_out._runtime.kernels.cuda.queue import Array


class Columns(NamedTuple):
    """One matrix in memory. leading: elements from one column to the next."""

    address: int
    dtype: dtypes.dtype
    rows: int
    columns: int
    leading: int


def by_columns(queue: Queue, sizes: tuple[int, ...], dtype: dtypes.dtype) -> Array:
    """New matrices of undefined values, stored column by column."""
    *batch, rows, columns = sizes
    return turned(queue.empty((*batch, columns, rows), dtype))


def copied(queue: Queue, x: Array, out: Array | None = None) -> Array:
    """A copy stored column by column: in `out` if that is stored so."""
    is_direct = out is not None and out.sizes == x.sizes and turned(out).is_contiguous
    made = out if is_direct and out is not None else by_columns(queue, x.sizes, x.dtype)
    queue.copy(made, x)
    return made


def finish(queue: Queue, out: Array, made: Array) -> None:
    """Copy a result that was not made in its place."""
    if made.address != out.address or made.strides != out.strides:
        queue.copy(out, made)


def matrices(x: Array, columns: int | None = None) -> Iterator[Columns]:
    """The matrices of a batch stored by columns, one after the other; of each the first columns."""
    rows, width = x.sizes[-2:]
    assert turned(x).is_contiguous
    for i in range(prod(x.sizes[:-2])):
        address = x.address + i * rows * width * x.dtype.itemsize
        yield Columns(address, x.dtype, rows, width if columns is None else columns, max(rows, 1))


def places(x: Array, size: int) -> Iterator[int]:
    """The addresses of the vectors of `size` elements in contiguous memory."""
    assert x.is_contiguous
    step = size * x.dtype.itemsize
    return iter(range(x.address, x.address + max(x.numel, 1) * x.dtype.itemsize, max(step, 1)))


def set_diagonal(queue: Queue, x: Array) -> None:
    """Write 1 to the diagonals of dense matrices."""
    smaller = min(x.sizes[-2:])
    steps = (*x.strides[:-2], x.strides[-2] + x.strides[-1])
    queue.fill(x.at(0, (*x.sizes[:-2], smaller), steps), 1)
