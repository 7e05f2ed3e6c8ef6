"""Linear systems, inverses and determinants on the CPU, matrix by matrix.

Shapes were checked by `runtime.ops.shapes.linalg`. Failures are numbers in `info`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels.cpu.folding import broadcast, contiguous
from torchgen_out._runtime.kernels.cpu.linalg import lapack, lu, lu_plans
from torchgen_out._runtime.kernels.cpu.linalg.factorisations import check_pivots, factor_in_place
from torchgen_out._runtime.kernels.cpu.linalg.lapack import (
    broadcast_stack,
    put,
    routine,
    rows_of,
    stack,
    workspace,
)
from torchgen_out._runtime.kernels.cpu.planned import or_arrays

Array = Any
quiet = np.errstate(all="ignore")


@or_arrays(lu_plans.plan_inverse, results=2)
def linalg_inv_ex(inverse: Array, info: Array, A: Array, check_errors: bool) -> None:
    """Write the inverses; of a singular matrix nothing that means anything."""
    if not inverse.size:
        info.fill(0)
        return
    if lu.compiled(inverse.dtype) is None:
        _invert(inverse, info, A)
    else:
        factors = np.array(A, order="C")
        pivots = np.empty(A.shape[:-1], np.int32)
        factor_in_place(factors, pivots, info)
        _solve_factored(inverse, factors, pivots, np.eye(A.shape[-1]), True, False)
    if check_errors:
        errors.check_info("linalg.inv_ex", info, errors.singular_matrix)


def _invert(inverse: Array, info: Array, A: Array) -> None:
    """By LAPACK, to which a row-major matrix is its transpose, and so is the inverse."""
    np.copyto(inverse, A)
    info.fill(0)
    dtype, numbers = inverse.dtype, info.reshape(-1)
    getrf, getri = routine("getrf", dtype), routine("getri", dtype)
    (lwork,) = workspace("getri", dtype, inverse.shape[-1])
    for i, matrix in enumerate(stack(inverse)):
        factors, pivots, numbers[i] = getrf(matrix.T, overwrite_a=1)
        if numbers[i] == 0:
            put(matrix.T, getri(factors, pivots, lwork=lwork, overwrite_lu=1)[0])


@or_arrays(lu_plans.plan_solve, results=4, any_order=True)
def _linalg_solve_ex(
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
    np.copyto(LU, A)
    factor_in_place(LU, pivots, info)
    is_vector = result.ndim < LU.ndim
    if is_vector:
        result, B = result[..., None], B[..., None]
    _solve_factored(result, LU, pivots, B, left, adjoint=False)


@or_arrays(lu_plans.plan_lu_solve, any_order=True)
def linalg_lu_solve(
    out: Array, LU: Array, pivots: Array, B: Array, left: bool, adjoint: bool
) -> None:
    """Write the solution of A X = B (or of another side, or of A^H), given the factors of A."""
    check_pivots("lu_solve", pivots, LU.shape[-1])
    _solve_factored(out, LU, pivots, B, left, adjoint)


def _solve_factored(
    out: Array, LU: Array, pivots: Array, B: Array, left: bool, adjoint: bool
) -> None:
    """X A = B is A^T X^T = B^T, and X A^H = B is A conj(X)^T = conj(B)^T."""
    if not out.size:
        return
    blocked = lu.compiled(out.dtype)
    if blocked is not None:
        _solve_blocked(blocked, out, LU, pivots, B, left, adjoint)
        return
    conjugated = adjoint and not left and out.dtype.kind == "c"
    np.copyto(out, np.conj(B) if conjugated else B)
    getrs = routine("getrs", out.dtype)
    trans = (2 if adjoint else 0) if left else (0 if adjoint else 1)
    batch = out.shape[:-2]
    swaps = broadcast(pivots, (*batch, pivots.shape[-1]))
    each = zip(stack(out), broadcast_stack(LU, batch), rows_of(swaps), strict=True)
    for matrix, factors, swapped in each:
        right = matrix if left else matrix.T
        x, _ = getrs(factors, swapped - 1, right, trans=trans, overwrite_b=1)
        put(right, x)
    if conjugated:
        np.conj(out, out=out)


def _solve_blocked(
    blocked: Any, out: Array, LU: Array, pivots: Array, B: Array, left: bool, adjoint: bool
) -> None:
    """Real systems: out is row-major, so that left ones are solved in place."""
    batch = out.shape[:-2]
    factors, swaps = dense(LU, (*batch, *LU.shape[-2:])), dense(pivots, (*batch, LU.shape[-1]))
    if left:
        np.copyto(out, B)
        blocked.solve_all(stack(factors), rows_of(swaps), stack(out), adjoint)
    else:
        turned = np.empty((*batch, *out.shape[:-3:-1]), out.dtype)
        np.copyto(turned, B.swapaxes(-1, -2))
        blocked.solve_all(stack(factors), rows_of(swaps), stack(turned), not adjoint)
        np.copyto(out, turned.swapaxes(-1, -2))


def dense(array: Array, sizes: tuple[int, ...]) -> Array:
    """The array broadcast and row-major; itself if it is."""
    return contiguous(broadcast(array, sizes))


@or_arrays(lu_plans.plan_solve_triangular)
@quiet
def linalg_solve_triangular(
    out: Array, self: Array, B: Array, upper: bool, left: bool, unitriangular: bool
) -> None:
    """Write the solution of A X = B, or X A = B, for triangular A.

    To BLAS the row-major X is its transpose: X^T A^T = B^T, or A^T X^T = B^T.
    """
    np.copyto(out, B)
    if not out.size:
        return
    blocked = lu.compiled(out.dtype) if left else None
    if blocked is not None:
        is_turned = self.flags.f_contiguous and not self.flags.c_contiguous and self.ndim == 2
        triangles = dense(self.T if is_turned else self, (*out.shape[:-2], *self.shape[-2:]))
        blocked.solve_triangles(stack(triangles), stack(out), upper, unitriangular, is_turned)
        return
    trsm = lapack.blas("trsm", out.dtype)
    for matrix, triangle in zip(stack(out), broadcast_stack(self, out.shape[:-2]), strict=True):
        by_columns = triangle.flags.f_contiguous and not triangle.flags.c_contiguous
        found = trsm(
            1,
            triangle if by_columns else triangle.T,
            matrix.T,
            side=left,
            lower=upper != by_columns,
            trans_a=by_columns,
            diag=unitriangular,
            overwrite_b=1,
        )
        put(matrix.T, found)


# -- determinants -----------------------------------------------------------------------------


@or_arrays(lu_plans.plan_det, results=3, any_order=True)
@quiet
def _linalg_det(result: Array, LU: Array, pivots: Array, A: Array) -> None:
    """Write the product of the pivots, signed by the swaps, and the factors."""
    _factor(LU, pivots, A)
    blocked = lu.compiled(LU.dtype)
    if blocked is not None:
        blocked.determinants(stack(LU), rows_of(pivots), result.reshape(-1))
        return
    diagonal = LU.diagonal(axis1=-2, axis2=-1)
    np.multiply(diagonal.prod(-1), _swap_sign(pivots), out=result)


@or_arrays(lu_plans.plan_slogdet, results=4, any_order=True)
@quiet
def _linalg_slogdet(sign: Array, logabsdet: Array, LU: Array, pivots: Array, A: Array) -> None:
    """Write sign and logarithm of the determinant's magnitude, and the factors."""
    _factor(LU, pivots, A)
    diagonal = LU.diagonal(axis1=-2, axis2=-1)
    size = np.abs(diagonal)
    directions = np.where(size == 0, 0, diagonal / size)
    np.multiply(directions.prod(-1), _swap_sign(pivots), out=sign)
    np.sum(np.log(size), -1, out=logabsdet)


def _factor(LU: Array, pivots: Array, A: Array) -> None:
    np.copyto(LU, A)
    factor_in_place(LU, pivots, np.empty(LU.shape[:-2], np.int32))


def _swap_sign(pivots: Array) -> Array:
    """-1 for an odd number of swaps, 1 for an even one."""
    in_place = np.arange(1, pivots.shape[-1] + 1)
    return 1 - 2 * ((pivots != in_place).sum(-1) & 1)
