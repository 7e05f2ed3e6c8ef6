"""Errors of factorisations, linear solvers and spectra."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime.errors.dtype_names import scalar_type_name
from torchgen_out._runtime.errors.linalg import LinAlgError


def matrix_expected(operator: str, name: str, ndim: int) -> RuntimeError:
    """An operand has fewer than two dims."""
    return RuntimeError(
        f"{operator}: The input tensor {name} must have at least 2 dimensions, got {ndim}"
    )


def square_expected(operator: str, name: str, sizes: Sequence[int]) -> RuntimeError:
    """Matrices have not as many rows as columns."""
    return RuntimeError(
        f"{operator}: {name} must be batches of square matrices, "
        f"but they are {sizes[-2]} by {sizes[-1]} matrices"
    )


def sides_do_not_fit(
    operator: str, left: bool, sizes_a: Sequence[int], sizes_b: Sequence[int]
) -> RuntimeError:
    """The two sides of a linear system differ in size."""
    equation = "AX = B" if left else "XA = B"
    return RuntimeError(
        f"{operator}: Incompatible shapes of A and B for the equation {equation} "
        f"({sizes_a[-2]}x{sizes_a[-1]} and {sizes_b[-2]}x{sizes_b[-1]})"
    )


def operand_dtypes_differ(operator: str, a: object, b: object) -> RuntimeError:
    """The operands of a solver have two dtypes."""
    return RuntimeError(
        f"{operator}: Expected A and B to have the same dtype, but found A of type "
        f"{scalar_type_name(a)} and B of type {scalar_type_name(b)} instead"
    )


def no_pivoting_on_cpu(operator: str) -> RuntimeError:
    """LU without exchanges of rows was asked for."""
    return RuntimeError(f"{operator}: LU without pivoting is not implemented on the CPU")


def pivots_out_of_range(operator: str) -> RuntimeError:
    """Pivots that no factorisation gives: they name rows that are not there."""
    return RuntimeError(
        f"pivots passed to {operator} must be between 1 and LU.size(-2) inclusive. Did you "
        "properly pass the result of lu_factor?"
    )


def _at(operator: str, number: int | None) -> str:
    return f"{operator}: " if number is None else f"{operator}: (Batch element {number}): "


def check_info(
    operator: str, info: Any, failure: Callable[[str, int | None, int], Exception]
) -> None:
    """Raise the failure of the first matrix for which LAPACK reports a number.

    info: an array of int32, one per matrix, 0 for success.
    """
    if info.ndim == 0:
        if info:
            raise failure(operator, None, int(info))
    elif info.any():
        flat = info.reshape(-1)
        number = int((flat != 0).argmax())
        raise failure(operator, number, int(flat[number]))


def not_positive_definite(operator: str, number: int | None, order: int) -> LinAlgError:
    """Cholesky met a pivot that is not positive."""
    return LinAlgError(
        f"{_at(operator, number)}The factorization could not be completed because the input is "
        f"not positive-definite (the leading minor of order {order} is not positive-definite)."
    )


def singular_matrix(operator: str, number: int | None, place: int) -> LinAlgError:
    """A matrix that should be inverted has a zero pivot."""
    return LinAlgError(
        f"{_at(operator, number)}The diagonal element {place} is zero, the inversion could not be "
        "completed because the input matrix is singular."
    )


def singular_factor(operator: str, number: int | None, place: int) -> LinAlgError:
    """The upper factor of an LU factorisation has a zero on its diagonal."""
    return LinAlgError(
        f"{_at(operator, number)}U[{place},{place}] is zero and using it on lu_solve would result "
        "in a division by zero."
    )


def unsolvable(operator: str, number: int | None, place: int) -> LinAlgError:
    """The matrix of a linear system has a zero pivot."""
    return LinAlgError(
        f"{_at(operator, number)}The solver failed because the input matrix is singular "
        f"(pivot {place} is zero)."
    )


def not_converged(operator: str, number: int | None, what: str) -> LinAlgError:
    """An iteration for singular values or eigenvalues gave up."""
    return LinAlgError(
        f"{_at(operator, number)}The algorithm failed to converge because the input matrix is "
        f"ill-conditioned, holds NaN, or has too many repeated {what}."
    )


def not_finite(operator: str) -> RuntimeError:
    """Eigenvalues of a matrix with inf or NaN were asked for."""
    return RuntimeError(f"{operator}: input tensor should not contain infs or NaNs.")


def unknown_word(operator: str, name: str, word: object, known: str) -> RuntimeError:
    """A string argument has none of its values."""
    return RuntimeError(f"{operator}: expected {name} to be one of {known}, but got '{word}'")


def driver_needs_cuda(operator: str) -> RuntimeError:
    """`driver=` was given for a CPU tensor."""
    return RuntimeError(f"{operator}: keyword argument `driver=` is only supported on CUDA inputs")


def ldl_singular() -> RuntimeError:
    """A factor D has a zero on its diagonal, and checks were asked for."""
    return RuntimeError("torch.linalg.ldl_factor_ex: the factor D is singular")


def ldl_pivots() -> RuntimeError:
    """Pivots name no row, or half of a block of two."""
    return RuntimeError("torch.linalg.ldl_solve: pivots are not those of a factorisation")


def ldl_pivots_do_not_fit(sizes: Sequence[int], dtype: object) -> RuntimeError:
    """Pivots have other sizes than the rows, or are no integers."""
    return RuntimeError(
        "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, and "
        f"integers, but got pivots with shape {list(sizes)} and dtype {dtype} instead"
    )


def tolerance_is_complex(operator: str, name: str, dtype: object) -> RuntimeError:
    """A tolerance for singular values has no order."""
    return RuntimeError(
        f"torch.{operator}: {name} tensor of complex type is not supported. "
        f"Got {scalar_type_name(dtype)}"
    )
