"""Plans of small kernels that go over a whole tensor: move, repeat, surround or sum it."""

# ruff: noqa: F821 - T is a name of the compiled text.

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from runtime.kernels.cpu.folding import folded_shape
from runtime.kernels.cpu.planned import Operand, Plan, Planner
from runtime.kernels.cpu.small import (
    entry_for,
    is_small,
    plan_one,
)
from runtime.kernels.typed import typed

Array = Any


def plan_flip(out: Operand, self: Operand, dims: Sequence[int]) -> Plan | None:
    """Plan `flip` of one dim."""
    if not is_small(out, self) or len(dims) != 1 or not self.sizes:
        return None
    entry = entry_for(flip_flat, out.dtype, out.dtype, self.dtype, *(int,) * 4)
    return plan_one(entry, folded_shape(self.sizes, dims[0]))


@typed
def flip_flat(out, self, at, outer, size, inner):
    """out[o, j, i] = self[o, size - 1 - j, i]."""
    for o in range(outer):
        if inner == 1:
            target = out[o * size : (o + 1) * size]
            source = self[at + o * size : at + (o + 1) * size]
            for j in range(size):
                target[j] = source[size - 1 - j]
        else:
            for j in range(size):
                start, end = (o * size + j) * inner, at + (o * size + size - 1 - j) * inner
                for i in range(inner):
                    out[start + i] = self[end + i]


def plan_roll(
    out: Operand, self: Operand, shifts: int | Sequence[int], dims: int | Sequence[int] = ()
) -> Plan | None:
    """Plan `roll` of one dim, or of the flat tensor."""
    if not is_small(out, self) or not self.sizes:
        return None
    by = [shifts] if isinstance(shifts, int) else list(shifts)
    along = [dims] if isinstance(dims, int) else list(dims)
    if len(by) != 1 or len(along) > 1:
        return None
    count = prod(self.sizes)
    outer, size, inner = folded_shape(self.sizes, along[0]) if along else (1, count, 1)
    entry = entry_for(roll_flat, out.dtype, out.dtype, self.dtype, *(int,) * 4)
    return plan_one(entry, (outer, size * inner, by[0] % size * inner))


@typed
def roll_flat(out, self, at, outer, width, shift):
    """out[o, shift:] = self[o, :-shift], and what is left comes to the front."""
    for start in range(0, outer * width, width):
        target, source = out[start : start + width], self[at + start : at + start + width]
        behind, before = target[shift:], source[width - shift :]
        for i in range(behind.size):
            behind[i] = source[i]
        for i in range(before.size):
            target[i] = before[i]


def plan_repeat_interleave(
    out: Operand,
    self: Operand,
    repeats: int,
    dim: int | None = None,
    output_size: int | None = None,
) -> Plan | None:
    """Plan `repeat_interleave` with one number for all slices."""
    if not is_small(out, self):
        return None
    outer, size, inner = folded_shape(self.sizes, dim) if dim is not None else (1, 1, 1)
    lines = prod(self.sizes) if dim is None else outer * size
    entry = entry_for(repeat_flat, out.dtype, out.dtype, self.dtype, *(int,) * 4)
    return plan_one(entry, (lines, inner, repeats))


@typed
def repeat_flat(out, self, at, lines, inner, repeats):
    """Every line of `inner` elements, `repeats` times."""
    if inner == 1 and repeats == 2:
        source = self[at : at + lines]
        for i in range(lines):
            out[np.uint64(2 * i)] = source[i]
            out[np.uint64(2 * i + 1)] = source[i]
        return
    place = 0
    for start in range(at, at + lines * inner, inner):
        source = self[start : start + inner]
        for _ in range(repeats):
            target = out[place : place + inner]
            for i in range(inner):
                target[i] = source[i]
            place += inner


def plan_pad(out: Operand, self: Operand, pad: Sequence[int], value: Any) -> Plan | None:
    """Plan `constant_pad_nd` around the last one or two dims."""
    if not is_small(out, self) or not 2 <= len(pad) <= 4 or min(pad) < 0 or not self.sizes:
        return None
    if value.__class__ not in (int, float) or (out.dtype.kind != "f" and value.__class__ is float):
        return None
    columns, rows = self.sizes[-1], self.sizes[-2] if len(pad) == 4 else 1
    left, right, top, bottom = (*pad, 0, 0)[:4]
    filler = float(value) if out.dtype.kind == "f" else value
    kinds = (*(int,) * 7, filler.__class__)
    entry = entry_for(pad_flat, out.dtype, out.dtype, self.dtype, *kinds)
    return plan_one(entry, (rows, columns, left, right, top, bottom, filler))


@typed
def pad_flat(out, self, at, rows, columns, left, right, top, bottom, value):
    """Planes of `rows` by `columns` elements, surrounded by `value`."""
    width, filler = left + columns + right, T(value)
    plane = (top + rows + bottom) * width
    source = at
    for start in range(0, out.size, plane):
        for i in range(start, start + top * width):
            out[np.uint64(i)] = filler
        for row in range(rows):
            target = out[start + (top + row) * width : start + (top + row + 1) * width]
            line = self[source : source + columns]
            for i in range(left):
                target[i] = filler
            middle = target[left : left + columns]
            for i in range(columns):
                middle[i] = line[i]
            for i in range(left + columns, width):
                target[i] = filler
            source += columns
        for i in range(start + (top + rows) * width, start + plane):
            out[np.uint64(i)] = filler


def plan_triangle(is_upper: bool) -> Planner:
    """The planner of `triu` or `tril`."""

    def plan(out: Operand, self: Operand, diagonal: int = 0) -> Plan | None:
        if not is_small(out, self):
            return None
        entry = entry_for(triangle_flat, out.dtype, out.dtype, self.dtype, *(int,) * 5)
        return plan_one(entry, (*self.sizes[-2:], diagonal, int(is_upper)))

    return plan


@typed
def triangle_flat(out, self, at, rows, columns, diagonal, upper):
    """One side of each matrix, the rest being zero."""
    for start in range(0, out.size, columns):
        row = start // columns % rows
        edge = min(max(row + diagonal + 1 - upper, 0), columns)
        target, source = out[start : start + columns], self[at + start : at + start + columns]
        for i in range(columns):
            kept = (i >= edge) if upper else (i < edge)
            target[i] = source[i] if kept else T(0)


def plan_diag_embed(
    out: Operand, self: Operand, offset: int = 0, dim1: int = -2, dim2: int = -1
) -> Plan | None:
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


def plan_cumsum(out: Operand, self: Operand, dim: int, dtype: Any = None) -> Plan | None:
    """Plan `cumsum` without a change of dtype."""
    if not is_small(out, self) or out.dtype != self.dtype or not self.sizes:
        return None
    acc = float if out.dtype.kind == "f" else int
    entry = entry_for(cumsum_flat, out.dtype, out.dtype, self.dtype, *(int,) * 4, acc)
    return plan_one(entry, (*folded_shape(self.sizes, dim), acc(0)))


@typed
def cumsum_flat(out, self, at, outer, size, inner, zero):
    """out[o, j, i] = the sum of self[o, :j + 1, i], in the type of `zero`.

    Four rows at a time: one sum waits for itself, four do not wait for each other.
    """
    lines = outer * inner
    whole = lines - lines % 4
    for line in range(0, whole, 4):
        a, b, c, d = zero, zero, zero, zero
        pa = line // inner * size * inner + line % inner
        pb = (line + 1) // inner * size * inner + (line + 1) % inner
        pc = (line + 2) // inner * size * inner + (line + 2) % inner
        pd = (line + 3) // inner * size * inner + (line + 3) % inner
        for _ in range(size):
            a, b = a + self[at + pa], b + self[at + pb]
            c, d = c + self[at + pc], d + self[at + pd]
            out[pa], out[pb], out[pc], out[pd] = T(a), T(b), T(c), T(d)
            pa, pb, pc, pd = pa + inner, pb + inner, pc + inner, pd + inner
    for line in range(whole, lines):
        a, pa = zero, line // inner * size * inner + line % inner
        for _ in range(size):
            a = a + self[at + pa]
            out[pa] = T(a)
            pa += inner
