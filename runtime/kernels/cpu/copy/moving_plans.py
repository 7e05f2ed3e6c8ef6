"""Plans of kernels that go over a whole dense tensor: move, repeat, surround or sum it."""

# ruff: noqa: F821 - T is a name of the compiled text.

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.folding import folded_shape
from torchgen_out._runtime.kernels.cpu.planned import Planner
from torchgen_out._runtime.kernels.cpu.small import (
    entry_for,
    is_dense,
    is_small,
    plan_lines,
    plan_one,
)
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed

Array = Any


MOST_PLACES = 1024
"""For how many elements a plan remembers where each comes from."""


def _plan_places(
    out: TensorSpec, self: TensorSpec, move: Callable[..., Array], *args: Any
) -> LaunchPlan | None:
    """Plan to take each element from where move(array, *args) takes it."""
    count = prod(self.sizes)
    if count > MOST_PLACES:
        return None
    places = move(np.arange(count, dtype=np.int32).reshape(self.sizes), *args)
    entry = entry_for(take_places, out.dtype, out.dtype, out.dtype, int, places.dtype)
    return LaunchPlan(entry, np.ascontiguousarray(places).reshape(-1))


@typed
def take_places(out, self, at, places):
    """out[i] = self[places[i]]."""
    for i in range(places.size):
        out[i] = self[at + places[i]]


def plan_flip(out: TensorSpec, self: TensorSpec, dims: Sequence[int]) -> LaunchPlan | None:
    """Plan `flip` of one dim, or of a few elements."""
    if not is_dense(out, self) or not self.sizes:
        return None
    if len(dims) != 1:
        return _plan_places(out, self, np.flip, tuple(dims))
    outer, size, inner = folded_shape(self.sizes, dims[0])
    lines = outer if inner == 1 else outer * size
    return plan_lines(flip_flat, out, self, lines, (size, inner))


@typed
def flip_flat(start, stop, out, self, at, size, inner):
    """out[o, j, i] = self[o, size - 1 - j, i]: rows, or lines of more than one element."""
    for line in range(start, stop):
        if inner == 1:
            target = out[line * size : (line + 1) * size]
            source = self[at + line * size : at + (line + 1) * size]
            for j in range(size):
                target[j] = source[np.uint64(size - 1 - j)]
        else:
            o, j = divmod(line, size)
            other = at + (o * size + size - 1 - j) * inner
            target, source = out[line * inner : (line + 1) * inner], self[other : other + inner]
            for i in range(inner):
                target[i] = source[i]


def plan_roll(
    out: TensorSpec, self: TensorSpec, shifts: int | Sequence[int], dims: int | Sequence[int] = ()
) -> LaunchPlan | None:
    """Plan `roll` of one dim, of the flat tensor, or of a few elements."""
    if not is_dense(out, self) or not self.sizes:
        return None
    by = [shifts] if isinstance(shifts, int) else list(shifts)
    along = [dims] if isinstance(dims, int) else list(dims)
    if len(by) != 1 or len(along) > 1:
        return _plan_places(out, self, np.roll, by, along)
    count = prod(self.sizes)
    _, size, inner = folded_shape(self.sizes, along[0]) if along else (1, count, 1)
    return plan_lines(roll_flat, out, self, count, (size * inner, by[0] % size * inner))


@typed
def roll_flat(start, stop, out, self, at, width, shift):
    """out[o, shift:] = self[o, :-shift], and what is left comes to the front, for elements start
    to stop."""
    place = start
    while place < stop:
        row, column = divmod(place, width)
        if column < shift:
            count, source = shift - column, column + width - shift
        else:
            count, source = width - column, column - shift
        count, source = min(count, stop - place), at + row * width + source
        target, run = out[place : place + count], self[source : source + count]
        for i in range(count):
            target[i] = run[i]
        place += count


def plan_repeat_interleave(
    out: TensorSpec,
    self: TensorSpec,
    repeats: int,
    dim: int | None = None,
    output_size: int | None = None,
) -> LaunchPlan | None:
    """Plan `repeat_interleave` with one number for all slices."""
    if not is_dense(out, self):
        return None
    outer, size, inner = folded_shape(self.sizes, dim) if dim is not None else (1, 1, 1)
    lines = prod(self.sizes) if dim is None else outer * size
    return plan_lines(repeat_flat, out, self, lines, (inner, repeats))


@typed
def repeat_flat(start, stop, out, self, at, inner, repeats):
    """Every line of `inner` elements, `repeats` times."""
    if inner == 1 and repeats == 2:
        source, pairs = self[at + start : at + stop], out[2 * start : 2 * stop]
        for i in range(source.size):
            value = source[i]
            pairs[np.uint64(2 * i)] = value
            pairs[np.uint64(2 * i + 1)] = value
        return
    place = start * inner * repeats
    for first in range(at + start * inner, at + stop * inner, inner):
        source = self[first : first + inner]
        for _ in range(repeats):
            target = out[place : place + inner]
            for i in range(inner):
                target[i] = source[i]
            place += inner


def plan_pad(
    out: TensorSpec, self: TensorSpec, pad: Sequence[int], value: Any
) -> LaunchPlan | None:
    """Plan `constant_pad_nd` around the last one or two dims."""
    if not is_dense(out, self) or not 2 <= len(pad) <= 4 or min(pad) < 0 or not self.sizes:
        return None
    if value.__class__ not in (int, float) or (out.dtype.kind != "f" and value.__class__ is float):
        return None
    columns, rows = self.sizes[-1], self.sizes[-2] if len(pad) == 4 else 1
    left, right, top, bottom = (*pad, 0, 0)[:4]
    filler = float(value) if out.dtype.kind == "f" else value
    lines = prod(out.sizes) // (left + columns + right)
    numbers = rows, columns, left, right, top, bottom, filler
    return plan_lines(pad_flat, out, self, lines, numbers)


@typed
def pad_flat(start, stop, out, self, at, rows, columns, left, right, top, bottom, value):
    """Lines of planes of `rows` by `columns` elements, surrounded by `value`."""
    width, height, filler = left + columns + right, top + rows + bottom, T(value)
    for line in range(start, stop):
        target = out[line * width : (line + 1) * width]
        plane, row = divmod(line, height)
        row -= top
        if row < 0 or row >= rows:
            for i in range(width):
                target[i] = filler
            continue
        first = at + (plane * rows + row) * columns
        middle, source = target[left : left + columns], self[first : first + columns]
        for i in range(left):
            target[i] = filler
        for i in range(columns):
            middle[i] = source[i]
        for i in range(left + columns, width):
            target[i] = filler


def plan_triangle(is_upper: bool) -> Planner:
    """The planner of `triu` or `tril`."""

    def plan(out: TensorSpec, self: TensorSpec, diagonal: int = 0) -> LaunchPlan | None:
        if not is_dense(out, self):
            return None
        rows, columns = self.sizes[-2:]
        lines = prod(self.sizes) // columns
        diagonal = min(max(diagonal, -rows), columns)
        return plan_lines(triangle_flat, out, self, lines, (rows, columns, diagonal, int(is_upper)))

    return plan


@typed
def triangle_flat(start, stop, out, self, at, rows, columns, diagonal, upper):
    """One side of each matrix, the rest being zero."""
    for line in range(start, stop):
        edge = min(max(line % rows + diagonal + 1 - upper, 0), columns)
        target = out[line * columns : (line + 1) * columns]
        source = self[at + line * columns : at + (line + 1) * columns]
        for i in range(columns):
            kept = (i >= edge) if upper else (i < edge)
            target[i] = source[i] if kept else T(0)


def plan_diag_embed(
    out: TensorSpec, self: TensorSpec, offset: int = 0, dim1: int = -2, dim2: int = -1
) -> LaunchPlan | None:
    """Plan `diag_embed` into the last two dims."""
    ndim = len(out.sizes)
    if not is_small(out, self) or (dim1 % ndim, dim2 % ndim) != (ndim - 2, ndim - 1):
        return None
    entry = entry_for(spread_flat, out.dtype, out.dtype, self.dtype, *(int,) * 4)
    first = max(-offset, 0) * out.sizes[-1] + max(offset, 0)
    return plan_one(entry, (self.sizes[-1], out.sizes[-1], first))


@typed
def spread_flat(out, self, at, size, columns, first):
    """Zeros, and rows of `self` from place `first` of each matrix on, one step down and right."""
    matrices = out.size // (columns * columns)
    for i in range(out.size):
        out[i] = T(0)
    for matrix in range(matrices):
        place, start = matrix * columns * columns + first, at + matrix * size
        for i in range(size):
            out[place + i * (columns + 1)] = self[start + i]


def plan_cumsum(
    out: TensorSpec, self: TensorSpec, dim: int, dtype: Any = None
) -> LaunchPlan | None:
    """Plan `cumsum` without a change of dtype; many columns are summed side by side elsewhere."""
    if not is_dense(out, self) or out.dtype != self.dtype or not self.sizes:
        return None
    outer, size, inner = folded_shape(self.sizes, dim)
    if inner > 1 and not is_small(out, self):
        return None
    zero = 0.0 if out.dtype.kind == "f" else 0
    return plan_lines(cumsum_flat, out, self, outer * inner, (size, inner, zero))


@typed
def cumsum_flat(start, stop, out, self, at, size, inner, zero):
    """out[o, j, i] = the sum of self[o, :j + 1, i], in the type of `zero`.

    Four rows at a time: one sum waits for itself, four do not wait for each other.
    """
    whole, count = stop - (stop - start) % 4, size * inner
    for line in range(start, whole, 4):
        a, b, c, d = zero, zero, zero, zero
        pa, pb = first_place(line, size, inner), first_place(line + 1, size, inner)
        pc, pd = first_place(line + 2, size, inner), first_place(line + 3, size, inner)
        for j in range(0, count, inner):
            ja, jb, jc, jd = pa + j, pb + j, pc + j, pd + j
            a, b = a + self[np.uint64(at + ja)], b + self[np.uint64(at + jb)]
            c, d = c + self[np.uint64(at + jc)], d + self[np.uint64(at + jd)]
            out[np.uint64(ja)], out[np.uint64(jb)] = T(a), T(b)
            out[np.uint64(jc)], out[np.uint64(jd)] = T(c), T(d)
    for line in range(whole, stop):
        acc, first = zero, first_place(line, size, inner)
        for place in range(first, first + count, inner):
            acc = acc + self[np.uint64(at + place)]
            out[np.uint64(place)] = T(acc)


@kernel
def first_place(line, size, inner):
    """Where a line of a dense (outer, size, inner) begins. A division takes longer than a sum."""
    return line * size if inner == 1 else line // inner * size * inner + line % inner
