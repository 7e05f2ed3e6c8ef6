"""Singular values and eigenvalues on CUDA by cuSOLVER.

Shapes were checked by `runtime.ops.shapes.linalg`. An iteration that does not converge raises, so
every call waits for the library to say so.
"""

from __future__ import annotations

from math import prod

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.direct import LibraryQueue as Queue
from torchgen_out._runtime.kernels.cuda.direct import direct, turned
from torchgen_out._runtime.kernels.cuda.linalg.columns import (
    Columns,
    by_columns,
    copied,
    finish,
    matrices,
    places,
    set_diagonal,
)
from torchgen_out._runtime.kernels.cuda.linalg.small_matrices import fit_jacobi, go_together
from torchgen_out._runtime.kernels.cuda.linalg.solvers import conjugate
from torchgen_out._runtime.kernels.cuda.queue import Array


def _check(queue: Queue, operator: str, info: Array, what: str, is_batch: bool) -> None:
    for i, number in enumerate(queue.read(info)):
        if number:
            raise errors.not_converged(operator, i if is_batch else None, what)


@direct
def _linalg_svd(
    queue: Queue,
    U: Array,
    S: Array,
    Vh: Array,
    A: Array,
    full_matrices: bool,
    compute_uv: bool,
    driver: str | None,
) -> None:
    """Write singular values and, unless U and Vh are empty, singular vectors.

    The library wants no fewer rows than columns: otherwise A^T = Vh^T S U^T is factored.
    """
    if not A.numel:
        for each in (U, Vh) if compute_uv else ():
            queue.fill(each, 0)
            set_diagonal(queue, each)
        return
    if fit_jacobi(A):
        _find_singular_together(queue, U, S, Vh, A, compute_uv)
        return
    is_wide = A.sizes[-2] < A.sizes[-1]
    work = copied(queue, turned(A) if is_wide else A)
    *batch, rows, columns = work.sizes
    job = ("A" if full_matrices else "S") if compute_uv else "N"
    u = by_columns(queue, (*batch, rows, rows if full_matrices else columns), A.dtype)
    vh = by_columns(queue, (*batch, columns, columns), A.dtype)
    info = queue.empty((prod(batch),), dtypes.int32)
    values = queue.empty(S.sizes, S.dtype)
    each = zip(
        matrices(work), places(values, columns), matrices(u), matrices(vh), places(info, 1),
        strict=True,
    )  # fmt: skip
    for a, s, left, right, number in each:
        queue.solver.svd(a, s, left, right, job, number)
    queue.copy(S, values)
    if compute_uv:
        queue.copy(U, turned(vh) if is_wide else u)
        queue.copy(Vh, turned(u) if is_wide else vh)
    _check(queue, "linalg.svd", info, "singular values", bool(batch))


def _find_singular_together(
    queue: Queue, U: Array, S: Array, Vh: Array, A: Array, compute_uv: bool
) -> None:
    """Of small matrices by Jacobi's rotations, which give square U and V whatever is wanted."""
    work = copied(queue, A)
    *batch, rows, columns = work.sizes
    u = by_columns(queue, (*batch, rows, rows), A.dtype)
    v = by_columns(queue, (*batch, columns, columns), A.dtype)
    info, values = queue.empty((prod(batch),), dtypes.int32), queue.empty(S.sizes, S.dtype)
    a, left, right = (next(matrices(each)) for each in (work, u, v))
    vectors = (left, right, compute_uv)
    queue.solver.svd_batch(a, info.numel, values.address, *vectors, info.address)
    queue.copy(S, values)
    if compute_uv:
        if v.dtype.is_complex:
            queue.apply(conjugate, v, [v])
        queue.copy(U, u.narrowed(u.ndim - 1, 0, U.sizes[-1]))
        queue.copy(Vh, turned(v).narrowed(v.ndim - 2, 0, Vh.sizes[-2]))
    _check(queue, "linalg.svd", info, "singular values", True)


@direct
def _linalg_eigh(
    queue: Queue, eigenvalues: Array, eigenvectors: Array, A: Array, UPLO: str, compute_v: bool
) -> None:
    """Write the eigenvalues of Hermitian matrices, ascending, and eigenvectors if asked for."""
    if not A.numel:
        return
    work = copied(queue, A, eigenvectors if compute_v else None)
    values = queue.empty(eigenvalues.sizes, eigenvalues.dtype)
    info = queue.empty((prod(A.sizes[:-2]),), dtypes.int32)
    if go_together(work):
        flags = (UPLO in "uU", compute_v)
        numbers = (info.numel, values.address, *flags, info.address)
        queue.solver.eigh_batch(next(matrices(work)), *numbers)
    else:
        each = zip(matrices(work), places(values, A.sizes[-1]), places(info, 1), strict=True)
        for a, w, number in each:
            queue.solver.eigh(a, w, UPLO in "uU", compute_v, number)
    queue.copy(eigenvalues, values)
    if compute_v:
        finish(queue, eigenvectors, work)
    _check(queue, "linalg.eigh", info, "eigenvalues", A.ndim > 2)


@direct
def linalg_eig(queue: Queue, eigenvalues: Array, eigenvectors: Array | None, self: Array) -> None:
    """Write complex eigenvalues and, if asked for, eigenvectors of unit length.

    Real matrices are factored as complex ones.
    """
    is_wanted = eigenvectors is not None
    if self.numel:
        _eig(
            queue, "linalg.eig" if is_wanted else "linalg.eigvals", eigenvalues, eigenvectors, self
        )


def _eig(queue: Queue, operator: str, values: Array, vectors: Array | None, self: Array) -> None:
    work = by_columns(queue, self.sizes, values.dtype)
    queue.copy(work, self)
    made = queue.empty(values.sizes, values.dtype)
    info = queue.empty((prod(self.sizes[:-2]),), dtypes.int32)
    wanted: list[Columns | None] = [None] * info.numel
    if vectors is not None:
        columns = by_columns(queue, self.sizes, values.dtype)
        wanted = list(matrices(columns))
    each = zip(matrices(work), places(made, self.sizes[-1]), wanted, places(info, 1), strict=True)
    for a, w, v, number in each:
        queue.solver.eig(a, w, v, number)
    queue.copy(values, made)
    _check(queue, operator, info, "eigenvalues", self.ndim > 2)
    if vectors is not None:
        finish(queue, vectors, columns)
