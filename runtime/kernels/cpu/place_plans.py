"""Plans of small kernels that move elements along a dim: one compiled loop over flat memory.

Folding, checks and views of arrays take several times as long as the loop over a thousand elements.
Larger ones, other dtypes and operands with gaps are left to the kernels themselves.
"""

# ruff: noqa: F821 - T is a name of the compiled text.

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from runtime import errors
from runtime.kernels.cpu import places
from runtime.kernels.cpu.folding import folded_shape
from runtime.kernels.cpu.planned import Operand, Plan, Planner
from runtime.kernels.typed import TypedKernel, typed

Array = Any
SMALL = 1 << 14
DTYPES = frozenset(map(np.dtype, ("float32", "float64", "int64")))
INT64, BOOL = np.dtype(np.int64), np.dtype(np.bool_)


def _is_small(out: Operand, *operands: Operand) -> bool:
    """Whether dense operands of the usual dtypes give few elements, but some."""
    return (
        out.dtype in DTYPES
        and 0 < prod(out.sizes) <= SMALL
        and all(each.is_contiguous and 0 < prod(each.sizes) <= SMALL for each in operands)
    )


def _entry(kernel: TypedKernel, dtype: Any, *arguments: Any) -> Callable[..., Any]:
    return kernel.entry_point(dtype, arguments)  # type: ignore[no-any-return]


# -- reading at places ---------------------------------------------------------------------------


def plan_gather(
    out: Operand, self: Operand, index: Operand, dim: int, sparse_grad: bool = False
) -> Plan | None:
    """Plan `gather` where self is no larger than the index but along `dim`."""
    if not _is_small(out, self, index) or not _agree(self.sizes, index.sizes, dim):
        return None
    outer, count, inner = folded_shape(out.sizes, dim)
    size = self.sizes[dim]
    entry = _entry(gather_flat, out.dtype, out.dtype, self.dtype, INT64, *(int,) * 6)

    def run(target: Array, a: Array, b: Array, at_a: int, at_b: int, numbers: Any) -> None:
        if not entry(target, a, b, at_a, at_b, *numbers):
            slots = b[at_b : at_b + prod(index.sizes)].reshape(index.sizes)
            raise places.bad_scatter_index(slots, dim, size)

    return Plan(run, (outer, count, size, inner))


def _agree(sizes: Sequence[int], others: Sequence[int], dim: int) -> bool:
    """Whether two shapes are the same but for one dim."""
    if len(sizes) != len(others) or not sizes:
        return False
    dim %= len(sizes)
    return all(a == b for i, (a, b) in enumerate(zip(sizes, others, strict=True)) if i != dim)


@typed
def gather_flat(out, self, index, at, at_index, outer, count, size, inner):
    """out[o, j, i] = self[o, index[o, j, i], i]; False for a place outside."""
    place = 0
    if inner == 1:
        for o in range(outer):
            row = self[at + o * size : at + (o + 1) * size]
            slots, target = index[at_index + place : at_index + place + count], out[place:]
            for j in range(count):
                k = np.uint64(slots[j])
                if k >= np.uint64(size):
                    return False
                target[j] = row[k]
            place += count
        return True
    for o in range(outer):
        for _ in range(count):
            for i in range(inner):
                k = index[at_index + place]
                if k < 0 or k >= size:
                    return False
                out[place] = self[at + (o * size + k) * inner + i]
                place += 1
    return True


def plan_index_select(out: Operand, self: Operand, index: Operand, dim: int) -> Plan | None:
    """Plan `index_select`."""
    if not _is_small(out, self, index) or index.dtype != INT64:
        return None
    outer, size, inner = folded_shape(self.sizes, dim)
    entry = _entry(select_flat, out.dtype, out.dtype, self.dtype, INT64, *(int,) * 6)

    def run(target: Array, a: Array, b: Array, at_a: int, at_b: int, numbers: Any) -> None:
        if not entry(target, a, b, at_a, at_b, *numbers):
            raise errors.index_out_of_range_in_self()

    return Plan(run, (outer, prod(index.sizes), size, inner))


@typed
def select_flat(out, self, index, at, at_index, outer, count, size, inner):
    """out[o, j] = self[o, index[j]]; False for a place outside."""
    for j in range(count):
        if index[at_index + j] < 0 or index[at_index + j] >= size:
            return False
    place = 0
    if inner == 1:
        slots = index[at_index : at_index + count]
        for o in range(outer):
            row, target = self[at + o * size : at + (o + 1) * size], out[o * count :]
            for j in range(count):
                target[j] = row[np.uint64(slots[j])]
        return True
    for o in range(outer):
        for j in range(count):
            start = at + (o * size + index[at_index + j]) * inner
            for i in range(inner):
                out[place + i] = self[start + i]
            place += inner
    return True


def plan_take(out: Operand, self: Operand, index: Operand) -> Plan | None:
    """Plan `take`."""
    if not _is_small(out, self, index) or index.dtype != INT64:
        return None
    entry = _entry(take_flat, out.dtype, out.dtype, self.dtype, INT64, int, int, int)

    def run(target: Array, a: Array, b: Array, at_a: int, at_b: int, size: int) -> None:
        if not entry(target, a, b, at_a, at_b, size):
            places.nonnegative_flat(b[at_b : at_b + target.size], size)  # raises

    return Plan(run, prod(self.sizes))


@typed
def take_flat(out, self, index, at, at_index, size):
    """out[j] = self[index[j]], counted from the end if negative; False for a place outside."""
    for j in range(out.size):
        k = index[at_index + j]
        if k < -size or k >= size:
            return False
        out[j] = self[at + (k + size if k < 0 else k)]
    return True


# -- writing to places ---------------------------------------------------------------------------


def plan_scatter_add(
    out: Operand, self: Operand, index: Operand, src: Operand, dim: int
) -> Plan | None:
    """Plan `scatter_add` where the index covers the source, and all but `dim` of self."""
    fits = _is_small(out, self, index, src) and _agree(self.sizes, index.sizes, dim)
    if not fits or src.sizes != index.sizes:
        return None
    outer, count, inner = folded_shape(index.sizes, dim)
    size = self.sizes[dim]
    arrays = out.dtype, self.dtype, INT64, src.dtype
    entry = _entry(scatter_add_flat, out.dtype, *arrays, *(int,) * 7)

    def run(target: Array, a: Array, b: Array, c: Array, *numbers: Any) -> None:
        *offsets, sizes = numbers
        if not entry(target, a, b, c, *offsets, *sizes):
            slots = b[offsets[1] : offsets[1] + prod(index.sizes)].reshape(index.sizes)
            raise places.bad_scatter_index(slots, dim, size)

    return Plan(run, (outer, count, size, inner))


@typed
def scatter_add_flat(out, self, index, src, at, at_index, at_src, outer, count, size, inner):
    """out = self; out[o, index[o, j, i], i] += src[o, j, i]; False for a place outside."""
    for i in range(out.size):
        out[i] = self[at + i]
    place = 0
    if inner == 1:
        for o in range(outer):
            row = out[o * size : (o + 1) * size]
            slots, source = index[at_index + place :], src[at_src + place :]
            for j in range(count):
                k = np.uint64(slots[j])
                if k >= np.uint64(size):
                    return False
                row[k] += source[j]
            place += count
        return True
    for o in range(outer):
        for _ in range(count):
            for i in range(inner):
                k = index[at_index + place]
                if k < 0 or k >= size:
                    return False
                out[(o * size + k) * inner + i] += src[at_src + place]
                place += 1
    return True


def plan_index_add(
    out: Operand, self: Operand, index: Operand, source: Operand, dim: int, alpha: Any = 1
) -> Plan | None:
    """Plan `index_add` of a source as large as it can be."""
    fits = _is_small(out, self, index, source) and len(self.sizes) == len(source.sizes) > 0
    if not fits or index.dtype != INT64 or alpha.__class__ not in (int, float):
        return None
    if out.dtype.kind != "f" and alpha.__class__ is float:
        return None
    outer, size, inner = folded_shape(self.sizes, dim)
    arrays = out.dtype, self.dtype, INT64, source.dtype
    kinds = (*(int,) * 7, float if out.dtype.kind == "f" else int)
    entry = _entry(index_add_flat, out.dtype, *arrays, *kinds)

    def run(target: Array, a: Array, b: Array, c: Array, *numbers: Any) -> None:
        *offsets, sizes = numbers
        if not entry(target, a, b, c, *offsets, *sizes):
            slots = b[offsets[1] : offsets[1] + prod(index.sizes)]
            raise places.bad_slice_index(slots, dim, self.sizes)

    number = float(alpha) if out.dtype.kind == "f" else alpha
    return Plan(run, (outer, prod(index.sizes), size, inner, number))


@typed
def index_add_flat(out, self, index, src, at, at_index, at_src, outer, count, size, inner, alpha):
    """out = self; out[o, index[j]] += alpha * source[o, j]; False for a place outside."""
    for j in range(count):
        if index[at_index + j] < 0 or index[at_index + j] >= size:
            return False
    for i in range(out.size):
        out[i] = self[at + i]
    place = at_src
    if inner == 1:
        slots = index[at_index : at_index + count]
        for o in range(outer):
            row, source = out[o * size : (o + 1) * size], src[place + o * count :]
            for j in range(count):
                row[np.uint64(slots[j])] += T(alpha) * source[j]
        return True
    for o in range(outer):
        for j in range(count):
            start = (o * size + index[at_index + j]) * inner
            for i in range(inner):
                out[start + i] += T(alpha) * src[place + i]
            place += inner
    return True


def plan_scatter_number(
    out: Operand, self: Operand, index: Operand, dim: int, value: Any
) -> Plan | None:
    """Plan `scatter` of a number."""
    fits = _is_small(out, self, index) and _agree(self.sizes, index.sizes, dim)
    if not fits or value.__class__ not in (int, float) or out.dtype.kind != "f":
        return None
    outer, count, inner = folded_shape(index.sizes, dim)
    size = self.sizes[dim]
    kinds = (*(int,) * 6, float)
    entry = _entry(scatter_number_flat, out.dtype, out.dtype, self.dtype, INT64, *kinds)

    def run(target: Array, a: Array, b: Array, at_a: int, at_b: int, numbers: Any) -> None:
        if not entry(target, a, b, at_a, at_b, *numbers):
            slots = b[at_b : at_b + prod(index.sizes)].reshape(index.sizes)
            raise places.bad_scatter_index(slots, dim, size)

    return Plan(run, (outer, count, size, inner, float(value)))


@typed
def scatter_number_flat(out, self, index, at, at_index, outer, count, size, inner, value):
    """out = self; out[o, index[o, j, i], i] = value; False for a place outside."""
    for i in range(out.size):
        out[i] = self[at + i]
    place = 0
    for o in range(outer):
        for _ in range(count):
            for i in range(inner):
                k = index[at_index + place]
                if k < 0 or k >= size:
                    return False
                out[(o * size + k) * inner + i] = T(value)
                place += 1
    return True


def plan_masked_fill(out: Operand, self: Operand, mask: Operand, value: Any) -> Plan | None:
    """Plan `masked_fill` with a number, for a mask of the same last dims."""
    fits = _is_small(out, self) and mask.is_contiguous and mask.dtype == BOOL
    behind = out.sizes[len(out.sizes) - len(mask.sizes) :]
    if not fits or out.sizes != self.sizes or mask.sizes != behind or not mask.sizes:
        return None
    if value.__class__ is not float and (out.dtype.kind != "i" or value.__class__ is not int):
        return None
    if out.dtype.kind == "i" and not (
        value.__class__ is int and abs(value) <= np.iinfo(np.int64).max
    ):
        return None
    entry = _entry(
        masked_fill_flat, out.dtype, out.dtype, self.dtype, BOOL, int, int, int, value.__class__
    )

    def run(target: Array, a: Array, b: Array, at_a: int, at_b: int, numbers: Any) -> None:
        entry(target, a, b, at_a, at_b, *numbers)

    return Plan(run, (prod(mask.sizes), value))


@typed
def masked_fill_flat(out, self, mask, at, at_mask, width, value):
    """out[r, i] = value if mask[i] else self[r, i]."""
    filler = T(value)
    for start in range(0, out.size, width):
        row, source = out[start : start + width], self[at + start : at + start + width]
        flags = mask[at_mask : at_mask + width]
        for i in range(width):
            row[i] = filler if flags[i] else source[i]


# -- whole tensors -------------------------------------------------------------------------------


def plan_flip(out: Operand, self: Operand, dims: Sequence[int]) -> Plan | None:
    """Plan `flip` of one dim."""
    if not _is_small(out, self) or len(dims) != 1 or not self.sizes:
        return None
    entry = _entry(flip_flat, out.dtype, out.dtype, self.dtype, *(int,) * 4)
    return _plan_one(entry, folded_shape(self.sizes, dims[0]))


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
        if not _is_small(out, self):
            return None
        entry = _entry(triangle_flat, out.dtype, out.dtype, self.dtype, *(int,) * 5)
        return _plan_one(entry, (*self.sizes[-2:], diagonal, int(is_upper)))

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
    if not _is_small(out, self) or out.dtype != self.dtype or not self.sizes:
        return None
    acc = float if out.dtype.kind == "f" else int
    entry = _entry(cumsum_flat, out.dtype, out.dtype, self.dtype, *(int,) * 4, acc)
    return _plan_one(entry, (*folded_shape(self.sizes, dim), acc(0)))


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


def _plan_one(entry: Callable[..., Any], numbers: tuple[Any, ...]) -> Plan:
    """The plan of a kernel of one operand that cannot fail."""

    def run(target: Array, a: Array, at: int, numbers: Any) -> None:
        entry(target, a, at, *numbers)

    return Plan(run, numbers)
