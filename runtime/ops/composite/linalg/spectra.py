"""Singular values and eigenvalues: what of the factorisation is asked for, and older names."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.dispatch import ops


def linalg_svd(A: Any, full_matrices: bool = True, driver: str | None = None) -> Any:
    """U, S and Vh."""
    return ops._linalg_svd(A, full_matrices, True, driver=driver)


def linalg_svdvals(A: Any, driver: str | None = None) -> Any:
    """The singular values, largest first."""
    return ops._linalg_svd(A, False, grad_mode.is_recorded(A), driver=driver)[1]


def svd(self: Any, some: bool = True, compute_uv: bool = True) -> Any:
    """U, S and V; zeros for U and V if they are not asked for."""
    if compute_uv:
        U, S, Vh = ops._linalg_svd(self, not some, True)
        return U, S, Vh.mH
    *batch, rows, columns = self.shape
    values = linalg_svdvals(self)
    return self.new_zeros((*batch, rows, rows)), values, self.new_zeros((*batch, columns, columns))


def linalg_eigh(self: Any, UPLO: str = "L") -> Any:
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices."""
    return ops._linalg_eigh(self, UPLO, True)


def linalg_eigvalsh(self: Any, UPLO: str = "L") -> Any:
    """The eigenvalues of Hermitian matrices, ascending."""
    return ops._linalg_eigh(self, UPLO, grad_mode.is_recorded(self))[0]


def linalg_eigvals(self: Any) -> Any:
    """The eigenvalues, in any order."""
    return ops.linalg_eig(self)[0] if grad_mode.is_recorded(self) else ops._linalg_eigvals(self)
