"""Rows of log_softmax for losses: the largest element is subtracted first."""

from __future__ import annotations

import numpy as np

from torchgen_out._runtime.kernels.cpu.loops.in_stages import ELEMENTS, ROWS
from torchgen_out._runtime.kernels.typed import typed, typed_sum

WORK = 4
"""How much more an element costs than in element-wise work."""


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
    """Three passes over a row: the maximum; the sum of exponentials; the differences.

    Logarithms of some rows are taken together, as `in_stages` has it for kernels of the language.
    """
    out, x = out[start:stop], x[start:stop]
    n, bits = x.shape[1], x.view(BITS)
    some = max(min(ROWS, ELEMENTS // max(n, 1)), 1)
    tops, logarithms = np.empty(some, T), np.empty(some, T)
    for first in range(0, x.shape[0], some):
        count = min(some, x.shape[0] - first)
        for k in range(count):
            r = first + k
            top = row_max(bits, r, n)
            total = T(0)
            for i in range(n):
                total += exp(x[r, i] - top)
            tops[k], logarithms[k] = top, total
        for k in range(count):
            logarithms[k] = T(log(logarithms[k]))
        for k in range(count):
            r, top, logarithm = first + k, tops[k], logarithms[k]
            for i in range(n):
                out[r, i] = (x[r, i] - top) - logarithm
