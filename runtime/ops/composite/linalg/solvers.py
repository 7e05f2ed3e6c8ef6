"""Systems, determinants, least squares and pseudo-inverses by factorisations of the same device.

For backends that have kernels for the factorisations, and none for what follows from them.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core.finfo import finfo
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.factories import creation
from torchgen_out._runtime.ops.composite.linalg.factorisations import check


def inv_ex(inverse: Any, info: Any, A: Any, check_errors: bool) -> None:
    """Write the inverses; of a singular matrix nothing that means anything."""
    LU, pivots, failed = ops.linalg_lu_factor_ex(A)
    inverse.copy_(ops.linalg_lu_solve(LU, pivots, _identity(A)))
    info.copy_(failed)
    if check_errors:
        check("linalg.inv_ex", failed, errors.singular_matrix)


def cholesky_inverse(out: Any, self: Any, upper: bool) -> None:
    """Write the inverse of the matrix whose Cholesky factor is given."""
    out.copy_(ops.cholesky_solve(_identity(self), self, upper))


def _identity(A: Any) -> Any:
    n = A.shape[-1]
    return creation.eye_rectangular(n, n, A.dtype, None, A.device).expand(A.shape)


def solve_ex(
    result: Any, LU: Any, pivots: Any, info: Any, A: Any, B: Any, left: bool, check_errors: bool
) -> None:
    """Write the solution of A X = B, or X A = B, and the factors of A for further solutions."""
    _factor(LU, pivots, info, A)
    is_vector = result.ndim < A.ndim
    right = B.unsqueeze(-1) if is_vector else B
    found = ops.linalg_lu_solve(LU, pivots, right, left=left)
    result.copy_(found.squeeze(-1) if is_vector else found)


def _factor(LU: Any, pivots: Any, info: Any, A: Any) -> None:
    found = ops.linalg_lu_factor_ex(A)
    for each, made in zip((LU, pivots, info), found, strict=True):
        if each is not None:
            each.copy_(made)


# -- determinants ------------------------------------------------------------------------------


def det(result: Any, LU: Any, pivots: Any, A: Any) -> None:
    """Write the product of the pivots, signed by the swaps, and the factors."""
    _factor(LU, pivots, None, A)
    result.copy_((LU.diagonal(0, -2, -1) * _signs(pivots)).prod(-1))


def slogdet(sign: Any, logabsdet: Any, LU: Any, pivots: Any, A: Any) -> None:
    """Write sign and logarithm of the determinant's magnitude, and the factors."""
    _factor(LU, pivots, None, A)
    diagonal = LU.diagonal(0, -2, -1)
    sign.copy_((diagonal.sgn() * _signs(pivots)).prod(-1))
    logabsdet.copy_(diagonal.abs().log().sum(-1))


def _signs(pivots: Any) -> Any:
    """-1 where a row was swapped with another, else 1."""
    own = ops.arange(1, pivots.shape[-1] + 1, device=pivots.device)
    return 1 - 2 * (pivots != own).to(pivots.dtype)


# -- least squares -----------------------------------------------------------------------------


def lstsq(
    solution: Any, rank: Any, singular_values: Any, self: Any, b: Any, rcond: float, driver: str
) -> None:
    """Write solutions, ranks where the driver finds them, and singular values where it has them.

    `gels` takes full rank for granted; the others wait for singular values, of which those up to
    `rcond` times the largest count as 0.
    """
    batch = solution.shape[:-2]
    self, b = (each.expand((*batch, *each.shape[-2:])) for each in (self, b))
    if not solution.numel() or not self.numel():
        solution.zero_()
        rank.zero_()
    elif driver == "gels":
        solution.copy_(_solve_full_rank(self, b))
    else:
        U, values, Vh = ops._linalg_svd(self, False, True)
        rtol = rcond if rcond >= 0 else finfo(values.dtype).eps
        inverted = _inverted(values, values.new_zeros(()), rtol)
        solution.copy_(Vh.mH @ (inverted.unsqueeze(-1) * (U.mH @ b)))
        rank.copy_((inverted != 0).sum(-1))
        if singular_values.numel():
            singular_values.copy_(values)


def _solve_full_rank(A: Any, b: Any) -> Any:
    """R^-1 Q^H b, where A = QR; of wide A the smallest solution, Q R^-H b, where A^H = QR."""
    rows, columns = A.shape[-2:]
    if rows >= columns:
        factors, scales = ops.geqrf(A)
        seen = ops.ormqr(factors, scales, b.contiguous(), True, True)
        R = factors.narrow(-2, 0, columns)
        return ops.linalg_solve_triangular(R, seen.narrow(-2, 0, columns), upper=True)
    factors, scales = ops.geqrf(A.mH)
    R = factors.narrow(-2, 0, rows).mH
    found = ops.linalg_solve_triangular(R, b, upper=False)
    rest = found.new_zeros((*found.shape[:-2], columns - rows, found.shape[-1]))
    return ops.ormqr(factors, scales, ops.cat([found, rest], -2), True, False)


def pinv(out: Any, self: Any, atol: Any, rtol: Any, hermitian: bool) -> None:
    """Write pseudo-inverses; singular values up to max(atol, rtol * the largest) count as 0."""
    if not out.numel():
        return
    if hermitian:
        values, left = ops._linalg_eigh(self, "L", True)
        right = left
    else:
        left, values, right = ops._linalg_svd(self, False, True)
        right = right.mH
    inverted = _inverted(values, ops.real(atol), ops.real(rtol))
    out.copy_((right * inverted.unsqueeze(-2)) @ left.mH)


def _inverted(values: Any, atol: Any, rtol: Any) -> Any:
    """The inverses of values of each row, 0 for those that count as 0."""
    sizes = values.abs()
    bound = ops.maximum(rtol * sizes.amax(-1), atol).to(values.dtype)
    return ops.where(sizes > bound.unsqueeze(-1), values.reciprocal(), 0)
