"""Least squares and pseudo-inverses on CUDA: by QR for full rank, else by singular values.

Shapes were checked by `runtime.ops.shapes.linalg`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.direct import LibraryQueue as Queue
from torchgen_out._runtime.kernels.cuda.direct import direct, turned
from torchgen_out._runtime.kernels.cuda.linalg.columns import (
    by_columns,
    copied,
    flat,
    matrices,
    places,
)
from torchgen_out._runtime.kernels.cuda.linalg.factorisations import ADJOINT, PLAIN, reflect
from torchgen_out._runtime.kernels.cuda.linalg.solvers import conjugate
from torchgen_out._runtime.kernels.cuda.linalg.spectra import find_hermitian, find_singular
from torchgen_out._runtime.kernels.cuda.matmul.matrix_plans import multiply
from torchgen_out._runtime.kernels.cuda.queue import Array, converted


@direct
def _linalg_lstsq(
    queue: Queue,
    solution: Array,
    rank: Array,
    singular_values: Array,
    self: Array,
    b: Array,
    rcond: float,
    driver: str,
) -> None:
    """Write solutions, ranks where the driver finds them, and singular values where it has them.

    `gels` takes full rank for granted; the others wait for singular values, of which those up to
    `rcond` times the largest count as 0.
    """
    batch = solution.sizes[:-2]
    self = self.expanded((*batch, *self.sizes[-2:]))
    b = b.expanded((*batch, *b.sizes[-2:]))
    if driver == "gels" and solution.numel and self.numel:
        _solve_full_rank(queue, solution, self, b)
        return
    queue.fill(rank, 0)
    queue.fill(solution, 0)
    if solution.numel and self.numel:
        values = _solve_by_values(queue, solution, rank, self, b, rcond)
        if driver in ("gelsd", "gelss"):
            queue.copy(singular_values, values)


def _solve_full_rank(queue: Queue, solution: Array, A: Array, b: Array) -> None:
    """R^-1 Q^H b, where A = QR; of wide matrices Q R^-H b, the smallest solution, where A^H = QR.

    A right-hand side is as long as the longer side of A, as it is multiplied by reflections.
    """
    rows, columns = A.sizes[-2:]
    is_tall = rows >= columns
    work, tau = reflect(queue, copied(queue, A) if is_tall else _adjoint(queue, A))
    right = by_columns(queue, (*b.sizes[:-2], max(rows, columns), b.sizes[-1]), b.dtype)
    queue.fill(right, 0)
    queue.copy(right.narrowed(right.ndim - 2, 0, rows), b)
    count = min(rows, columns)
    info = queue.empty((1,), dtypes.int32).address
    for a, scales, c in zip(matrices(work), places(tau, count), matrices(right), strict=True):
        if is_tall:
            queue.solver.apply_reflectors(a, scales, c, True, True, info)
        operation = PLAIN if is_tall else ADJOINT
        queue.blas.solve_triangular(a, c._replace(rows=count), True, True, False, operation)
        if not is_tall:
            queue.solver.apply_reflectors(a, scales, c, True, False, info)
    queue.copy(solution, right.narrowed(right.ndim - 2, 0, columns))


def _adjoint(queue: Queue, A: Array) -> Array:
    """The adjoint of matrices, stored by columns."""
    return _conjugated(queue, copied(queue, turned(A)))


def _conjugated(queue: Queue, x: Array) -> Array:
    """An array of our own, conjugated in its place."""
    if x.dtype.is_complex:
        queue.apply(conjugate, x, [x])
    return x


class Spectrum(NamedTuple):
    """Batches of factors: A = left diag(values) right^H.

    Shape: left (B, m, k), values (B, k), right (B, n, k).
    """

    left: Array
    values: Array
    right: Array


def _by_singular_values(queue: Queue, A: Array, operator: str) -> Spectrum:
    rows, columns = A.sizes[-2:]
    count, k = A.numel // (rows * columns), min(rows, columns)
    stacked = flat(copied(queue, A))
    left = queue.empty((count, rows, k), A.dtype)
    values = queue.empty((count, k), A.dtype.to_real())
    right = queue.empty((count, k, columns), A.dtype)
    find_singular(queue, left, values, right, stacked, False, True, operator)
    return Spectrum(left, values, turned(_conjugated(queue, right)))


def _by_eigenvalues(queue: Queue, A: Array, operator: str) -> Spectrum:
    stacked = flat(copied(queue, A))
    values = queue.empty(stacked.sizes[:2], A.dtype.to_real())
    vectors = queue.empty(stacked.sizes, A.dtype)
    find_hermitian(queue, values, vectors, stacked, "L", True, operator)
    return Spectrum(vectors, values, vectors)


def _solve_by_values(
    queue: Queue, solution: Array, rank: Array, A: Array, b: Array, rcond: float
) -> Array:
    """Write the smallest of the solutions, and the ranks; return the singular values."""
    left, values, right = _by_singular_values(queue, A, "torch.linalg.lstsq")
    bound = queue.empty((1,), values.dtype)
    queue.fill(bound, rcond if rcond >= 0 else float(np.finfo(values.dtype.numpy).eps))
    inverted = _inverted(queue, values, None, bound.expanded(values.sizes[:1]), rank)
    count, k = values.sizes
    seen = queue.empty((count, k, b.sizes[-1]), b.dtype)
    multiply(queue, seen, turned(_conjugated(queue, left)), flat(copied(queue, b)))
    factors = converted(queue, inverted, b.dtype).at(0, seen.sizes, (k, 1, 0))
    queue.apply(product, seen, [seen, factors])
    found = queue.empty((count, *solution.sizes[-2:]), b.dtype)
    multiply(queue, found, right, seen)
    queue.copy(solution, found.reshaped(*solution.sizes))
    return values.reshaped(*A.sizes[:-2], k)


@direct
def _linalg_pinv(
    queue: Queue, out: Array, self: Array, atol: Array, rtol: Array, hermitian: bool
) -> None:
    """Write pseudo-inverses; singular values up to max(atol, rtol * the largest) count as 0."""
    if not out.numel:
        return
    factor = _by_eigenvalues if hermitian else _by_singular_values
    left, values, right = factor(queue, self, "linalg.pinv")
    bounds = [each.expanded(self.sizes[:-2]) for each in (atol, rtol)]
    inverted = _inverted(queue, values, *bounds, None)
    scaled = queue.empty(right.sizes, right.dtype)
    factors = converted(queue, inverted, out.dtype).at(0, scaled.sizes, (values.sizes[1], 0, 1))
    queue.apply(product, scaled, [right, factors])
    found = queue.empty((values.sizes[0], *out.sizes[-2:]), out.dtype)
    multiply(queue, found, scaled, turned(_conjugated(queue, left)))
    queue.copy(out, found.reshaped(*out.sizes))


def product(x, y):
    """The product of two elements."""
    return x * y


def _inverted(
    queue: Queue, values: Array, atol: Array | None, rtol: Array, rank: Array | None
) -> Array:
    """The inverses of values of each row, 0 for those that count as 0; `rank` counts the others."""
    made = queue.empty(values.sizes, values.dtype)
    bounds = [None if each is None else converted(queue, each, made.dtype) for each in (atol, rtol)]
    flags = {"HAS_ATOL": atol is not None, "TELLS_RANK": rank is not None}
    operands = (made, values, *bounds, rank)
    run_elements(queue, invert_values, values.sizes[0], *operands, *values.sizes, **flags)
    return made


@device_kernel("X* X* X* X* int64*", "I I")
def invert_values(out, values, atol, rtol, rank, count, size):
    """A thread owns rows at the distance of the grid; the first or the last value is the largest
    in magnitude, as values are sorted."""
    row = I(cuda.grid(1))
    while row < count:
        first, last = abs(values[I(row * size)]), abs(values[I(row * size + size - 1)])
        bound = T(rtol[row] * (first if first > last else last))
        if HAS_ATOL and atol[row] > bound:
            bound = atol[row]
        kept = np.int64(0)
        for i in range(size):
            value = values[I(row * size + i)]
            is_kept = abs(value) > bound
            out[I(row * size + i)] = T(T(1) / value) if is_kept else T(0)
            kept = np.int64(kept + (1 if is_kept else 0))
        if TELLS_RANK:
            rank[row] = kept
        row = I(row + cuda.gridsize(1))
