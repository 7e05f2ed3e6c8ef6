"""Joining arrays, by NumPy's and Python's copies, and the places of triangles."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from operator import itemgetter
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.copy import copy, joining
from torchgen_out._runtime.kernels.cpu.copy.casting import find_mover
from torchgen_out._runtime.kernels.cpu.folding import copy_parts
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING
from torchgen_out._runtime.kernels.cpu.planned import made_apart, planned, viewer
from torchgen_out._runtime.kernels.cpu.small import WORDS
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any


@planned(any_order=True, any_strides=True)
def cat(result: TensorSpec, tensors: Sequence[TensorSpec], dim: int = 0) -> LaunchPlan:
    """Write the tensors one behind the other along `dim`; those of shape (0,) are left out.

    Where all have a dim less than the result, it is a new one: they are stacked. All are seen with
    their dims as the result's memory has them.
    """
    if not result.numel:
        return NOTHING
    ndim = len(result.sizes)
    dim %= ndim
    if all(len(each.sizes) < ndim for each in tensors):
        tensors = _widened(tensors, dim)
    if not all(each.numel for each in tensors):
        return _plan_others(result, tensors, dim)
    if result.is_contiguous:
        return _plan_dense(result, tensors, dim)
    order = result.memory_order
    seen = [each.permuted(order) for each in tensors]
    turned = result.permuted(order)
    if turned.is_contiguous:
        return _plan_dense(turned, seen, order.index(dim))
    dense = turned.dense
    return made_apart(_plan_dense(dense, seen, order.index(dim)), turned)


def _plan_others(result: TensorSpec, tensors: Sequence[TensorSpec], dim: int) -> LaunchPlan:
    """The plan that leaves out the tensors without elements."""
    taken = [i for i, each in enumerate(tensors) if each.numel]
    plan = cat.plan(result, [tensors[i] for i in taken], dim)
    pick = itemgetter(0, *[1 + i for i in taken], *[1 + len(tensors) + i for i in taken], -1)
    return LaunchPlan(lambda *args: plan.run(*pick(args)), plan.params)


def _plan_dense(result: TensorSpec, tensors: Sequence[TensorSpec], dim: int) -> LaunchPlan:
    """The plan for a contiguous result."""
    outer, counts = prod(result.sizes[:dim]), [each.numel for each in tensors]
    are_dense = all(each.is_contiguous for each in tensors)
    run = joining.few_joiner(result, outer, counts) if are_dense else None
    is_flat = (outer == 1 or len(tensors) == 1) and result.numel < threads.GRAIN
    if run is None and are_dense and is_flat and not _are_many_small(result, tensors):
        run = _flat_joiner(counts)
    if run is None and are_dense and (join := _joiner(result, tensors, outer)) is not None:
        run = _over_exact(join, counts)
    return _plan_slices(result, tensors, dim) if run is None else LaunchPlan(run, None)


class _InexactError(ValueError):
    """Memory holds more than the elements that are asked for."""


def _over_exact(run: Any, counts: Sequence[int]) -> Any:
    """What runs a joiner of flat memory, which holds just the elements of each tensor.

    Mostly it does. Where another operand has gaps or is cast, a dense one may come as a part of
    more; only then a joiner that tells it by sizes, or NumPy, refuses before anything is written.
    """
    behind = len(counts)

    def run_over_exact(out: Array, *args: Any) -> None:
        try:
            run(out, *args)
        except ValueError:
            parts = [
                args[i][args[behind + i] : args[behind + i] + count]
                for i, count in enumerate(counts)
            ]
            run(out, *parts, *args[behind:])

    return run_over_exact


def _flat_joiner(counts: Sequence[int]) -> Any:
    """What joins flat memory of dense tensors, one behind the other."""
    behind = len(counts)

    def run(out: Array, *args: Any) -> None:
        try:
            np.concatenate(args[:behind], 0, out)
        except ValueError:  # memory of some holds more than their elements
            parts = zip(args, args[behind:], counts, strict=False)
            np.concatenate([flat[at : at + count] for flat, at, count in parts], 0, out)

    return run


def _joiner(result: TensorSpec, tensors: Sequence[TensorSpec], outer: int) -> Any:
    """What joins flat memory of dense tensors; None if they are joined part by part."""
    if joining.is_narrow(result, outer):
        return None
    are_small = _are_many_small(result, tensors)
    if outer == 1:
        join = _join_many if result.numel < threads.GRAIN else _join_large
        return lambda out, *args: join(out, args[: len(tensors)])
    if are_small and len(set(tensors)) == 1:
        return _interleaver(len(tensors), outer)
    if result.numel < threads.GRAIN:
        return _row_joiner(len(tensors), outer)
    return None


SMALL_PART = 1 << 13
"""Elements of a part, in the mean, up to which NumPy joins all parts in one call."""
MANY, SMALL = 8, 1 << 11
"""Tensors, and bytes of each in the mean, from which and up to which Python joins them sooner.

NumPy takes 100 ns a tensor besides its bytes, `bytes.join` 40, but moves the bytes twice.
"""


def _are_many_small(result: TensorSpec, tensors: Sequence[TensorSpec]) -> bool:
    nbytes, count = result.numel * result.dtype.itemsize, len(tensors)
    return (
        count >= MANY
        and nbytes <= SMALL * count
        and {each.dtype for each in tensors} == {result.dtype}
    )


def _interleaver(count: int, outer: int) -> Any:
    """What joins so many dense tensors of one shape: first the first of `outer` rows of each."""

    def run(out: Array, *args: Any) -> None:
        joined = np.frombuffer(b"".join(args[:count]), out.dtype).reshape(count, outer, -1)
        out.reshape(outer, count, -1)[...] = joined.transpose(1, 0, 2)

    return run


def _row_joiner(count: int, outer: int) -> Any:
    """What joins each of `outer` rows of so many dense tensors."""

    def run(out: Array, *args: Any) -> None:
        rows = [flat.reshape(outer, -1) for flat in args[:count]]
        np.concatenate(rows, 1, out=out.reshape(outer, -1))

    return run


FEW_RUNS = 100
"""Runs of neighbours of a tensor, in the mean, up to which NumPy, which takes 5 ns for each, copies
it sooner than a loop of its own is called."""


def _plan_moves(result: TensorSpec, tensors: Sequence[TensorSpec], dim: int) -> LaunchPlan | None:
    """The plan that moves each tensor by a loop; None for those that are not cut into many runs."""
    behind, size = len(tensors), result.dtype.itemsize
    runs = sum(each.numel // _run_length(each, result) for each in tensors)
    if (
        runs < FEW_RUNS * behind
        or size not in WORDS
        or {each.dtype for each in tensors} != {result.dtype}
    ):
        return None
    moves, start = [], 0
    for i, each in enumerate(tensors):
        found = find_mover(size, each[1:3], (each.sizes, result.strides))
        if found is None:
            return None
        run, together = found
        moves.append((i, behind + i, run, start, together))
        start += each.sizes[dim] * result.strides[dim]
    word = WORDS[size]

    def run_all(out: Array, *args: Any) -> None:
        out = out.view(word)
        for i, at, run, place, together in moves:
            source = args[i].view(word)
            if together is None:
                run(place, args[at], out, source)
            else:
                run(out[place : place + together], source[args[at] : args[at] + together])

    return LaunchPlan(run_all, None)


def _run_length(source: TensorSpec, result: TensorSpec) -> int:
    """How many neighbours of a tensor are neighbours in the result, too."""
    length = 1
    for size, own, other in zip(
        reversed(source.sizes), reversed(source.strides), reversed(result.strides), strict=True
    ):
        if size > 1:
            if own != length or other != length:
                break
            length *= size
    return length


def _plan_slices(result: TensorSpec, tensors: Sequence[TensorSpec], dim: int) -> LaunchPlan:
    """The plan that copies each tensor to its part of the result."""
    if moved := _plan_moves(result, tensors, dim):
        return moved
    outer = prod(result.sizes[:dim])
    joins_few = not joining.is_narrow(result, outer)
    before = (slice(None),) * dim
    behind, viewers = len(tensors), [viewer(each) for each in tensors]
    least = max(threads.GRAIN, SMALL_PART * behind)

    def run(out: Array, *args: Any) -> None:
        placed, pairs, start = out.reshape(result.sizes), [], 0
        views = [view(args[i], args[behind + i]) for i, view in enumerate(viewers)]
        if joins_few and result.numel < least:
            np.concatenate(views, dim, out=placed)
            return
        for view in views:
            stop = start + view.shape[dim]
            pairs.append((placed[(*before, slice(start, stop))], view))
            start = stop
        copy_parts(*pairs)

    return LaunchPlan(run, None)


def _widened(tensors: Sequence[TensorSpec], dim: int) -> list[TensorSpec]:
    """The tensors with a dim of one element more."""
    return [
        TensorSpec(dtype, (*sizes[:dim], 1, *sizes[dim:]), (*strides[:dim], 0, *strides[dim:]))
        for dtype, sizes, strides in tensors
    ]


def _join_large(out: Array, arrays: Sequence[Array]) -> None:
    if threads.get_num_threads() == 1:
        joining.join(out, arrays)
        return
    if sum(array.size for array in arrays) != out.size:
        raise _InexactError
    start = 0
    for array in arrays:
        copy.assign(out[start : start + array.size], array)
        start += array.size


def _join_many(out: Array, arrays: Sequence[Array]) -> None:
    out[...] = np.frombuffer(b"".join(arrays), out.dtype)


def triangle_places(rows: int, columns: int, offset: int, is_upper: bool) -> Array:
    """The row numbers of one side of a matrix, and behind them the column numbers."""
    count = _count_lower(rows, columns, offset - is_upper)
    if is_upper:
        count = rows * columns - count
    out = np.empty(2 * count, np.int64)
    if count:
        _triangle_entry()(out, rows, columns, offset, int(is_upper))
    return out


MOST_PLACES = 1024
"""Up to how many elements the places on one side of a matrix are remembered."""


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
