"""Copies between strided arrays of one shape, parts of their elements on several threads.

A loop knows the flat memory from an array's first to its last element and walks it by strides; dims
that both arrays walk as one are one. NumPy's own copies are as fast, but know no threads, and take
six times as long where the arrays lie crosswise, which here are turned in tiles.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np

from torchgen_out._runtime.dispatch.launch_cache import LAUNCHES_KEPT
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.copy.casting import find_mover

Array = Any


def copy_flat(out: Array, source: Array) -> None:
    """out[:] = source, contiguous vectors of the same length and dtype."""
    threads.run_flat(_flat_entry(out.dtype), (out, source))


@cache
def _flat_entry(dtype: Any) -> Any:
    return _copy_flat.entry_point((dtype, dtype))


@kernel
def _copy_flat(out, source):
    for i in range(out.size):
        out[i] = source[i]


def are_crosswise(out: Array, source: Array) -> bool:
    """Whether neighbours in the memory of one array are far from each other in the other's."""
    return _are_crosswise(out.shape, out.strides, source.strides)


@lru_cache(maxsize=LAUNCHES_KEPT)
def _are_crosswise(
    shape: tuple[int, ...], strides: tuple[int, ...], others: tuple[int, ...]
) -> bool:
    steps = [
        (abs(own), abs(other))
        for size, own, other in zip(shape, strides, others, strict=True)
        if size > 1 and own and other
    ]
    return min(steps) != min(steps, key=lambda pair: pair[::-1]) if steps else False


def copy_elements(out: Array, source: Array) -> None:
    """out[...] = source, of the same shape and dtype, which do not overlap."""
    flat, at, steps = _memory(out)
    other, other_at, other_steps = _memory(source)
    copier = _find_copier(out.itemsize, out.shape, tuple(steps), tuple(other_steps))
    if copier is not None:
        run, together = copier
        run(0, 0, flat, other) if together is None else run(flat, other)
        return
    geometry = np.array(_merged(out.shape, steps, other_steps), np.int64)
    numbers = at, other_at, *geometry.T.copy()
    threads.run_ranges(_copy_range, out.size, out.size, flat, other, *numbers)


@lru_cache(maxsize=LAUNCHES_KEPT)
def _find_copier(
    itemsize: int, shape: tuple[int, ...], steps: tuple[int, ...], source_steps: tuple[int, ...]
) -> Any:
    """The loop for arrays whose strides are all positive, or 0 in the source; else None."""
    if min((*steps, 1)) < 1 or min((*source_steps, 0)) < 0:
        return None
    return find_mover(itemsize, (shape, source_steps), (shape, steps))


def _memory(array: Array) -> tuple[Array, int, list[int]]:
    """All memory that an array walks over, the place of its first element, strides in elements."""
    size = array.itemsize
    steps = [stride // size for stride in array.strides]
    reach = [(n - 1) * step for n, step in zip(array.shape, steps, strict=True)]
    at = -sum(each for each in reach if each < 0)
    if at:
        array = array[tuple(slice(None, None, -1 if step < 0 else 1) for step in steps)]
    span = 1 + sum(map(abs, reach))
    return np.lib.stride_tricks.as_strided(array, (span,), (size,)), at, steps


def _merged(shape: tuple[int, ...], *strides: list[int]) -> list[list[int]]:
    """Each dim's size and strides, those that are walked as one merged; at least one dim."""
    merged: list[list[int]] = []
    for size, *steps in zip(shape, *strides, strict=True):
        if size == 1:
            continue
        if merged and merged[-1][1:] == [size * step for step in steps]:
            merged[-1] = [merged[-1][0] * size, *steps]
        else:
            merged.append([size, *steps])
    return merged or [[1, 1, 1]]


@kernel
def _copy_range(start, stop, out, source, at, source_at, sizes, steps, source_steps):
    """Copy elements start to stop in row-major order, in runs along the last dim."""
    last = sizes.size - 1
    length, step, source_step = sizes[last], steps[last], source_steps[last]
    place = start
    while place < stop:
        rest, first = divmod(place, length)
        count = min(length - first, stop - place)
        a, b = at + first * step, source_at + first * source_step
        for dim in range(last - 1, -1, -1):
            rest, index = divmod(rest, sizes[dim])
            a, b = a + index * steps[dim], b + index * source_steps[dim]
        if step == 1 and source_step == 1:
            target, run = out[a : a + count], source[b : b + count]
            for i in range(count):
                target[i] = run[i]
        elif step == 1 and source_step == 0:
            target, value = out[a : a + count], source[b]
            for i in range(count):
                target[i] = value
        else:
            for i in range(count):
                out[np.uint64(a + i * step)] = source[np.uint64(b + i * source_step)]
        place += count
