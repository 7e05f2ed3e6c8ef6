"""Singular values, eigenvalues and what comes with them, matrix by matrix.

Shapes were checked by `runtime.ops.shapes.linalg`. An iteration that does not converge raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels.cpu.linalg import spectra_plans
from torchgen_out._runtime.kernels.cpu.linalg.lapack import (
    broadcast_stack,
    numpy_threads,
    put,
    routine,
    rows_of,
    stack,
    workspace,
)
from torchgen_out._runtime.kernels.cpu.planned import or_arrays

Array = Any


@or_arrays(spectra_plans.plan_svd, results=3)
def _linalg_svd(
    U: Array,
    S: Array,
    Vh: Array,
    A: Array,
    full_matrices: bool,
    compute_uv: bool,
    driver: str | None,
) -> None:
    """Write singular values and, unless U and Vh are empty, singular vectors.

    The row-major input is its transpose to LAPACK: A^T = conj(V) S U^T.
    """
    rows, columns = A.shape[-2:]
    if not A.size:
        if compute_uv:
            U[...], Vh[...] = np.eye(*U.shape[-2:]), np.eye(*Vh.shape[-2:])
        return
    dtype, flags = A.dtype, {"compute_uv": compute_uv, "full_matrices": full_matrices}
    gesdd = routine("gesdd", dtype)
    (lwork,) = workspace("gesdd", dtype, columns, rows, int(compute_uv), int(full_matrices))
    values = rows_of(S)
    left, right = (stack(U), stack(Vh)) if compute_uv else (None, None)
    for i, matrix in enumerate(broadcast_stack(A, A.shape[:-2])):
        own = np.array(matrix, order="C")
        if not np.isfinite(own).all():  # with them LAPACK's iteration need not end
            if np.isnan(own).any():
                raise errors.not_converged("linalg.svd", _number(i, A), "singular values")
            values[i] = np.nan
            if compute_uv:
                left[i], right[i] = np.nan, np.nan
            continue
        v, values[i], u, info = gesdd(own.T, lwork=lwork, overwrite_a=1, **flags)
        if info != 0:
            raise errors.not_converged("linalg.svd", _number(i, A), "singular values")
        if compute_uv:
            left[i], right[i] = u.T, v.T


@or_arrays(spectra_plans.plan_eigh, results=2, any_order=True)
def _linalg_eigh(
    eigenvalues: Array, eigenvectors: Array, A: Array, UPLO: str, compute_v: bool
) -> None:
    """Write the eigenvalues of Hermitian matrices, ascending, and eigenvectors if asked for."""
    if not A.size:
        return
    syevd = routine("syevd", A.dtype)
    lower = UPLO in "lL"
    sizes = workspace("syevd", A.dtype, A.shape[-1], int(compute_v), int(lower))
    names = ("lwork", "liwork", "lrwork") if A.dtype.kind == "c" else ("lwork", "liwork")
    options = {**dict(zip(names, sizes, strict=True)), "compute_v": compute_v, "overwrite_a": 1}
    values = rows_of(eigenvalues)
    vectors = stack(eigenvectors) if compute_v else None
    for i, matrix in enumerate(broadcast_stack(A, A.shape[:-2])):
        own = vectors[i] if compute_v else np.empty(matrix.shape, A.dtype, order="F")
        np.copyto(own, matrix)
        values[i], found, info = syevd(own, lower=lower, **options)
        if info != 0:
            raise errors.not_converged("linalg.eigh", _number(i, A), "eigenvalues")
        if compute_v:
            put(own, found)


def linalg_eig(eigenvalues: Array, eigenvectors: Array | None, self: Array) -> None:
    """Write complex eigenvalues and, if asked for, eigenvectors of unit length."""
    name = "linalg.eigvals" if eigenvectors is None else "linalg.eig"
    try:
        with numpy_threads(self):
            if eigenvectors is None:
                eigenvalues[...] = np.linalg.eigvals(self)
            else:
                eigenvalues[...], eigenvectors[...] = np.linalg.eig(self)
    except np.linalg.LinAlgError as error:
        if not np.isfinite(self).all():
            raise errors.not_finite(name) from error
        raise errors.not_converged(name, None, "eigenvalues") from error


def _number(i: int, array: Array) -> int | None:
    """Which matrix of a batch, for a message; None if there is only one."""
    return i if array.ndim > 2 else None
