"""Cholesky, LU and QR factorisations on CUDA by cuSOLVER and cuBLAS, into the given outputs.

Shapes were checked by `runtime.ops.shapes.linalg`. Failures are numbers in `info`, as
LAPACK reports them: they stay on the device unless they are to be checked, which waits for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.direct import LibraryQueue as Queue
from torchgen_out._runtime.kernels.cuda.direct import direct
from torchgen_out._runtime.kernels.cuda.linalg import matrix_parts
from torchgen_out._runtime.kernels.cuda.linalg.columns import (
    by_columns,
    copied,
    finish,
    matrices,
    places,
    set_diagonal,
)
from torchgen_out._runtime.kernels.cuda.linalg.small_matrices import (
    addresses,
    batch_of,
    go_together,
)
from torchgen_out._runtime.kernels.cuda.queue import Array, contiguous

PLAIN, TRANSPOSED, ADJOINT = 0, 1, 2
"""What a system's matrix is: A, its transpose, its adjoint."""


def check(queue: Queue, operator: str, info: Array, failure: Callable[..., Exception]) -> None:
    """Wait for the numbers that say what failed, and raise it."""
    numbers = np.array(queue.read(contiguous(queue, info)), np.int32).reshape(info.sizes)
    errors.check_info(operator, numbers, failure)


@direct
def linalg_cholesky_ex(
    queue: Queue, factor: Array, info: Array, self: Array, upper: bool, check_errors: bool
) -> None:
    """Write the triangular factor. Only the triangle that it replaces is read."""
    queue.fill(info, 0)
    work = copied(queue, self)
    if factor.numel and go_together(work):
        queue.solver.cholesky_batch(batch_of(queue, work), upper, next(places(info, 1)))
    elif factor.numel:
        for matrix, number in zip(matrices(work), places(info, 1), strict=True):
            queue.solver.cholesky(matrix, upper, number)
    matrix_parts.copy_triangle(queue, factor, work, upper)
    if check_errors:
        check(queue, "linalg.cholesky_ex", info, errors.not_positive_definite)


@direct
def cholesky_solve(queue: Queue, out: Array, self: Array, input2: Array, upper: bool) -> None:
    """Write A^-1 @ self, where input2 is the Cholesky factor of A."""
    work = copied(queue, self.expanded(out.sizes), out)
    _solve_cholesky(queue, work, input2, upper)
    finish(queue, out, work)


def _solve_cholesky(queue: Queue, right: Array, factor: Array, upper: bool) -> None:
    """Replace right-hand sides by solutions: of small ones by two triangular systems each."""
    if not right.numel:
        return
    factors = copied(queue, factor.expanded((*right.sizes[:-2], *factor.sizes[-2:])))
    if go_together(factors):
        a, b = batch_of(queue, factors), batch_of(queue, right)
        for operation in (ADJOINT, PLAIN) if upper else (PLAIN, ADJOINT):
            queue.blas.solve_triangular_batch(a, b, upper, True, False, operation)
        return
    info = queue.empty((1,), dtypes.int32)
    for a, b in zip(matrices(factors), matrices(right), strict=True):
        queue.solver.cholesky_solve(a, b, upper, info.address)


# -- LU ----------------------------------------------------------------------------------------


@direct
def linalg_lu_factor_ex(
    queue: Queue,
    LU: Array,
    pivots: Array,
    info: Array,
    A: Array,
    pivot: bool,
    check_errors: bool,
) -> None:
    """Write both factors into one matrix, and the rows swapped, counted from 1."""
    factor(queue, LU, pivots, info, A)
    if check_errors:
        check(queue, "torch.linalg.lu_factor_ex", info, errors.singular_factor)


def factor(queue: Queue, LU: Array, pivots: Array, info: Array, A: Array) -> tuple[Array, Array]:
    """Write factors, pivots and infos; return the factors by columns, and the pivots."""
    queue.fill(info, 0)
    work = copied(queue, A, LU)
    together = go_together(work) and work.sizes[-1] == work.sizes[-2]
    swaps = queue.empty(pivots.sizes, dtypes.int32 if together else dtypes.int64)
    if together:
        queue.blas.lu_batch(batch_of(queue, work), swaps.address, next(places(info, 1)))
        queue.copy(pivots, swaps)
    elif A.numel:
        rows = places(swaps, swaps.sizes[-1])
        for matrix, row, number in zip(matrices(work), rows, places(info, 1), strict=True):
            queue.solver.lu(matrix, row, number)
        queue.copy(pivots, swaps)
    finish(queue, LU, work)
    return work, swaps


@direct
def lu_permutation(queue: Queue, P: Array, pivots: Array, rows: int, dtype: Any) -> None:
    """Write the permutation matrices of rows swapped one after the other: A = P L U."""
    matrix_parts.write_permutations(queue, P, contiguous(queue, pivots))


# -- QR ----------------------------------------------------------------------------------------


@direct
def linalg_qr(queue: Queue, Q: Array, R: Array, A: Array, mode: str) -> None:
    """Write the factors; mode 'r' leaves Q empty.

    Mode 'raw' writes R and the reflectors below it to the one, their scales to the other.
    """
    if mode == "raw":
        if A.numel:
            work, tau = reflect(queue, copied(queue, A, Q))
            finish(queue, Q, work)
            queue.copy(R, tau)
        return
    if not A.numel:
        queue.fill(R, 0)
        if mode != "r":
            queue.fill(Q, 0)
            set_diagonal(queue, Q)
        return
    work, tau = reflect(queue, copied(queue, A))
    matrix_parts.copy_triangle(queue, R, work, upper=True)
    if mode != "r":
        made = by_columns(queue, Q.sizes, Q.dtype)
        width = min(Q.sizes[-1], A.sizes[-1])
        sizes = (*A.sizes[:-1], width)
        queue.copy(made.at(0, sizes, made.strides), work.at(0, sizes, work.strides))
        _multiply(queue, made, tau)
        finish(queue, Q, made)


def reflect(queue: Queue, work: Array) -> tuple[Array, Array]:
    """Replace matrices by R and the reflectors; return them and their scales."""
    smaller = min(work.sizes[-2:])
    tau = queue.empty((*work.sizes[:-2], smaller), work.dtype)
    if go_together(work):
        batch = batch_of(queue, work)
        queue.blas.qr_batch(batch, addresses(queue, tau, smaller, batch.count))
        return work, tau
    info = queue.empty((1,), dtypes.int32)
    for matrix, scales in zip(matrices(work), places(tau, smaller), strict=True):
        queue.solver.qr(matrix, scales, info.address)
    return work, tau


def _multiply(queue: Queue, work: Array, tau: Array) -> None:
    """Replace reflectors by the first columns of their product."""
    info, count = queue.empty((1,), dtypes.int32), tau.sizes[-1]
    for matrix, scales in zip(matrices(work), places(tau, count), strict=True):
        queue.solver.multiply_reflectors(matrix, scales, count, info.address)


@direct
def linalg_householder_product(queue: Queue, out: Array, input: Array, tau: Array) -> None:
    """Write the first columns of the product of Householder reflections."""
    if not tau.numel:
        queue.fill(out, 0)
        set_diagonal(queue, out)
        return
    work = copied(queue, input, out)
    _multiply(queue, work, contiguous(queue, tau))
    finish(queue, out, work)


@direct
def ormqr(
    queue: Queue, out: Array, self: Array, input2: Array, input3: Array, left: bool, transpose: bool
) -> None:
    """Write the product of a matrix and Householder reflections, never forming these."""
    work = copied(queue, input3, out)
    tau, info = contiguous(queue, input2), queue.empty((1,), dtypes.int32)
    count = tau.sizes[-1]
    if work.numel and tau.numel:
        each = zip(
            matrices(copied(queue, self), count), places(tau, count), matrices(work), strict=True
        )
        for a, scales, c in each:
            queue.solver.apply_reflectors(a, scales, c, left, transpose, info.address)
    finish(queue, out, work)
