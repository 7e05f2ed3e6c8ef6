"""Shapes and checks of singular values, eigenvalues and matrix functions."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.ops.shapes.factorisations import by_columns, check_matrices, check_square


def _linalg_svd(
    A: Any, full_matrices: bool = False, compute_uv: bool = True, driver: str | None = None
) -> Any:
    """Shape: (*B, m, n) -> (*B, m, k), (*B, k), (*B, k, n); with full_matrices square ones."""
    check_matrices("linalg.svd", A)
    if driver is not None and not A.is_cuda:
        raise errors.driver_needs_cuda("linalg.svd")
    *batch, rows, columns = A.shape
    smaller = min(rows, columns)
    values = (*batch, smaller), A.dtype.to_real()
    if not compute_uv:
        return ((0,), A.dtype), values, ((0,), A.dtype)
    left, right = (rows, columns) if full_matrices else (smaller, smaller)
    return ((*batch, rows, left), A.dtype), values, ((*batch, right, columns), A.dtype)


def _linalg_eigh(A: Any, UPLO: str = "L", compute_v: bool = True) -> Any:
    """Shape: (*B, n, n) -> (*B, n), (*B, n, n)."""
    check_square("linalg.eigh", A)
    if UPLO not in ("L", "U", "l", "u"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    values = A.shape[:-1], A.dtype.to_real()
    return values, by_columns(A.shape, A.dtype) if compute_v else ((0,), A.dtype)


def linalg_eig(self: Any) -> Any:
    """Shape: (*B, n, n) -> (*B, n), (*B, n, n), complex."""
    check_square("linalg.eig", self)
    dtype = self.dtype.to_complex()
    return (self.shape[:-1], dtype), (self.shape, dtype)


def _linalg_eigvals(self: Any) -> Any:
    """Shape: (*B, n, n) -> (*B, n), complex."""
    check_square("linalg.eigvals", self)
    return self.shape[:-1], self.dtype.to_complex()


def linalg_matrix_exp(self: Any) -> Any:
    """Shape: (*B, n, n) -> (*B, n, n)."""
    check_square("linalg.matrix_exp", self)
    return self.shape, self.dtype
