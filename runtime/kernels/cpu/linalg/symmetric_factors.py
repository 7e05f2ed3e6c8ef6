"""Factorisations of symmetric or Hermitian matrices into L D L^T, as LAPACK's sytrf stores them."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels.cpu.linalg import factorisation_plans, lapack
from torchgen_out._runtime.kernels.cpu.planned import or_arrays

Array = Any


@or_arrays(factorisation_plans.plan_ldl_factor, results=3, any_order=True)
def ldl_factor(LD: Array, pivots: Array, info: Array, A: Array, hermitian: bool) -> None:
    """Write L below the diagonal and D on it, the rows swapped, and where D is singular."""
    name = "hetrf" if hermitian and A.dtype.kind == "c" else "sytrf"
    factor = lapack.routine(name, A.dtype)
    for i in np.ndindex(A.shape[:-2]):
        if A.shape[-1]:
            factors, pivots[i], info[i] = factor(A[i], lower=1)
            LD[i] = factors
            for row, of_row in enumerate(LD[i]):
                of_row[row + 1 :] = 0
        else:
            info[i] = 0


@or_arrays(factorisation_plans.plan_ldl_solve, any_order=True)
def ldl_solve(out: Array, LD: Array, pivots: Array, B: Array, hermitian: bool) -> None:
    """Write the solutions. Raises: RuntimeError for pivots that name no row."""
    np.copyto(out, B)
    batch = out.shape[:-2]
    LD = np.broadcast_to(LD, (*batch, *LD.shape[-2:]))
    pivots = np.broadcast_to(pivots, (*batch, pivots.shape[-1]))
    for i in np.ndindex(batch):
        blocks = _blocks(pivots[i])
        _solve_lower(out[i], LD[i], blocks, hermitian)
        _solve_upper(out[i], LD[i].conj() if hermitian else LD[i], blocks)


def _blocks(pivots: Array) -> list[tuple[int, int, int]]:
    """(first row, rows, row to swap the last with) of each block of D."""
    found = []
    k, count = 0, len(pivots)
    while k < count:
        size = 1 if pivots[k] > 0 else 2
        row = abs(int(pivots[min(k + size, count) - 1])) - 1
        if k + size > count or not 0 <= row < count or (size == 2 and pivots[k + 1] >= 0):
            raise errors.ldl_pivots()
        found.append((k, size, row))
        k += size
    return found


def _swap(x: Array, i: int, j: int) -> None:
    if i != j:
        x[[i, j]] = x[[j, i]]


def _solve_lower(x: Array, LD: Array, blocks: list[tuple[int, int, int]], hermitian: bool) -> None:
    """Forward through the swaps, L and D."""
    for k, size, row in blocks:
        _swap(x, k + size - 1, row)
        end = k + size
        x[end:] -= LD[end:, k:end] @ x[k:end]
        if size == 1:
            x[k] /= LD[k, k].real if hermitian else LD[k, k]
        else:
            off = LD[k + 1, k]
            above = off.conj() if hermitian else off
            block = np.array([[LD[k, k], above], [off, LD[k + 1, k + 1]]])
            x[k:end] = np.linalg.solve(block, x[k:end])


def _solve_upper(x: Array, LD: Array, blocks: list[tuple[int, int, int]]) -> None:
    """Backward through the transposed L and the swaps."""
    for k, size, row in reversed(blocks):
        end = k + size
        x[k:end] -= LD[end:, k:end].T @ x[end:]
        _swap(x, end - 1, row)
