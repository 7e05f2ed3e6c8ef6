"""Vector norms on the CPU."""

from __future__ import annotations

import math
from math import inf
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.common.reduced_dims import fold, plan_fold
from torchgen_out._runtime.kernels.cpu.loop_plans import are_small_alike, operand, out, plan_loop
from torchgen_out._runtime.kernels.cpu.planned import or_arrays
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed_sum

Array = Any

SHARES = 16
"""Parts of a long vector whose norms are taken by themselves, however many threads there are."""

quiet = np.errstate(all="ignore")  # inf and NaN are values here, not worth a warning


@typed_sum
def _norm_2(rows, out):
    """Square root of the sum of squares, in float64."""
    for r in range(rows.shape[0]):
        row = rows[r]
        total = 0.0
        for i in range(row.size):
            value = np.float64(row[i])
            total += value * value
        out[r] = math.sqrt(total)


@typed_sum
def _norm_1(rows, out):
    """Sum of magnitudes, in float64."""
    for r in range(rows.shape[0]):
        row = rows[r]
        total = 0.0
        for i in range(row.size):
            total += np.float64(abs(row[i]))
        out[r] = total


@typed_sum
def _norm_0(rows, out):
    """Number of non-zero elements; NaN counts."""
    for r in range(rows.shape[0]):
        row = rows[r]
        count = 0
        for i in range(rows.shape[1]):
            if row[i] != 0:
                count += 1
        out[r] = count


SUMMED_NORMS = {0: _norm_0, 1: _norm_1, 2: _norm_2}


def plan_norm(
    result: TensorSpec, self: TensorSpec, ord: Any, dim: Any, keepdim: bool, dtype: Any
) -> LaunchPlan | None:
    """Plan `linalg_vector_norm` of rows, and of columns."""
    order, shape, inner, _ = plan_fold(self.sizes, dim, True)
    if not are_small_alike(result, self) or ord not in SUMMED_NORMS or order is not None:
        return None
    if inner != 1:
        views, count = (out(0, result.numel), operand(0, *shape)), result.numel
        return plan_loop(_norm_columns, [result], [self], 0, count, *views, int(ord))
    return plan_loop(SUMMED_NORMS[ord], [result], [self], operand(0, *shape), out(0, shape[0]))


@or_arrays(plan_norm)
def linalg_vector_norm(
    out: Array, self: Array, ord: Any, dim: Any, keepdim: bool, dtype: Any
) -> None:
    """Write the `ord`-norm over `dim`; accumulates in float64."""
    if self.dtype.kind == "c":
        self = np.abs(self)
    folded, plan = fold(self, dim, with_columns=ord in SUMMED_NORMS)
    flat = out.reshape(-1)
    if plan.count == 0:
        flat.fill(inf if ord < 0 else 0)
    elif folded.ndim == 3:
        threads.run_ranges(_norm_columns, flat.size, folded.size, flat, folded, int(ord))
    elif ord in SUMMED_NORMS and flat.size == 1 and plan.count >= 2 * threads.GRAIN:
        flat[0] = _norm_in_shares(folded[0], ord)
    elif ord in SUMMED_NORMS:
        norm = SUMMED_NORMS[ord]
        threads.run_items(norm, (folded, flat), flat.size, work=folded.size)
    else:
        _other_norm(flat, folded, ord)


@kernel
def _norm_columns(start, stop, out, x, ord):
    """The norms over the middle dim of (outer, n, inner); start, stop: of the results."""
    inner = x.shape[2]
    total = np.empty(inner, np.float64)
    for o in range(start // inner, (stop + inner - 1) // inner):
        first, last = max(start - o * inner, 0), min(stop - o * inner, inner)
        total[first:last] = 0.0
        for i in range(x.shape[1]):
            row = x[o, i]
            for j in range(first, last):
                value = np.float64(abs(row[j]))
                if ord == 2:
                    value = value * value
                elif ord == 0:
                    value = np.float64(value != 0.0)
                total[j] += value
        for j in range(first, last):
            out[o * inner + j] = math.sqrt(total[j]) if ord == 2 else total[j]


def _norm_in_shares(values: Array, ord: Any) -> float:
    """The norm of many values: of some shares, which threads take, and of these."""
    count = len(values) // SHARES
    whole, rest = values[: count * SHARES].reshape(SHARES, count), values[count * SHARES :]
    norms = np.zeros(SHARES + 1)
    norm = SUMMED_NORMS[ord]
    threads.run_items(norm, (whole, norms[:SHARES]), SHARES, work=len(values))
    norm(rest.reshape(1, -1), norms[SHARES:])
    return float(np.sqrt((norms * norms).sum()) if ord == 2 else norms.sum())


@quiet
def _other_norm(out: Array, rows: Array, ord: Any) -> None:
    """The largest or the smallest magnitude, or a root of a sum of powers."""
    if ord == inf:
        np.max(np.abs(rows), axis=1, out=out)
    elif ord == -inf:
        np.min(np.abs(rows), axis=1, out=out)
    else:
        powers = np.abs(rows).astype(np.float64) ** ord
        out[...] = powers.sum(axis=1) ** (1.0 / ord)
