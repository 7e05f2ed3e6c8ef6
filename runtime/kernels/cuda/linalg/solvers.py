"""Linear systems on CUDA by cuSOLVER and cuBLAS.

Shapes were checked by `runtime.ops.shapes.linalg`.
"""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.direct import LibraryQueue as Queue
from torchgen_out._runtime.kernels.cuda.direct import direct, turned
from torchgen_out._runtime.kernels.cuda.linalg.columns import (
    copied,
    finish,
    matrices,
    places,
)
from torchgen_out._runtime.kernels.cuda.linalg.factorisations import (
    ADJOINT,
    PLAIN,
    TRANSPOSED,
)
from torchgen_out._runtime.kernels.cuda.linalg.small_matrices import batch_of, go_together
from torchgen_out._runtime.kernels.cuda.queue import Array, contiguous, converted


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
