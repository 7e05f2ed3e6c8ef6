"""Joining, mirroring, repeating and cutting arrays: pure data movement, by NumPy's copies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.copy import copy, moving_plans
from torchgen_out._runtime.kernels.cpu.folding import (
    as_bits,
    buffer_of,
    copy_parts,
    fold,
    rows_of,
    settle,
    start_from,
)
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.cpu.small import DTYPES
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed

Array = Any


def plan_join(out: TensorSpec, tensors: Sequence[TensorSpec], dim: int = 0) -> LaunchPlan | None:
    """Plan joining dense arrays: rows of `out` are rows of all arrays, one behind the other."""
    count = prod(out.sizes)
    outer = prod(out.sizes[: dim % len(out.sizes)])
    if not count or not all(prod(each.sizes) for each in tensors):
        return None
    if len(tensors) == 2 and out.dtype in DTYPES and (outer > 1 or count < threads.GRAIN):
        arguments = int, int, out.dtype, out.dtype, out.dtype, int
        return LaunchPlan(_pair_runner(join_two.entry_point(out.dtype, arguments), count), outer)
    if count < threads.GRAIN:
        return LaunchPlan(_join if outer == 1 else _join_rows, outer)
    return LaunchPlan(_join_large, outer) if outer == 1 else None


def _pair_runner(entry: Any, work: int) -> Any:
    def run(out: Array, arrays: Sequence[Array], outer: int) -> None:
        first, second = arrays
        entry(0, outer, out, first, second, outer)

    def run_parts(out: Array, arrays: Sequence[Array], outer: int) -> None:
        threads.run_ranges(entry, outer, work, out, *arrays, outer)

    return run if work < 2 * threads.GRAIN else run_parts


@typed
def join_two(start, stop, out, first, second, outer):
    """Row r of the result is row r of both, one behind the other."""
    a, b = first.size // outer, second.size // outer
    if a == 1 and b == 1:
        one, other, pairs = first[start:stop], second[start:stop], out[2 * start : 2 * stop]
        for i in range(one.size):
            pairs[np.uint64(2 * i)] = one[i]
            pairs[np.uint64(2 * i + 1)] = other[i]
        return
    for row in range(start, stop):
        target, source = out[row * (a + b) : row * (a + b) + a], first[row * a : (row + 1) * a]
        for i in range(a):
            target[i] = source[i]
        target = out[row * (a + b) + a : (row + 1) * (a + b)]
        source = second[row * b : (row + 1) * b]
        for i in range(b):
            target[i] = source[i]


def _join_large(out: Array, arrays: Sequence[Array], outer: int) -> None:
    start = 0
    for array in arrays:
        copy.assign(out[start : start + array.size], array)
        start += array.size


def _join(out: Array, arrays: Sequence[Array], outer: int) -> None:
    np.concatenate(arrays, out=out)


def _join_rows(out: Array, arrays: Sequence[Array], outer: int) -> None:
    rows = [array.reshape(outer, -1) for array in arrays]
    np.concatenate(rows, 1, out=out.reshape(outer, -1))


@planned(plan_join)
def cat(out: Array, tensors: Sequence[Array], dim: int = 0) -> None:
    """Write the arrays one behind the other along `dim`; those of shape (0,) are left out."""
    if any(tensor.ndim != out.ndim for tensor in tensors):
        tensors = [tensor for tensor in tensors if tensor.ndim == out.ndim]
    if out.size < threads.GRAIN:
        np.concatenate(tensors, dim, out=out)
        return
    before = (slice(None),) * (dim % out.ndim)
    pairs, start = [], 0
    for tensor in tensors:
        stop = start + tensor.shape[dim]
        pairs.append((out[(*before, slice(start, stop))], tensor))
        start = stop
    copy_parts(*pairs)


@planned(plan_join)
def stack(out: Array, tensors: Sequence[Array], dim: int = 0) -> None:
    """Write the arrays one behind the other along the new dim `dim`."""
    before = (slice(None),) * (dim % out.ndim)
    copy_parts(*[(out[(*before, i, ...)], tensor) for i, tensor in enumerate(tensors)])


@planned(moving_plans.plan_flip)
def flip(out: Array, self: Array, dims: Sequence[int]) -> None:
    """Write self mirrored along each of `dims`."""
    last = self.ndim - 1
    mirrored = {dim % self.ndim for dim in dims} if self.ndim else set()
    if last not in mirrored or not (out.flags.c_contiguous and self.flags.c_contiguous):
        copy_parts((out, np.flip(self, tuple(mirrored))))
        return
    rows = rows_of(self)
    order = np.arange(len(rows)).reshape(self.shape[:-1])
    order = np.flip(order, tuple(mirrored - {last})).reshape(-1)
    threads.run_rows(_reverse_rows, (rows_of(as_bits(out)), order), as_bits(rows))


@kernel
def _reverse_rows(out, order, self):
    """Row r of the result is row order[r], backwards."""
    last = self.shape[1] - 1
    for row in range(order.size):
        source, target = self[order[row]], out[row]
        for i in range(target.size):
            target[i] = source[np.uint64(last - i)]


@planned(moving_plans.plan_repeat_interleave)
def repeat_interleave_int(
    out: Array, self: Array, repeats: int, dim: int | None = None, output_size: int | None = None
) -> None:
    """Write every slice along `dim` `repeats` times; without `dim` every element."""
    if not out.size:
        return
    source = fold(self, 0 if dim is None else dim) if self.ndim else self.reshape(1, 1, 1)
    if dim is None:
        source = source.reshape(1, -1, 1)
    buffer = buffer_of(out)
    outer, size, inner = source.shape
    if inner == 1:
        arrays = as_bits(buffer).reshape(-1, repeats), as_bits(source).reshape(-1)
        threads.run_rows(_repeat_elements, arrays)
    else:
        target = buffer.reshape(outer, size, repeats, inner)
        copy_parts((target, source[:, :, None]))
    settle(out, buffer)


@kernel
def _repeat_elements(out, self):
    for row in range(self.size):
        for i in range(out.shape[1]):
            out[row, i] = self[row]


@planned(moving_plans.plan_roll)
def roll(
    out: Array, self: Array, shifts: int | Sequence[int], dims: int | Sequence[int] = ()
) -> None:
    """Write self shifted along `dims`, or as if flat."""
    if not self.size:
        return
    if isinstance(dims, (tuple, list)) and not dims:
        shift = shifts[0] if isinstance(shifts, (tuple, list)) else shifts
        buffer = buffer_of(out)
        _copy_rolled(buffer.reshape(-1), self.reshape(-1), shift, 0)
        settle(out, buffer)
        return
    shifts = list(shifts) if isinstance(shifts, (tuple, list)) else [shifts]
    dims = list(dims) if isinstance(dims, (tuple, list)) else [dims]
    for shift, dim in zip(shifts[:-1], dims[:-1], strict=True):
        self = np.roll(self, shift, dim)
    _copy_rolled(out, self, shifts[-1], dims[-1])


def _copy_rolled(out: Array, self: Array, shift: int, dim: int) -> None:
    size = self.shape[dim]
    shift %= size
    before = (slice(None),) * (dim % self.ndim)
    behind, front = (*before, slice(shift, None)), (*before, slice(None, shift))
    rest, end = (*before, slice(None, size - shift)), (*before, slice(size - shift, None))
    copy_parts((out[behind], self[rest]), (out[front], self[end]))


def repeat(out: Array, self: Array, repeats: Sequence[int]) -> None:
    """Write self `repeats[i]` times along dim i: one copy between views with a dim per repeat."""
    if not out.size:
        return
    padded = self.reshape((1,) * (len(repeats) - self.ndim) + self.shape)
    interleaved = [n for pair in zip(repeats, padded.shape, strict=True) for n in pair]
    source = padded[tuple(i for _ in repeats for i in (None, slice(None)))]
    target = out.reshape(interleaved)  # splitting dims never copies
    copy_parts((target, source))


@planned(moving_plans.plan_triangle(False))
def tril(out: Array, self: Array, diagonal: int = 0) -> None:
    """Write self with zeros above the diagonal."""
    _triangle(out, self, diagonal, False)


@planned(moving_plans.plan_triangle(True))
def triu(out: Array, self: Array, diagonal: int = 0) -> None:
    """Write self with zeros below the diagonal."""
    _triangle(out, self, diagonal, True)


def _triangle(out: Array, self: Array, diagonal: int, upper: bool) -> None:
    rows, columns = self.shape[-2:]
    diagonal = min(max(diagonal, -rows), columns)
    if out is not self and out.flags.c_contiguous and self.flags.c_contiguous:
        flat = (-1, rows, columns)
        if out.size:
            source, target = as_bits(self).reshape(flat), as_bits(out).reshape(flat)
            threads.run_rows(_copy_triangle, (target, source), diagonal, upper)
        return
    start_from(out, self)
    for row in range(rows):
        edge = min(max(row + diagonal + (not upper), 0), columns)
        out[..., row, slice(None, edge) if upper else slice(edge, None)] = 0


@kernel
def _copy_triangle(out, self, diagonal, upper):
    """Copy one side of each matrix and clear the other, row by row."""
    matrices, rows, columns = self.shape
    for m in range(matrices):
        for row in range(rows):
            edge = min(max(row + diagonal + (0 if upper else 1), 0), columns)
            if upper:
                out[m, row, :edge] = 0
                out[m, row, edge:] = self[m, row, edge:]
            else:
                out[m, row, :edge] = self[m, row, :edge]
                out[m, row, edge:] = 0


def triangle_places(rows: int, columns: int, offset: int, is_upper: bool) -> Array:
    """The row numbers of one side of a matrix, and below them the column numbers."""
    if rows * columns <= MOST_PLACES:
        return _kept_places(rows, columns, offset, is_upper).copy()
    return _triangle_places(rows, columns, offset, is_upper)


MOST_PLACES = 1024
"""Up to how many elements the places on one side of a matrix are remembered."""


def _triangle_places(rows: int, columns: int, offset: int, is_upper: bool) -> Array:
    count = _count_lower(rows, columns, offset - is_upper)
    if is_upper:
        count = rows * columns - count
    out = np.empty(2 * count, np.int64)
    if count:
        _triangle_entry()(out, rows, columns, offset, int(is_upper))
    return out.reshape(2, count)


_kept_places = lru_cache(maxsize=256)(_triangle_places)


def _count_lower(rows: int, columns: int, offset: int) -> int:
    """How many elements lie on and below a diagonal: none in the first rows, all in the last."""
    first = min(max(-offset, 0), rows)
    full = min(max(columns - offset - 1, first), rows)
    return (full - first) * (first + full + 2 * offset + 1) // 2 + (rows - full) * columns


@cache
def _triangle_entry() -> Any:
    """The compiled `_fill_places`."""
    return _fill_places.entry_point((np.dtype(np.int64), *(int,) * 4))


@kernel
def _fill_places(out, rows, columns, offset, upper):
    count, place = out.size // 2, 0
    for row in range(rows):
        edge = min(max(row + offset + 1 - upper, 0), columns)
        start, stop = (edge, columns) if upper else (0, edge)
        for column in range(start, stop):
            out[place] = row
            out[count + place] = column
            place += 1


@planned(moving_plans.plan_diag_embed)
def diag_embed(out: Array, self: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> None:
    """Write the last dim of self onto the diagonal of dims `dim1` and `dim2`, zeros elsewhere."""
    out[...] = 0
    size = self.shape[-1]
    matrices = np.moveaxis(out, (dim1, dim2), (-2, -1))
    places = np.arange(size)
    matrices[..., places + max(-offset, 0), places + max(offset, 0)] = self
