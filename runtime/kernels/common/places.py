"""What loops of index programs call: where rows begin, places in tensors, folds of two values.

Kernels compile this text from `BLOCK` on, on every backend; here it is plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

U = np.uint64
"""The type of a position in memory: one that is not negative needs no test."""

T, IS_DOUBLE = np.float64, True
"""The compute type."""

LOWEST, HIGHEST = T(-np.inf), T(np.inf)
"""The ends of the order of T."""


def ends(type_name: str) -> tuple[str, str]:
    """The ends of the order of a type, as text: of whole numbers the least and the greatest."""
    if np.dtype(type_name).kind in "iu":
        return str(np.iinfo(type_name).min), str(np.iinfo(type_name).max)
    return "-np.inf", "np.inf"


COMPLEX_ORDER = """\
def larger(total, key):
    return key if (key.real > total.real) | (key.real != key.real) else total


def smaller(total, key):
    return key if (key.real < total.real) | (key.real != key.real) else total
"""
"""`larger` and `smaller` of complex numbers that are real."""
BLOCK = 512
"""Elements of a fold along an index of the result that are kept together, in the cache."""
TILE = 2048
"""Elements along the innermost index that make an item. A power of two of them and more are often
in conflict in a cache, if they are cut to less."""
SEARCHED = 128
"""Elements of a row whose best is found before it is asked where that is."""
SHORTEST = 16
"""Elements of a row that are compared one by one."""
COLUMNS = 2048
"""Elements side by side that scans carry together: rows of memory are read in long pieces."""
WIDE = np.float64
"""What runs of a sum are put together in."""

RUN = 128
"""Elements of such a run, where each goes to another element of a block."""
FAR = 1 << 40
"""Further than any place in a row."""
LOOK, WRITE, ALONG = 1, 2, 3
"""What a scatter does alone, of looking at places and writing to them; 0 is both.

`ALONG`: it writes, and the range is one of its innermost index.
"""
lesser: Callable[..., Any] = min
greater: Callable[..., Any] = max


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


def apart(out, begun, out_at, begun_at):
    """Whether two arrays of the same layout begin at different places of memory."""
    step = out.itemsize
    return out.ctypes.data + out_at * step != begun.ctypes.data + begun_at * step


def clamped(place, size):
    """The nearest place in a dim."""
    return lesser(greater(place, 0), size - 1)


def counted(place, size):
    """A place that counts from the end if it is negative."""
    return place + size if place < 0 else place


def around(place, size):
    """The remainder of a place; a quotient takes longer than all else, and is seldom needed."""
    near = place + size if place < 0 else place
    near = near - size if near >= size else near
    if (near < 0) | (near >= size):
        near = place % size
    return near


def reflected(place, size):
    """A place mirrored at the border elements, which are not repeated."""
    period = greater(2 * size - 2, 1)
    place = place if place >= 0 else -place
    if place >= period:  # seldom: a quotient takes longer than all the rest
        place = place % period
    return lesser(place, period - place) if size > 1 else 0


def first_inside(slope, rest):
    """The first x with slope * x + rest >= 0, if the slope is positive; else all or none are."""
    if slope > 0:
        return -(rest // slope)
    return 0 if (slope < 0) | (rest >= 0) else FAR


def end_inside(slope, rest):
    """The end of those x, if the slope is negative."""
    return rest // -slope + 1 if slope < 0 else FAR


def first_turn(first, step, turn):
    """Where a loop begins that a turn bounds if the step is positive."""
    return greater(first, turn) if step > 0 else first


def end_turn(end, step, turn):
    """Where it ends."""
    return lesser(end, turn) if step > 0 else end


def drawn(key, element, number):
    """A random number from [0, 1): of a key, an element, and which of a formula's draws it is.

    Two words of Philox4x32-10, whose counter is the element and the draw: 24 bits of them are a
    float32, 53 a float64. Source: J. K. Salmon et al., "Parallel random numbers" (2011).
    """
    low, half = U(0xFFFFFFFF), U(32)
    c0, c1 = U(element) & low, U(element) >> half
    c2, c3 = U(number // 2), U(0)
    k0, k1 = U(key) & low, U(key) >> half
    for _ in range(10):
        p0 = c0 * U(0xD2511F53)
        p1 = c2 * U(0xCD9E8D57)
        c0 = (p1 >> half) ^ c1 ^ k0
        c2 = (p0 >> half) ^ c3 ^ k1
        c1 = p1 & low
        c3 = p0 & low
        k0 = (k0 + U(0x9E3779B9)) & low
        k1 = (k1 + U(0xBB67AE85)) & low
    first, second = (c0, c1) if number % 2 == 0 else (c2, c3)
    if IS_DOUBLE:
        return T((first << U(21)) ^ (second >> U(11))) * T(2.0**-53)
    return T(first >> U(8)) * T(2.0**-24)


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


def opposite(value):
    """A number at the other side of the order; of whole numbers, their complement."""
    return -value


def rising(value):
    """A number as what compares in the same order, both zeros alike and NaN above all."""
    return value


def falling(value):
    """The same of the reverse order, NaN above all."""
    return -value


def larger(total, key):
    """The larger of two, or the one that is NaN."""
    return key if (key > total) | (key != key) else total


def smaller(total, key):
    """The smaller of two, or the one that is NaN."""
    return key if (key < total) | (key != key) else total


def joined(before, arriving):
    """What a value and one that comes to it are together, by the fold that a call names."""
    raise AssertionError((before, arriving))
