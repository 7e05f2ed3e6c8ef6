"""Shapes and checks of linear systems, inverses and determinants."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.ops.shapes.factorisations import (
    by_columns,
    check_matrices,
    check_square,
    factors,
)

Sizes = tuple[int, ...]


def linalg_inv_ex(A: Any, check_errors: bool = False) -> Any:
    """Shape: (*B, n, n) -> (*B, n, n), (*B)."""
    check_square("linalg.inv", A)
    return (A.shape, A.dtype), (A.shape[:-2], dtypes.int32)


def is_vector(A: Any, B: Any) -> bool:
    """Whether the right-hand side of a system is one vector per matrix: (*B, n) to (*B, n, n)."""
    return B.ndim == 1 or (A.ndim - 1 == B.ndim and tuple(B.shape) == tuple(A.shape[:-1]))


def _linalg_solve_ex(A: Any, B: Any, left: bool = True, check_errors: bool = False) -> Any:
    """Shape: (*A, n, n), (*B, n, k) or (*B, k, n) or (*A, n) -> as B, batches broadcast.

    And the factors of A.
    """
    check_square("linalg.solve", A)
    if A.dtype is not B.dtype:
        raise errors.operand_dtypes_differ("linalg.solve", A.dtype, B.dtype)
    vector = is_vector(A, B)
    if vector and not left:
        raise RuntimeError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for "
            "left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    if vector and B.ndim == 1 and B.shape[0] != A.shape[-1]:
        raise errors.sides_do_not_fit("linalg.solve", left, A.shape, (*B.shape, 1))
    further = (
        factors(A.shape, A.dtype),
        (A.shape[:-1], dtypes.int32),
        (A.shape[:-2], dtypes.int32),
    )
    if vector:
        return (tuple(A.shape[:-1]), A.dtype), *further
    check_sides("linalg.solve", A, B, left)
    return _solution(A, B, left), *further


def check_sides(operator: str, A: Any, B: Any, left: bool) -> None:
    """The sizes of A X = B, or X A = B."""
    check_matrices(operator, B, "B")
    if A.shape[-1] != B.shape[-2 if left else -1]:
        raise errors.sides_do_not_fit(operator, left, A.shape, B.shape)


def _solution(A: Any, B: Any, left: bool) -> Any:
    batch = shapes.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    sizes = (*batch, *B.shape[-2:])
    return by_columns(sizes, B.dtype) if left and B.dtype.is_complex else (sizes, B.dtype)


def linalg_lu_solve(LU: Any, pivots: Any, B: Any, left: bool = True, adjoint: bool = False) -> Any:
    """Shape: (*A, n, n), (*A, n), (*B, n, k) or (*B, k, n) -> as B, batches broadcast."""
    name = "torch.linalg.lu_solve"
    check_square(name, LU, "LU")
    if LU.dtype is not B.dtype:
        raise errors.operand_dtypes_differ(name, LU.dtype, B.dtype)
    if pivots.dtype is not dtypes.int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    if tuple(pivots.shape) != tuple(LU.shape[:-1]):
        raise RuntimeError(
            f"{name}: Expected pivots of shape {list(LU.shape[:-1])}, got {list(pivots.shape)}"
        )
    check_sides(name, LU, B, left)
    return _solution(LU, B, left)


def linalg_solve_triangular(
    self: Any, B: Any, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    """Shape: (*A, n, n), (*B, n, k) or (*B, k, n) -> as B, batches broadcast."""
    name = "linalg.solve_triangular"
    check_square(name, self)
    if self.dtype is not B.dtype:
        raise errors.operand_dtypes_differ(name, self.dtype, B.dtype)
    check_sides(name, self, B, left)
    batch = shapes.broadcast_shapes(self.shape[:-2], B.shape[:-2])
    return (*batch, *B.shape[-2:]), B.dtype


def _linalg_det(A: Any) -> Any:
    """Shape: (*B, n, n) -> (*B), and the factors."""
    check_square("linalg.det", A)
    return (A.shape[:-2], A.dtype), *_factors(A)


def _linalg_slogdet(A: Any) -> Any:
    """Shape: (*B, n, n) -> (*B), (*B), and the factors."""
    check_square("linalg.slogdet", A)
    batch = A.shape[:-2]
    return (batch, A.dtype), (batch, A.dtype.to_real()), *_factors(A)


def _factors(A: Any) -> Any:
    return factors(A.shape, A.dtype), (A.shape[:-1], dtypes.int32)
