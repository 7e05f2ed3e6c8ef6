"""Least squares and pseudo-inverses on the CPU, matrix by matrix.

Shapes were checked by `runtime.ops.shapes.linalg`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels.cpu.linalg import least_squares_plans, spectra_plans
from torchgen_out._runtime.kernels.cpu.linalg.lapack import (
    broadcast_stack,
    numpy_threads,
    routine,
    rows_of,
    stack,
    workspace,
)
from torchgen_out._runtime.kernels.cpu.planned import or_arrays

Array = Any


@or_arrays(least_squares_plans.plan_least_squares, results=3, any_order=True)
def _linalg_lstsq(
    solution: Array,
    rank: Array,
    singular_values: Array,
    self: Array,
    b: Array,
    rcond: float,
    driver: str,
) -> None:
    """Write solutions, ranks where the driver finds them, and singular values where it has them."""
    rank.fill(0)
    solution.fill(0)
    if not solution.size or not self.size:
        return
    batch, solve = solution.shape[:-2], DRIVERS[driver]
    rows, columns = self.shape[-2:]
    ranks = rank.reshape(-1) if driver != "gels" else None
    values = rows_of(singular_values) if driver in ("gelsd", "gelss") else None
    both = zip(broadcast_stack(self, batch), broadcast_stack(b, batch), strict=True)
    found = stack(solution)
    for i, (matrix, right) in enumerate(both):
        padded = np.zeros((max(rows, columns), right.shape[1]), b.dtype, order="F")
        padded[:rows] = right
        x, of_rank, of_values, info = solve(np.array(matrix, order="F"), padded, rcond)
        if info > 0:
            raise errors.not_converged(
                "torch.linalg.lstsq", i if batch else None, "singular values"
            )
        found[i] = x[:columns]
        if ranks is not None:
            ranks[i] = of_rank
        if values is not None:
            values[i] = of_values


def _gels(matrix: Array, right: Array, rcond: float) -> tuple[Any, ...]:
    """By QR, for matrices of full rank."""
    rows, columns = matrix.shape
    (lwork,) = workspace("gels", matrix.dtype, rows, columns, right.shape[1])
    _, x, info = routine("gels", matrix.dtype)(
        matrix, right, lwork=lwork, overwrite_a=1, overwrite_b=1
    )
    return x, None, None, info


def _gelsy(matrix: Array, right: Array, rcond: float) -> tuple[Any, ...]:
    """By QR with exchanges of columns."""
    rows, columns = matrix.shape
    (lwork,) = workspace("gelsy", matrix.dtype, rows, columns, right.shape[1], rcond)
    exchanges = np.zeros(columns, np.int32)
    _, x, _, rank, info = routine("gelsy", matrix.dtype)(
        matrix, right, exchanges, rcond, lwork, overwrite_a=1, overwrite_b=1
    )
    return x, rank, None, info


def _gelsd(matrix: Array, right: Array, rcond: float) -> tuple[Any, ...]:
    """By singular values, divide and conquer."""
    rows, columns = matrix.shape
    lwork, *sizes = workspace("gelsd", matrix.dtype, rows, columns, right.shape[1], rcond)
    if matrix.dtype.kind == "c":
        sizes = [sizes[1], sizes[0]] if len(sizes) > 1 else sizes
    x, values, rank, info = routine("gelsd", matrix.dtype)(
        matrix, right, lwork, *reversed(sizes), rcond, overwrite_a=1, overwrite_b=1
    )
    return x, rank, values, info


def _gelss(matrix: Array, right: Array, rcond: float) -> tuple[Any, ...]:
    """By singular values."""
    rows, columns = matrix.shape
    (lwork,) = workspace("gelss", matrix.dtype, rows, columns, right.shape[1], rcond)
    _, x, values, rank, _, info = routine("gelss", matrix.dtype)(
        matrix, right, cond=rcond, lwork=lwork, overwrite_a=1, overwrite_b=1
    )
    return x, rank, values, info


DRIVERS = {"gels": _gels, "gelsy": _gelsy, "gelsd": _gelsd, "gelss": _gelss}


@or_arrays(spectra_plans.plan_pinv)
def _linalg_pinv(out: Array, self: Array, atol: Array, rtol: Array, hermitian: bool) -> None:
    """Write pseudo-inverses; singular values up to max(atol, rtol * the largest) count as 0."""
    if not self.size:
        return
    finite = np.isfinite(self).all((-2, -1))
    if np.isnan(self).any():
        raise errors.not_converged("linalg.pinv", None, "singular values")
    self = np.where(finite[..., None, None], self, 0)  # LAPACK's iteration need not end with inf
    try:
        with numpy_threads(self):
            if hermitian:
                values, U = np.linalg.eigh(self)
                Vh = np.conj(U.swapaxes(-1, -2))
            else:
                U, values, Vh = np.linalg.svd(self, full_matrices=False)
    except np.linalg.LinAlgError as error:
        raise errors.not_converged("linalg.pinv", None, "singular values") from error
    sizes = np.abs(values)
    bound = np.maximum(atol, rtol * sizes.max(-1, initial=0))
    kept = sizes > bound[..., None]
    inverted = np.where(kept, 1 / np.where(kept, values, 1), 0).astype(values.dtype)
    adjoint = np.conj(U.swapaxes(-1, -2))
    np.matmul(np.conj(Vh.swapaxes(-1, -2)) * inverted[..., None, :], adjoint, out=out)
    out[~finite] = np.nan
