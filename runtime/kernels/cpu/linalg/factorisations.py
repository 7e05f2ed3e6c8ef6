"""Cholesky, LU and QR factorisations, matrix by matrix, into the given outputs.

Shapes were checked by `runtime.ops.shapes.linalg`, which also says in which order the
results are stored. Failures are numbers in `info`, as LAPACK reports them.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels.cpu.linalg import factorisation_plans, lu, lu_plans
from torchgen_out._runtime.kernels.cpu.linalg.lapack import (
    broadcast_stack,
    put,
    routine,
    rows_of,
    stack,
    workspace,
)
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING, operand, out, plan_loop, refusing
from torchgen_out._runtime.kernels.cpu.planned import or_arrays, planned
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed

Array = Any


@or_arrays(factorisation_plans.plan_cholesky, results=2)
def linalg_cholesky_ex(
    factor: Array, info: Array, self: Array, upper: bool, check_errors: bool
) -> None:
    """Write the triangular factor. Only the triangle that it replaces is read.

    To LAPACK the row-major input is its conjugate, and the other triangle the one meant; the
    factor of that, read row by row, is the factor asked for.
    """
    np.copyto(factor, self)
    if not factor.size:
        info.fill(0)
        return
    potrf, numbers = routine("potrf", factor.dtype), info.reshape(-1)
    for i, matrix in enumerate(stack(factor)):
        found, numbers[i] = potrf(matrix.T, lower=upper, clean=1, overwrite_a=1)
        put(matrix.T, found)
        failed = np.isnan(matrix.diagonal())
        if not numbers[i] and failed.any():  # OpenBLAS goes on behind a NaN
            numbers[i] = failed.argmax() + 1
    if check_errors:
        errors.check_info("linalg.cholesky_ex", info, errors.not_positive_definite)


@or_arrays(factorisation_plans.plan_cholesky_inverse)
def cholesky_inverse(out: Array, self: Array, upper: bool) -> None:
    """Write the inverse of the matrix whose Cholesky factor is given."""
    np.copyto(out, self)
    if not out.size:
        return
    potri = routine("potri", out.dtype)
    for matrix in stack(out):
        inverse, info = potri(matrix.T, lower=upper, overwrite_c=1)
        if info:
            raise factorisation_plans.singular_factor(self, self.shape)
        put(matrix.T, inverse)
        half = np.triu(matrix, 1) if upper else np.tril(matrix, -1)
        diagonal = np.diag(matrix.diagonal().real)
        np.add(half + half.conj().T, diagonal, out=matrix)


@or_arrays(factorisation_plans.plan_cholesky_solve, any_order=True)
def cholesky_solve(out: Array, self: Array, input2: Array, upper: bool) -> None:
    """Write A^-1 @ self, where input2 is the Cholesky factor of A."""
    np.copyto(out, self)
    if not out.size:
        return
    potrs, factors = routine("potrs", out.dtype), broadcast_stack(input2, out.shape[:-2])
    for matrix, factor in zip(stack(out), factors, strict=True):
        put(matrix, potrs(factor, matrix, lower=not upper, overwrite_b=1)[0])


# -- LU ----------------------------------------------------------------------------------------


@or_arrays(lu_plans.plan_factor, results=3, any_order=True)
def linalg_lu_factor_ex(
    LU: Array, pivots: Array, info: Array, A: Array, pivot: bool, check_errors: bool
) -> None:
    """Write both factors into one matrix, and the rows swapped, counted from 1."""
    np.copyto(LU, A)
    factor_in_place(LU, pivots, info)
    if check_errors:
        errors.check_info("torch.linalg.lu_factor_ex", info, errors.singular_factor)


def factor_in_place(LU: Array, pivots: Array, info: Array) -> None:
    """Replace matrices by their factors, stored as the shape functions say."""
    info.fill(0)
    if not LU.size:
        return
    swaps, numbers = rows_of(pivots), info.reshape(-1)
    blocked = lu.compiled(LU.dtype) if LU.flags.c_contiguous else None
    if blocked is not None and LU.shape[-1] == LU.shape[-2]:
        blocked.factor_all(stack(LU), swaps, numbers)
        return
    getrf = routine("getrf", LU.dtype)
    for i, matrix in enumerate(stack(LU)):
        factors, swapped, numbers[i] = getrf(matrix, overwrite_a=1)
        np.add(swapped, 1, out=swaps[i])
        put(matrix, factors)


def check_pivots(operator: str, pivots: Array, rows: int) -> None:
    """Raise RuntimeError unless all are in [1, rows]: loops and LAPACK swap rows unseen."""
    if pivots.size and (pivots.min() < 1 or pivots.max() > rows):
        raise errors.pivots_out_of_range(operator)


@planned()
def lu_permutation(P: TensorSpec, pivots: TensorSpec, rows: int, dtype: Any) -> LaunchPlan:
    """Write the permutation matrices of rows swapped one after the other: A = P L U."""
    if not P.numel:
        return NOTHING
    count, swaps = prod(pivots.sizes[:-1]), pivots.sizes[-1]
    views = out(0, count, rows, rows), operand(0, count, swaps)
    plan = plan_loop(fill_permutations, [P], [pivots], *views)
    return refusing(plan, lambda *args: errors.pivots_out_of_range("lu_unpack"))


@typed
def fill_permutations(out, pivots):
    """Column i of a matrix has its one where row i came from. False for a swap with no row."""
    rows = out.shape[1]
    order = np.empty(rows, np.int64)
    for matrix in range(out.shape[0]):
        for i in range(pivots.shape[1]):
            if pivots[matrix, i] < 1 or pivots[matrix, i] > rows:
                return False
    for matrix in range(out.shape[0]):
        for i in range(rows):
            order[i] = i
            for j in range(rows):
                out[matrix, i, j] = T(0)
        for i in range(pivots.shape[1]):
            j = pivots[matrix, i] - 1
            order[i], order[j] = order[j], order[i]
        for i in range(rows):
            out[matrix, order[i], i] = T(1)
    return True


# -- QR ----------------------------------------------------------------------------------------


@or_arrays(factorisation_plans.plan_qr, results=2, any_order=True)
def linalg_qr(Q: Array, R: Array, A: Array, mode: str) -> None:
    """Write the factors; mode 'r' leaves Q empty.

    Mode 'raw' writes R and the reflectors below it to the one, their scales to the other.
    """
    if mode == "raw":
        np.copyto(Q, A)
        for matrix, scales in zip(stack(Q), rows_of(R), strict=True) if A.size else ():
            scales[...] = reflect(matrix)
        return
    rows, columns = A.shape[-2:]
    in_place = mode != "r" and Q.shape[-1] >= columns
    work = None if in_place else np.empty((columns, rows), R.dtype).T
    if not A.size:
        R.fill(0)
        Q[...] = np.eye(*Q.shape[-2:]) if Q.ndim > 1 else 0
        return
    factors = stack(Q) if mode != "r" else [None] * len(stack(R))
    for matrix, q, r in zip(broadcast_stack(A, A.shape[:-2]), factors, stack(R), strict=True):
        _qr(matrix, q, r, work)


def _qr(matrix: Array, q: Array | None, r: Array, work: Array | None) -> None:
    """One factorisation; work: where it is done if not in q's first columns."""
    reflectors = work if work is not None or q is None else q[:, : matrix.shape[1]]
    np.copyto(reflectors, matrix)
    tau = reflect(reflectors)
    r.fill(0)
    np.copyto(r, reflectors[: r.shape[0]], where=upper_triangle(*r.shape))
    if q is not None:
        if work is not None:
            np.copyto(q, work[:, : q.shape[1]])
        multiply_reflectors(q, tau)


@lru_cache(maxsize=64)
def upper_triangle(rows: int, columns: int) -> Array:
    """Whether elements stand on or above the diagonal."""
    return np.tri(columns, rows, dtype=bool).T


def reflect(matrix: Array) -> Array:
    """Replace a matrix, stored by columns, by R and the reflectors; return their scales."""
    geqrf = routine("geqrf", matrix.dtype)
    (lwork,) = workspace("geqrf", matrix.dtype, *matrix.shape)
    found, tau, *_ = geqrf(matrix, lwork=lwork, overwrite_a=1)
    put(matrix, found)
    return tau


def multiply_reflectors(matrix: Array, tau: Array) -> None:
    """Replace reflectors, stored by columns, by the first columns of their product."""
    orgqr = routine("orgqr", matrix.dtype)
    put(matrix, orgqr(matrix, tau, lwork=max(1, 32 * matrix.shape[1]), overwrite_a=1)[0])


@or_arrays(factorisation_plans.plan_householder_product, any_order=True)
def linalg_householder_product(out: Array, input: Array, tau: Array) -> None:
    """Write the first columns of the product of Householder reflections."""
    np.copyto(out, input)
    if not tau.size:
        out[...] = np.eye(*out.shape[-2:])
    elif out.size:
        for matrix, scales in zip(stack(out), rows_of(tau), strict=True):
            multiply_reflectors(matrix, scales)


@or_arrays(factorisation_plans.plan_ormqr, any_order=True)
def ormqr(
    out: Array, self: Array, input2: Array, input3: Array, left: bool, transpose: bool
) -> None:
    """Write the product of a matrix and Householder reflections, never forming these."""
    np.copyto(out, input3)
    if not out.size or not input2.size:
        return
    function = routine("ormqr", out.dtype)
    side = "L" if left else "R"
    trans = "N" if not transpose else ("C" if out.dtype.kind == "c" else "T")
    lwork = 64 * max(out.shape[-2:])
    for matrix, reflectors, tau in zip(stack(out), stack(self), rows_of(input2), strict=True):
        found = function(side, trans, reflectors, tau, matrix, lwork, overwrite_c=1)[0]
        put(matrix, found)
