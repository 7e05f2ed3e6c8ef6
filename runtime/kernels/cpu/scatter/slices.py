"""Writing along a dim between others, in arrays folded as (outer, size, inner).

A lane is one of the outer * inner lines along the dim: no two write to one place, so threads share
them. Lanes side by side are neighbours in memory and go together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import Kernel, kernel

Array = Any


def run(loop: Kernel, work: int, out: Array, first: Array, second: Array) -> bool:
    """loop(start, stop, out, first, second) over all lanes; whether no place was outside.

    first, second: as the loop takes them, the first with as many lanes as are written.
    """
    return threads.run_ranges(loop, len(first) * first.shape[2], work, out, first, second)


@kernel
def write(start, stop, out, index, src):
    """out[o, index[o, j, i], i] = src[o, j, i], in order. False for a place outside."""
    size, inner = np.uint64(out.shape[1]), index.shape[2]
    lane = start
    while lane < stop:
        o, first = divmod(lane, inner)
        last = min(first + stop - lane, inner)
        target = out[o]
        for j in range(index.shape[1]):
            slots, row = index[o, j, first:last], src[o, j, first:last]
            for i in range(slots.size):
                k = np.uint64(slots[i])
                if k >= size:
                    return False
                target[k, np.uint64(first + i)] = row[i]
        lane += last - first
    return True


@kernel
def add(start, stop, out, index, src):
    """out[o, index[o, j, i], i] += src[o, j, i]. False for a place outside."""
    size, inner = np.uint64(out.shape[1]), index.shape[2]
    lane = start
    while lane < stop:
        o, first = divmod(lane, inner)
        last = min(first + stop - lane, inner)
        target = out[o]
        for j in range(index.shape[1]):
            slots, row = index[o, j, first:last], src[o, j, first:last]
            for i in range(slots.size):
                k = np.uint64(slots[i])
                if k >= size:
                    return False
                target[k, np.uint64(first + i)] += row[i]
        lane += last - first
    return True


@kernel
def add_slices(start, stop, out, source, index):
    """out[o, index[j], :] += source[o, j, :]; source may hold one slice for all j."""
    inner, lane, step = source.shape[2], start, 0 if source.shape[1] == 1 else 1
    while lane < stop:
        o, first = divmod(lane, inner)
        last = min(first + stop - lane, inner)
        for j in range(index.size):
            target, row = out[o, index[j], first:last], source[o, j * step, first:last]
            for i in range(row.size):
                target[i] += row[i]
        lane += last - first
    return True


@kernel
def copy_slices(start, stop, out, source, index):
    """out[o, index[j], :] = source[o, j, :], in order; source may hold one slice for all j."""
    inner, lane, step = source.shape[2], start, 0 if source.shape[1] == 1 else 1
    while lane < stop:
        o, first = divmod(lane, inner)
        last = min(first + stop - lane, inner)
        for j in range(index.size):
            target, row = out[o, index[j], first:last], source[o, j * step, first:last]
            for i in range(row.size):
                target[i] = row[i]
        lane += last - first
    return True
