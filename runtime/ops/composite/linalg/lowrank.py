"""Factorisations of low rank by random projections, for matrices too large for `linalg.svd`.

**Source** N. Halko, P. Martinsson, J. Tropp, "Finding structure with randomness" (2011),
algorithms 4.4 and 5.1.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.shapes.linalg import check_matrices

Three = tuple[Any, Any, Any]


def svd_lowrank(A: Any, q: int | None, niter: int | None, M: Any) -> Three:
    """U, S, V of the nearest matrix of rank q to A, or to A - M."""
    check_matrices("svd_lowrank", A)
    matrix = A if M is None else A - ops.broadcast_to(M, A.shape)
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
    return _factors(A - A.mean(-2, keepdim=True) if center else A, q, niter)


def _factors(A: Any, q: int, niter: int) -> Three:
    """The factors of the projection onto a basis of q vectors."""
    is_wide = A.shape[-2] < A.shape[-1]
    tall = A.mH if is_wide else A
    basis = _basis(tall, q, niter)
    U, S, Vh = ops.linalg_svd(basis.mH @ tall, full_matrices=False)
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
