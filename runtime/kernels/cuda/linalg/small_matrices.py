"""Batches of small matrices, which the libraries factor together: each is too small for a device.

Their functions take the addresses of the matrices, in the device's memory.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.copy.ranges import spaced
from torchgen_out._runtime.kernels.cuda.linalg.columns import Columns, matrices
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue

LARGEST = 256
"""Rows or columns up to which matrices go together; not measured, and close to where PyTorch
changes from one way to the other. Larger ones have work for all of a device."""
LARGEST_OF_JACOBI = 32
"""Rows and columns up to which the library finds the singular values of many."""


class Batch(NamedTuple):
    """Matrices of one size. addresses: of their addresses, on the device. first: one of them."""

    addresses: int
    first: Columns
    count: int


def go_together(x: Array) -> bool:
    """Whether these are several small matrices."""
    return x.numel > 0 and prod(x.sizes[:-2]) > 1 and max(x.sizes[-2:]) <= LARGEST


def fit_jacobi(x: Array) -> bool:
    """Whether the library finds the singular values of all these matrices together."""
    return go_together(x) and max(x.sizes[-2:]) <= LARGEST_OF_JACOBI


def batch_of(queue: Queue, x: Array) -> Batch:
    """Matrices stored by columns, one behind the other."""
    rows, columns = x.sizes[-2:]
    count = prod(x.sizes[:-2])
    first = next(matrices(x))
    return Batch(addresses(queue, x, rows * columns, count), first, count)


def addresses(queue: Queue, x: Array, step: int, count: int) -> int:
    """Where the addresses of parts of an array lie, `step` elements from each to the next."""
    made = queue.empty((count,), dtypes.int64)
    spaced(queue, made, x.address, x.address, step * x.dtype.itemsize, count)
    return made.address
