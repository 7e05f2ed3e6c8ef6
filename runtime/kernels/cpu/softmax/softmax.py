"""logsumexp, and rows of log_softmax for losses: the largest element is subtracted first.

The rows here are contiguous along the dim; where it is not innermost, those of
`softmax_columns.py` advance together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.common.reduced_dims import fold
from torchgen_out._runtime.kernels.cpu.softmax.softmax_columns import logsumexp_columns
from torchgen_out._runtime.kernels.typed import typed, typed_sum

Array = Any
WORK = 4
"""How much more an element costs than in element-wise work."""


def logsumexp(out: Array, self: Array, dim: Any, keepdim: bool) -> None:
    """Write log(sum of exp(x)) over the dims of `dim`."""
    if self.dtype.kind == "c":
        rows, _ = fold(self, dim, with_columns=False)
        _logsumexp_complex(out.reshape(-1), rows)
        return
    block, plan = fold(self, dim)
    if plan.inner == 1:
        threads.run_rows(logsumexp_rows, (out.reshape(-1), block), work=WORK * plan.count)
    else:
        kernel = logsumexp_columns.of(self.dtype)
        threads.run_ranges(kernel, out.size, WORK * self.size, out.reshape(-1), block)


def _logsumexp_complex(out: Array, rows: Array) -> None:
    with np.errstate(all="ignore"):
        top = rows.real.max(axis=1, initial=-np.inf)
        top[~np.isfinite(top)] = 0
        out[...] = np.log(np.exp(rows - top[:, None]).sum(axis=1)) + top


# Rows. None is taken out of its array: a view counts its references, which costs as much as eight
# elements of a short row.


@typed
def row_max(bits, r, n):
    """The largest of n elements of row r, given as bits; NaN if there is one, -inf of none.

    Floats compare as their bits do, as integers, once those below zero are turned round; integers
    have no NaN, so that the loop vectorises.
    """
    top = turned(T(-np.inf).view(BITS))
    for i in range(n):
        key = turned(bits[r, i])
        top = key if key > top else top
    return BITS(turned(top)).view(T)


@typed
def turned(bits):
    """Bits of a float as an integer of the same order; the same function undoes it."""
    return BITS(bits ^ ((bits >> BITS(SIGN)) & BITS((1 << SIGN) - 1)))


@typed_sum
def log_softmax_rows(start, stop, out, x):
    """Three passes over a row: the maximum; the sum of exponentials; the differences."""
    out, x = out[start:stop], x[start:stop]
    n, bits = x.shape[1], x.view(BITS)
    for r in range(x.shape[0]):
        top = row_max(bits, r, n)
        total = T(0)
        for i in range(n):
            total += exp(x[r, i] - top)
        logarithm = T(log(total))
        for i in range(n):
            out[r, i] = (x[r, i] - top) - logarithm


@typed_sum
def logsumexp_rows(out, x):
    """As log_softmax; an infinite maximum is not subtracted, for inf - inf is NaN."""
    n, bits = x.shape[1], x.view(BITS)
    for r in range(x.shape[0]):
        top = row_max(bits, r, n)
        if abs(top) == T(np.inf):
            top = T(0)
        total = T(0)
        for i in range(n):
            total += exp(x[r, i] - top)
        out[r] = log(total) + top
