"""What loops of index programs call: where rows begin, places in tensors, folds of two values.

Kernels compile this text from `BLOCK` on, on every backend; here it is plain Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np

U = np.uint64
"""The type of a position in memory: one that is not negative needs no test."""

BLOCK = 512
"""Elements of a fold along an index of the result that are kept together, in the cache."""
lesser, greater = min, max


def row_start(batch: Any, dims: Any, row: Any, number: Any) -> Any:
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


def inside(place: Any, size: Any) -> Any:
    """Whether a place is in a dim."""
    return (place >= 0) & (place < size)


def clamped(place: Any, size: Any) -> Any:
    """The nearest place in a dim."""
    return lesser(greater(place, 0), size - 1)


def reflected(place: Any, size: Any) -> Any:
    """A place mirrored at the border elements, which are not repeated."""
    period = greater(2 * size - 2, 1)
    place = place % period
    return lesser(place, period - place) if size > 1 else 0


def larger(total: Any, value: Any) -> Any:
    """The larger of two; NaN if one is."""
    return value if (value > total) | (value != value) else total


def smaller(total: Any, value: Any) -> Any:
    """The smaller of two; NaN if one is."""
    return value if (value < total) | (value != value) else total


def exceeds(value: Any, best: Any) -> Any:
    """Whether a value comes before the best so far, as the largest: NaN is larger than all."""
    return (value > best) | ((value != value) & (best == best))


def falls_below(value: Any, best: Any) -> Any:
    """Whether a value comes before the best so far, as the smallest: NaN is smaller than all."""
    return (value < best) | ((value != value) & (best == best))
