"""Joining two to four dense tensors by loops of our own: NumPy takes a microsecond to begin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.folding import NARROW
from torchgen_out._runtime.kernels.cpu.small import as_words
from torchgen_out._runtime.kernels.plan import TensorSpec
from torchgen_out._runtime.kernels.typed import typed

Array = Any
WIDEST = 8
"""Bytes of an element that a word holds."""
MANY_ROWS = 1 << 10
"""Narrow rows from which on parts are copied one after the other."""


def few_joiner(result: TensorSpec, outer: int, counts: Sequence[int]) -> Any:
    """What joins flat memory of two to four dense tensors; None for others."""
    if len(counts) == 2:
        return _pair_joiner(result, outer, counts)
    own, join_rows = as_words(result).dtype, {3: join_three, 4: join_four}.get(len(counts))
    is_large = result.numel >= 2 * threads.GRAIN
    if join_rows is None or own.itemsize > WIDEST or is_narrow(result, outer):
        return None
    if outer == 1 and is_large:
        return None
    entry = join_rows.entry_point(own, (int, int, own, *[own] * len(counts), int))
    runner = _triple_runner if len(counts) == 3 else _quadruple_runner
    return runner(entry, outer, counts)


def _pair_joiner(result: TensorSpec, outer: int, counts: Sequence[int]) -> Any:
    """What joins flat memory of two dense tensors; None if several are joined as well."""
    own = as_words(result).dtype
    is_interleaved = result.numel == 2 * outer
    if own.itemsize > WIDEST or (is_narrow(result, outer) and not is_interleaved):
        return None
    if outer > 1 or result.numel < threads.GRAIN:
        entry = join_two.entry_point(own, (int, int, own, own, own, int))
        return _pair_runner(entry, outer, counts)
    if result.numel >= 2 * threads.GRAIN:
        entry = join_flat.entry_point(own, (int, int, own, own, own))
        return _flat_pair_runner(entry, counts)
    return None


def is_narrow(result: TensorSpec, outer: int) -> bool:
    """Whether there are many rows of a few bytes."""
    return outer >= MANY_ROWS and result.numel * result.dtype.itemsize <= 2 * NARROW * outer


def _pair_runner(entry: Any, outer: int, counts: Sequence[int]) -> Any:
    """What joins rows of two. counts: their elements, of which their memory may hold more."""
    one, other = counts
    work, is_large = one + other, one + other >= 2 * threads.GRAIN

    def run(out: Array, first: Array, second: Array, at: int, at_second: int, _: Any) -> None:
        if first.size != one or second.size != other:
            first, second = first[at : at + one], second[at_second : at_second + other]
        if is_large:
            threads.run_ranges(entry, outer, work, out, first, second, outer)
        else:
            entry(0, outer, out, first, second, outer)

    return run


def _triple_runner(entry: Any, outer: int, counts: Sequence[int]) -> Any:
    """The same of three."""
    one, two, three = counts
    work, is_large = sum(counts), sum(counts) >= 2 * threads.GRAIN

    def run(
        out: Array, a: Array, b: Array, c: Array, at: int, at_b: int, at_c: int, _: Any
    ) -> None:
        if a.size != one or b.size != two or c.size != three:
            a, b, c = a[at : at + one], b[at_b : at_b + two], c[at_c : at_c + three]
        if is_large:
            threads.run_ranges(entry, outer, work, out, a, b, c, outer)
        else:
            entry(0, outer, out, a, b, c, outer)

    return run


def _quadruple_runner(entry: Any, outer: int, counts: Sequence[int]) -> Any:
    """The same of four."""
    work, sizes, is_large = sum(counts), list(counts), sum(counts) >= 2 * threads.GRAIN

    def run(out: Array, *args: Any) -> None:
        parts = args[:4]
        if [*map(len, parts)] != sizes:
            pairs = zip(parts, args[4:], sizes, strict=False)
            parts = tuple([each[at : at + size] for each, at, size in pairs])
        if is_large:
            threads.run_ranges(entry, outer, work, out, *parts, outer)
        else:
            entry(0, outer, out, *parts, outer)

    return run


def _flat_pair_runner(entry: Any, counts: Sequence[int]) -> Any:
    """The same of two behind each other."""
    one, other = counts

    def run(out: Array, first: Array, second: Array, at: int, at_second: int, _: Any) -> None:
        if first.size != one or second.size != other:
            first, second = first[at : at + one], second[at_second : at_second + other]
        if threads.get_num_threads() == 1:
            join(out, (first, second))
        else:
            threads.run_ranges(entry, out.size, out.size, out, first, second)

    return run


@typed
def join_flat(start, stop, out, first, second):
    """Elements start to stop of both, one behind the other."""
    ahead = first.size
    if start < ahead:
        end = min(stop, ahead)
        target, source = out[start:end], first[start:end]
        for i in range(target.size):
            target[i] = source[i]
    if stop > ahead:
        begin = max(start, ahead)
        target, source = out[begin:stop], second[begin - ahead : stop - ahead]
        for i in range(target.size):
            target[i] = source[i]


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
        at, source = np.uint64(row * (a + b)), np.uint64(row * a)
        for i in range(np.uint64(a)):
            out[at + i] = first[source + i]
        at, source = at + np.uint64(a), np.uint64(row * b)
        for i in range(np.uint64(b)):
            out[at + i] = second[source + i]


@typed
def join_three(start, stop, out, first, second, third, outer):
    """The same of three."""
    a, b, c = first.size // outer, second.size // outer, third.size // outer
    for row in range(start, stop):
        at = row * (a + b + c)
        copy_row(out, at, first, row * a, a)
        copy_row(out, at + a, second, row * b, b)
        copy_row(out, at + a + b, third, row * c, c)


@typed
def join_four(start, stop, out, first, second, third, fourth, outer):
    """The same of four."""
    a, b, c, d = (
        first.size // outer,
        second.size // outer,
        third.size // outer,
        fourth.size // outer,
    )
    for row in range(start, stop):
        at = row * (a + b + c + d)
        copy_row(out, at, first, row * a, a)
        copy_row(out, at + a, second, row * b, b)
        copy_row(out, at + a + b, third, row * c, c)
        copy_row(out, at + a + b + c, fourth, row * d, d)


@typed
def copy_row(out, at, source, start, width):
    """Neighbours to where others are."""
    for i in range(np.uint64(width)):
        out[np.uint64(at) + i] = source[np.uint64(start) + i]


def join(out: Array, arrays: Sequence[Array]) -> None:
    np.concatenate(arrays, out=out)
