"""Factorisations and solvers that check what LAPACK reports, and the older names of both."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import batched
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.factories import creation
from torchgen_out._runtime.ops.shapes.linalg import check_matrices

Failure = Callable[[str, int | None, int], Exception]


def check(operator: str, info: Any, failure: Failure) -> None:
    """Raise the failure of the first matrix that has one; meta tensors have no numbers.

    Numbers on a device are waited for.
    """
    info = batched.whole(info)
    numbers = info.cpu()._dense() if info.is_cuda else info._flat
    if numbers is not None and (numbers[0] if numbers.size == 1 else numbers.any()):
        errors.check_info(operator, numbers.reshape(info._sizes), failure)


# -- Cholesky ----------------------------------------------------------------------------------


def linalg_cholesky(self: Any, upper: bool = False) -> Any:
    """The factor; an error if a matrix is not positive-definite."""
    factor, info = ops.linalg_cholesky_ex(self, upper=upper)
    check("linalg.cholesky", info, errors.not_positive_definite)
    return factor


def cholesky(self: Any, upper: bool = False) -> Any:
    """As linalg.cholesky, with `upper` in second place."""
    factor, info = ops.linalg_cholesky_ex(self, upper=upper)
    check("cholesky", info, errors.not_positive_definite)
    return factor


# -- LU ----------------------------------------------------------------------------------------


def linalg_lu_factor(A: Any, pivot: bool = True) -> Any:
    """The factors in one matrix, and the swaps."""
    return ops.linalg_lu_factor_ex(A, pivot=pivot)[:2]


def linalg_lu(A: Any, pivot: bool = True) -> Any:
    """Permutation, unit lower and upper triangular matrix."""
    LU, pivots, _ = ops.linalg_lu_factor_ex(A, pivot=pivot)
    return unpack(LU, pivots)


def unpack(LU: Any, pivots: Any) -> Any:
    """P, L and U of factors kept in one matrix."""
    *_, rows, columns = LU._sizes
    smaller = min(rows, columns)
    P = ops._lu_permutation(pivots, rows, LU.dtype)
    one = creation.eye_rectangular(rows, smaller, LU.dtype, None, LU.device)
    lower = LU if columns == smaller else LU.narrow(-1, 0, smaller)
    upper = LU if rows == smaller else LU.narrow(-2, 0, smaller)
    return P, lower.tril(-1) + one, upper.triu()


def lu_unpack(
    LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True
) -> Any:
    """P, L and U; those not asked for are empty."""
    if LU_pivots.dtype is not dtypes.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype"
        )
    check_matrices("torch.lu_unpack", LU_data, "LU_data")
    *batch, rows, columns = LU_data._sizes
    expected = (*batch, min(rows, columns))
    if LU_pivots._sizes != expected:
        raise RuntimeError(
            f"torch.lu_unpack: Expected LU_pivots of shape {list(expected)}, "
            f"got {list(LU_pivots.shape)}"
        )
    P, L, U = unpack(LU_data, LU_pivots)
    if unpack_data and unpack_pivots:
        return P, L, U
    empty = LU_data.new_empty((0,))
    return (
        P if unpack_pivots else empty,
        L if unpack_data else empty,
        U if unpack_data else empty,
    )


def lu(A: Any, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """The factors in one matrix and the swaps; with get_infos what LAPACK says of each matrix.

    What is given as out= is resized without a warning, and may have any dtype.
    """
    results = _lu(A, pivot, get_infos)
    if out is None:
        return results
    if not isinstance(out, (tuple, list)):
        raise errors.out_expected("lu", out, "tuple of Tensors")
    if len(out) != len(results):
        raise errors.out_count("lu", len(results), len(out))
    for each, result in zip(out, results, strict=True):
        each.resize_(result.shape).copy_(result)
    return out


def _lu(A: Any, pivot: bool, get_infos: bool) -> Any:
    LU, pivots, info = ops.linalg_lu_factor_ex(A, pivot=pivot)
    if get_infos:
        return LU, pivots, info
    check("lu", info, errors.singular_factor)
    return LU, pivots


def lu_solve(self: Any, LU_data: Any, LU_pivots: Any) -> Any:
    """The solution of A X = self."""
    return ops.linalg_lu_solve(LU_data, LU_pivots, self)


def qr(self: Any, some: bool = True) -> Any:
    """Q and R, reduced or complete."""
    return ops.linalg_qr(self, "reduced" if some else "complete")


# -- linear systems ----------------------------------------------------------------------------


def linalg_solve_ex(A: Any, B: Any, left: bool = True, check_errors: bool = False) -> Any:
    """The solution, and what LAPACK says of each matrix."""
    result, _, _, info = ops._linalg_solve_ex(A, B, left=left)
    if check_errors:
        check("torch.linalg.solve_ex", info, errors.unsolvable)
    return result, info


def linalg_solve(A: Any, B: Any, left: bool = True) -> Any:
    """The solution; an error if a matrix is singular."""
    result, _, _, info = ops._linalg_solve_ex(A, B, left=left)
    check("torch.linalg.solve", info, errors.unsolvable)
    return result


def triangular_solve(
    self: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """The solution of A X = self (A^T X = self), and a copy of A."""
    factor = A.mT if transpose else A
    solution = ops.linalg_solve_triangular(
        factor, self, upper=upper != transpose, unitriangular=unitriangular
    )
    sizes = *solution.shape[:-2], *A.shape[-2:]
    return solution, (A if A._sizes == sizes else A.expand(sizes)).clone()


def linalg_inv(A: Any) -> Any:
    """The inverse; an error if a matrix is singular."""
    inverse, info = ops.linalg_inv_ex(A)
    check("linalg.inv", info, errors.singular_matrix)
    return inverse


# -- determinants ------------------------------------------------------------------------------


def linalg_det(A: Any) -> Any:
    """The determinant."""
    return ops._linalg_det(A)[0]


def linalg_slogdet(A: Any) -> Any:
    """Sign and logarithm of the magnitude of the determinant."""
    return ops._linalg_slogdet(A)[:2]


def logdet(self: Any) -> Any:
    """The logarithm of the determinant; nan for a negative one."""
    sign, logabsdet = ops._linalg_slogdet(self)[:2]
    if self.dtype.is_complex:
        return sign.log() + logabsdet
    return logabsdet.masked_fill(sign < 0, nan)


def _on_host(tensor: Any) -> Any:
    """The tensor where LAPACK reads it; one without data stays what it is."""
    return tensor.cpu() if tensor.is_cuda else tensor


def _like(tensor: Any, result: Any) -> Any:
    """The result where the tensor is."""
    return result.to(tensor.device) if tensor.is_cuda else result


def linalg_ldl_factor_ex(self: Any, hermitian: bool, check_errors: bool) -> Any:
    """Factor on the host, whatever the device. Raises: RuntimeError if D is singular."""
    LD, pivots, info = ops._ldl_factor(_on_host(self), hermitian)
    if check_errors and not info.is_meta and batched.any_true(info):
        raise errors.ldl_singular()
    return tuple([_like(self, each) for each in (LD, pivots, info)])


def linalg_ldl_factor(self: Any, hermitian: bool) -> Any:
    """The factors in one matrix, and the swaps. Raises: RuntimeError if D is singular."""
    return linalg_ldl_factor_ex(self, hermitian, True)[:2]


def linalg_ldl_solve(LD: Any, pivots: Any, B: Any, hermitian: bool) -> Any:
    """Solve on the host, whatever the device."""
    return _like(B, ops._ldl_solve(_on_host(LD), _on_host(pivots), _on_host(B), hermitian))
