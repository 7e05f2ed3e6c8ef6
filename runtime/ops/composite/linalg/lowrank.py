"""Factorisations of low rank by random projections, for matrices too large for `linalg.svd`.

**Source** N. Halko, P. Martinsson, J. Tropp, "Finding structure with randomness" (2011),
algorithms 4.4 and 5.1.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import sparse
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.shapes.linalg import check_matrices

Three = tuple[Any, Any, Any]


def svd_lowrank(A: Any, q: int | None, niter: int | None, M: Any) -> Three:
    """U, S, V of the nearest matrix of rank q to A, or to A - M."""
    check_matrices("svd_lowrank", A)
    if M is None or not sparse.is_sparse(A):
        matrix = A if M is None else A - ops.broadcast_to(M, A.shape)
    else:
        matrix = _Shifted(A, _ones(A), M) if M.shape[-2] == 1 else _Shifted(A, M, None)
    return _factors(matrix, 6 if q is None else q, 2 if niter is None else niter)


def pca_lowrank(A: Any, q: int | None, center: bool, niter: int) -> Three:
    """The same of A less its columns' means. Raises: ValueError for an impossible rank."""
    check_matrices("pca_lowrank", A)
    rows, columns = A.shape[-2:]
    if q is None:
        q = min(6, rows, columns)
    elif not 0 <= q <= min(rows, columns):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than "
            f"min(m, n)={min(rows, columns)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if center:
        mean = A.mean(-2, keepdim=True)
        A = _Shifted(A, _ones(A), mean.to_dense()) if sparse.is_sparse(A) else A - mean
    return _factors(A, q, niter)


class _Shifted:
    """A sparse matrix less the product of two dense ones, by which it stays sparse."""

    def __init__(self, matrix: Any, left: Any, right: Any) -> None:
        self.matrix, self.left, self.right = matrix, left, right
        self.shape, self.dtype, self.device = matrix.shape, matrix.dtype, matrix.device

    @property
    def mH(self) -> _Shifted:
        """The adjoint."""
        if self.right is None:
            return _Shifted(self.matrix.mH, self.left.mH, None)
        return _Shifted(self.matrix.mH, self.right.mH, self.left.mH)

    def __matmul__(self, other: Any) -> Any:
        inner = other if self.right is None else self.right @ other
        return self.matrix @ other - self.left @ inner


def _ones(A: Any) -> Any:
    return ops.ones((A.shape[-2], 1), dtype=A.dtype, device=A.device)


def _factors(A: Any, q: int, niter: int) -> Three:
    """The factors of the projection onto a basis of q vectors."""
    is_wide = A.shape[-2] < A.shape[-1]
    tall = A.mH if is_wide else A
    basis = _basis(tall, q, niter)
    U, S, Vh = ops.linalg_svd((tall.mH @ basis).mH, full_matrices=False)
    U, V = basis @ U, Vh.mH.contiguous()
    return (V, S, U) if is_wide else (U, S, V)


def _basis(A: Any, q: int, niter: int) -> Any:
    """An orthonormal basis of what A makes of q random vectors; each round sharpens it."""
    drawn = ops.randn((A.shape[-1], q), dtype=A.dtype, device=A.device)
    basis = ops.linalg_qr(A @ drawn)[0]
    for _ in range(niter):
        basis = ops.linalg_qr(A.mH @ basis)[0]
        basis = ops.linalg_qr(A @ basis)[0]
    return basis
