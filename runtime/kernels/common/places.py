"""What loops of index programs call: where rows begin, places in tensors, folds of two values.

Kernels compile this text from `BLOCK` on, on every backend; here it is plain Python.
"""

from __future__ import annotations

import numpy as np

U = np.uint64
"""The type of a position in memory: one that is not negative needs no test."""

BLOCK = 512
"""Elements of a fold along an index of the result that are kept together, in the cache."""
WIDE = np.float64
"""What runs of a sum are put together in."""

RUN = 128
"""Elements of such a run, where each goes to another element of a block."""
lesser, greater = min, max


def row_start(batch, dims, row, number):
    """Where a row begins, by its number among all that `...` stands for."""
    if dims == 0:
        return 0
    if dims == 1:
        return number * batch[U(row)]
    at = 0
    for dim in range(dims - 1, -1, -1):
        size = batch[U(dim)]
        at += number % size * batch[U(row + dim)]
        number = number // size
    return at


def clamped(place, size):
    """The nearest place in a dim."""
    return lesser(greater(place, 0), size - 1)


def reflected(place, size):
    """A place mirrored at the border elements, which are not repeated."""
    period = greater(2 * size - 2, 1)
    place = place % period
    return lesser(place, period - place) if size > 1 else 0


def plus(total, value):
    """What a sum has so far, and an element: compiled so that these may be reordered."""
    return total + value


def times(total, value):
    """The same of a product."""
    return total * value


def ordered(value):
    """A number as what compares in the same order; NaN is the largest, or compares with nothing."""
    return value


def unordered(key):
    """The number of what `ordered` gives."""
    return key


def larger(total, key):
    """The larger of two, or the one that is NaN."""
    return key if (key > total) | (key != key) else total
