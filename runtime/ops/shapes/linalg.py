"""Shapes and checks of linear algebra: factorisations, what is solved with them, spectra.

Results that LAPACK stores column by column stay so: their strides say it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes

Sizes = tuple[int, ...]


def check_matrices(operator: str, tensor: Any, name: str = "A") -> None:
    """At least two dims."""
    if tensor.ndim < 2:
        raise errors.matrix_expected(operator, name, tensor.ndim)


def check_square(operator: str, tensor: Any, name: str = "A") -> None:
    """At least two dims, the last two of one size."""
    sizes = list(tensor.shape)
    if len(sizes) < 2:
        raise errors.matrix_expected(operator, name, len(sizes))
    if sizes[-1] != sizes[-2]:
        raise errors.square_expected(operator, name, tensor.shape)


def by_columns(sizes: Sequence[int], dtype: Any) -> tuple[Sizes, Any, Sizes]:
    """A result whose matrices are stored column by column."""
    *batch, rows, columns = sizes
    *outer, step, one = shapes.contiguous_strides((*batch, columns, rows))
    return tuple(sizes), dtype, (*outer, one, step)


def linalg_cholesky_ex(self: Any, upper: bool = False, check_errors: bool = False) -> Any:
    """Shape: (*B, n, n) -> (*B, n, n), (*B)."""
    check_square("linalg.cholesky", self)
    return (self.shape, self.dtype), (self.shape[:-2], dtypes.int32)


def cholesky_inverse(self: Any, upper: bool = False) -> Any:
    """Shape: (*B, n, n) -> (*B, n, n)."""
    check_square("cholesky_inverse", self)
    return self.shape, self.dtype


def cholesky_solve(self: Any, input2: Any, upper: bool = False) -> Any:
    """Shape: (*A, n, k), (*B, n, n) -> (*broadcast(A, B), n, k)."""
    check_matrices("cholesky_solve", self, "b")
    check_square("cholesky_solve", input2, "u")
    if self.dtype is not input2.dtype:
        raise errors.operand_dtypes_differ("cholesky_solve", input2.dtype, self.dtype)
    if self.shape[-2] != input2.shape[-1]:
        raise errors.sides_do_not_fit("cholesky_solve", True, input2.shape, self.shape)
    batch = shapes.broadcast_shapes(self.shape[:-2], input2.shape[:-2])
    return by_columns((*batch, *self.shape[-2:]), self.dtype)


def factors(sizes: Sequence[int], dtype: Any) -> Any:
    """Where both factors of LU stand: row by row where kernels of this project work on them."""
    if sizes[-1] == sizes[-2] and not dtype.is_complex:
        return tuple(sizes), dtype
    return by_columns(sizes, dtype)


def linalg_lu_factor_ex(A: Any, pivot: bool = True, check_errors: bool = False) -> Any:
    """Shape: (*B, m, n) -> (*B, m, n), (*B, min(m, n)), (*B)."""
    check_matrices("torch.lu_factor", A)
    if not pivot:
        raise errors.no_pivoting_on_cpu("linalg.lu_factor")
    batch, smaller = A.shape[:-2], min(A.shape[-2:])
    return (
        factors(A.shape, A.dtype),
        ((*batch, smaller), dtypes.int32),
        (batch, dtypes.int32),
    )


def lu_permutation(pivots: Any, rows: int, dtype: Any) -> Any:
    """Shape: (*B, k) -> (*B, rows, rows); k rows are swapped one after the other."""
    if not pivots.ndim or pivots.shape[-1] > rows:
        raise errors.pivots_out_of_range("lu_unpack")
    return (*pivots.shape[:-1], rows, rows), dtype


def linalg_qr(A: Any, mode: str = "reduced") -> Any:
    """Shape: (*B, m, n) -> (*B, m, k), (*B, k, n), k being min(m, n), or m if mode is complete."""
    check_matrices("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise errors.unknown_word("qr", "mode", mode, "'reduced', 'complete', 'r'")
    *batch, rows, columns = A.shape
    inner = rows if mode == "complete" else min(rows, columns)
    q = ((0,), A.dtype) if mode == "r" else by_columns((*batch, rows, inner), A.dtype)
    return q, by_columns((*batch, inner, columns), A.dtype)


def geqrf(self: Any) -> Any:
    """Shape: (*B, m, n) -> (*B, m, n), (*B, min(m, n))."""
    check_matrices("geqrf", self, "input")
    sizes = self.shape
    return by_columns(sizes, self.dtype), ((*sizes[:-2], min(sizes[-2:])), self.dtype)


def linalg_householder_product(input: Any, tau: Any) -> Any:
    """Shape: (*B, m, n), (*B, k) -> (*B, m, n)."""
    name = "torch.linalg.householder_product"
    check_matrices(name, input, "input")
    rows, columns = input.shape[-2:]
    if rows < columns:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to "
                           f"input.shape[-1], got {rows} and {columns}")  # fmt: skip
    _check_reflectors(name, input, tau, columns)
    return by_columns(input.shape, input.dtype)


def _check_reflectors(name: str, input: Any, tau: Any, most: int) -> None:
    if tau.ndim != input.ndim - 1 or tau.shape[:-1] != input.shape[:-2]:
        raise RuntimeError(
            f"{name}: Expected tau of shape {[*input.shape[:-2], 'k']}, got {list(tau.shape)}"
        )
    if tau.shape[-1] > most:
        raise RuntimeError(f"{name}: tau holds {tau.shape[-1]} scales, at most {most} expected")
    if tau.dtype is not input.dtype:
        raise errors.operand_dtypes_differ(name, input.dtype, tau.dtype)


def ormqr(self: Any, input2: Any, input3: Any, left: bool = True, transpose: bool = False) -> Any:
    """Shape: (*B, m, k), (*B, k), (*B, m, n) or (*B, n, m) -> as the third."""
    check_matrices("torch.ormqr", self, "input")
    check_matrices("torch.ormqr", input3, "other")
    _check_reflectors("torch.ormqr", self, input2, self.shape[-1])
    size = input3.shape[-2 if left else -1]
    if size != self.shape[-2]:
        raise RuntimeError(
            f"torch.ormqr: other.shape[{-2 if left else -1}] must be equal to input.shape[-2], "
            f"got {size} and {self.shape[-2]}"
        )
    if input3.shape[:-2] != self.shape[:-2]:
        raise RuntimeError("torch.ormqr: batch dimensions of other and input must be equal")
    if input3.dtype is not self.dtype:
        raise errors.operand_dtypes_differ("torch.ormqr", self.dtype, input3.dtype)
    return by_columns(input3.shape, self.dtype)


def ldl_factor(A: Any, hermitian: bool) -> Any:
    """Shape: (*B, n, n) -> (*B, n, n), (*B, n), (*B)."""
    check_square("torch.linalg.ldl_factor_ex", A)
    batch = A.shape[:-2]
    return factors(A.shape, A.dtype), (A.shape[:-1], dtypes.int32), (batch, dtypes.int32)


def ldl_solve(LD: Any, pivots: Any, B: Any, hermitian: bool) -> Any:
    """Shape: (*B, n, n), (*B, n), (*C, n, k) -> (broadcast of *B and *C, n, k)."""
    name = "torch.linalg.ldl_solve"
    check_square(name, LD, "LD")
    check_matrices(name, B, "B")
    if LD.dtype is not B.dtype:
        raise errors.operand_dtypes_differ(name, LD.dtype, B.dtype)
    if tuple(pivots.shape) != tuple(LD.shape[:-1]) or pivots.dtype.kind != "i":
        raise errors.ldl_pivots_do_not_fit(pivots.shape, pivots.dtype)
    if B.shape[-2] != LD.shape[-1]:
        raise errors.sides_do_not_fit(name, True, LD.shape, B.shape)
    batch = shapes.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    return (*batch, *B.shape[-2:]), B.dtype


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


DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _linalg_lstsq(self: Any, b: Any, rcond: float, driver: str) -> Any:
    """Shape: (*A, m, n), (*B, m, k) -> (*batch, n, k), (*batch), (*batch, min(m, n)); or empty."""
    name = "torch.linalg.lstsq"
    check_matrices(name, self, "input")
    if self.dtype is not b.dtype:
        raise errors.operand_dtypes_differ(name, self.dtype, b.dtype)
    if self.shape[-2] != b.shape[-2]:
        raise RuntimeError(
            f"{name}: input.size(-2) should match other.size(-2), "
            f"got {self.shape[-2]} and {b.shape[-2]}"
        )
    if driver not in DRIVERS:
        raise errors.unknown_word(name, "driver", driver, ", ".join(DRIVERS))
    batch = shapes.broadcast_shapes(self.shape[:-2], b.shape[:-2])
    smaller = min(self.shape[-2:])
    has_values = driver in ("gelsd", "gelss")
    return (
        by_columns((*batch, self.shape[-1], b.shape[-1]), self.dtype),
        ((0,) if driver == "gels" else batch, dtypes.int64),
        ((*batch, smaller) if has_values else (0,), self.dtype.to_real()),
    )


def _linalg_pinv(self: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    """Shape: (*B, m, n) -> (*B, n, m)."""
    if self.ndim < 2:
        raise errors.matrix_expected("linalg.pinv", "A", self.ndim)
    *batch, rows, columns = self.shape
    if hermitian and rows != columns:
        raise errors.square_expected("linalg.pinv", "A", self.shape)
    shapes.broadcast_shapes(batch, atol.shape, rtol.shape)
    return (*batch, columns, rows), self.dtype


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


def cross(self: Any, other: Any, dim: int) -> tuple[Sizes, Any]:
    """Shape: that to which both broadcast."""
    return shapes.broadcast_shapes(self._sizes, other._sizes), self.dtype
