"""Linear systems, inverses and determinants on CUDA by cuSOLVER and cuBLAS.

Shapes were checked by `runtime.ops.shapes.linalg`. Failures are numbers in `info`.
"""

from __future__ import annotations

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.direct import LibraryQueue as Queue
from torchgen_out._runtime.kernels.cuda.direct import direct, turned
from torchgen_out._runtime.kernels.cuda.linalg import matrix_parts
from torchgen_out._runtime.kernels.cuda.linalg.columns import (
    copied,
    finish,
    identity,
    matrices,
    places,
)
from torchgen_out._runtime.kernels.cuda.linalg.factorisations import (
    ADJOINT,
    PLAIN,
    TRANSPOSED,
    check,
    factor,
)
from torchgen_out._runtime.kernels.cuda.linalg.small_matrices import batch_of, go_together
from torchgen_out._runtime.kernels.cuda.queue import Array, contiguous, converted


@direct
def linalg_inv_ex(queue: Queue, inverse: Array, info: Array, A: Array, check_errors: bool) -> None:
    """Write the inverses; of a singular matrix nothing that means anything."""
    pivots = queue.empty(A.sizes[:-1], dtypes.int32)
    factors = factor(queue, queue.empty(A.sizes, A.dtype), pivots, info, A)
    right = identity(queue, A.sizes, A.dtype)
    _solve(queue, right, *factors, PLAIN)
    finish(queue, inverse, right)
    if check_errors:
        check(queue, "linalg.inv_ex", info, errors.singular_matrix)


@direct
def _linalg_solve_ex(
    queue: Queue,
    result: Array,
    LU: Array,
    pivots: Array,
    info: Array,
    A: Array,
    B: Array,
    left: bool,
    check_errors: bool,
) -> None:
    """Write the solution of A X = B, or X A = B, and the factors of A for further solutions."""
    factors, swaps = factor(queue, LU, pivots, info, A)
    if result.ndim < LU.ndim:
        result = result.at(0, (*result.sizes, 1), (*result.strides, 1))
        B = B.at(0, (*B.sizes, 1), (*B.strides, 1))
    _solve_side(queue, result, factors, swaps, B, left, adjoint=False)


@direct
def linalg_lu_solve(
    queue: Queue, out: Array, LU: Array, pivots: Array, B: Array, left: bool, adjoint: bool
) -> None:
    """Write the solution of A X = B (or of another side, or of A^H), given the factors of A."""
    swaps = contiguous(queue, pivots)
    _solve_side(queue, out, copied(queue, LU), swaps, B, left, adjoint)


def _solve_side(
    queue: Queue, out: Array, factors: Array, swaps: Array, B: Array, left: bool, adjoint: bool
) -> None:
    """X A = B is A^T X^T = B^T, and X A^H = B is conj(A) X^T = B^T, or A conj(X)^T = conj(B)^T."""
    if not out.numel:
        return
    B = B.expanded(out.sizes)
    batch = out.sizes[:-2]
    if factors.sizes[:-2] != batch:
        factors = copied(queue, factors.expanded((*batch, *factors.sizes[-2:])))
        swaps = converted(queue, swaps.expanded((*batch, swaps.sizes[-1])), swaps.dtype)
    if left:
        work = copied(queue, B, out)
        _solve(queue, work, factors, swaps, ADJOINT if adjoint else PLAIN)
        finish(queue, out, work)
        return
    conjugated = adjoint and out.dtype.is_complex
    work = copied(queue, turned(B), turned(out))
    if conjugated:
        queue.apply(conjugate, work, [work])
    _solve(queue, work, factors, swaps, PLAIN if adjoint else TRANSPOSED)
    if conjugated:
        queue.apply(conjugate, work, [work])
    finish(queue, turned(out), work)


def conjugate(x):
    """The conjugate."""
    return x.conjugate()


def _solve(queue: Queue, right: Array, factors: Array, swaps: Array, operation: int) -> None:
    """Replace right-hand sides, stored by columns, by solutions."""
    if not right.numel:
        return
    if go_together(factors):
        pivots = converted(queue, swaps, dtypes.int32)
        a, b = batch_of(queue, factors), batch_of(queue, right)
        queue.blas.lu_solve_batch(a, pivots.address, b, operation)
        return
    info = queue.empty((1,), dtypes.int32)
    rows = places(converted(queue, swaps, dtypes.int64), swaps.sizes[-1])
    for a, row, b in zip(matrices(factors), rows, matrices(right), strict=True):
        queue.solver.lu_solve(a, row, b, operation, info.address)


@direct
def linalg_solve_triangular(
    queue: Queue, out: Array, self: Array, B: Array, upper: bool, left: bool, unitriangular: bool
) -> None:
    """Write the solution of A X = B, or X A = B, for triangular A."""
    if not out.numel:
        return
    triangles = copied(queue, self.expanded((*out.sizes[:-2], *self.sizes[-2:])))
    work = copied(queue, B.expanded(out.sizes), out)
    if go_together(triangles):
        batches = batch_of(queue, triangles), batch_of(queue, work)
        queue.blas.solve_triangular_batch(*batches, upper, left, unitriangular)
    else:
        for a, b in zip(matrices(triangles), matrices(work), strict=True):
            queue.blas.solve_triangular(a, b, upper, left, unitriangular)
    finish(queue, out, work)


# -- determinants ------------------------------------------------------------------------------


@direct
def _linalg_det(queue: Queue, result: Array, LU: Array, pivots: Array, A: Array) -> None:
    """Write the product of the pivots, signed by the swaps, and the factors."""
    factor(queue, LU, pivots, queue.empty(A.sizes[:-2], dtypes.int32), A)
    matrix_parts.write_determinants(queue, result, LU, pivots)


@direct
def _linalg_slogdet(
    queue: Queue, sign: Array, logabsdet: Array, LU: Array, pivots: Array, A: Array
) -> None:
    """Write sign and logarithm of the determinant's magnitude, and the factors."""
    factor(queue, LU, pivots, queue.empty(A.sizes[:-2], dtypes.int32), A)
    matrix_parts.write_log_determinants(queue, sign, logabsdet, LU, pivots)
