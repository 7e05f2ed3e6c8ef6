"""The largest element of a row of scores, which is subtracted before exponentials are taken."""

from __future__ import annotations

import numpy as np

from torchgen_out._runtime.kernels.typed import typed


@typed
def row_max(bits, r, n):
    """The largest of n elements of row r, given as bits; NaN if there is one, -inf of none.

    The row is not taken out of its array: a view counts its references, which costs as much as
    eight elements.

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
