"""Plans of small kernels that go over a whole tensor: mirrored, cut to a triangle, summed up."""

# ruff: noqa: F821 - T is a name of the compiled text.

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
