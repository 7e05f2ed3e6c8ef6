"""Entries by one of their indices: a counting sort."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.loop_plans import operand, out, plan_loop, refusing
from torchgen_out._runtime.kernels.cpu.planned import contiguous, planned
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any


def group(offsets: Array, order: Array, keys: Array, count: int) -> None:
    """order: the places of keys 0, then of keys 1, ...; offsets[k]: where those of k begin in it.

    Raises: RuntimeError for a key that is negative, or not less than `count`.
    """
    begins = np.empty(count, np.int64)
    if not count_and_place(offsets, order, begins, contiguous(keys)):
        raise RuntimeError(f"_group: a key is not in [0, {count})")


@kernel
def count_and_place(offsets, order, begins, keys):
    """False, and nothing placed, if a key is outside. begins: room for a number for each key."""
    count, total = np.uint64(begins.size), 0
    for k in range(begins.size):
        begins[k] = 0
    for i in range(keys.size):
        key = np.uint64(keys[i])
        if key >= count:
            return False
        begins[key] += 1
    for k in range(begins.size):
        offsets[k], total = total, total + begins[k]
        begins[k] = offsets[k]
    offsets[begins.size] = total
    for i in range(keys.size):
        key = np.uint64(keys[i])
        order[np.uint64(begins[key])] = i
        begins[key] += 1
    return True


@planned(results=3)
def turn(
    begins: TensorSpec,
    rows: TensorSpec,
    order: TensorSpec,
    offsets: TensorSpec,
    others: TensorSpec,
    count: int,
) -> LaunchPlan:
    """Plan entries by rows brought in the order of columns: as `group` of `others`, with the row
    of each entry in that order."""
    lines, entries = offsets.numel - 1, others.numel
    plan = plan_loop(
        turn_over, [begins, rows, order], [offsets, others],
        out(0, count + 1), out(1, entries), out(2, entries),
        operand(0, lines + 1), operand(1, entries),
    )  # fmt: skip
    return refusing(plan, lambda *args: RuntimeError(f"_turn: a column is not in [0, {count})"))


@kernel
def turn_over(begins, rows, order, offsets, others):
    """False, and nothing placed, if a column is outside, or rows are no parts of the entries."""
    count, before = np.uint64(begins.size - 1), 0
    for i in range(offsets.size):
        if offsets[i] < before or offsets[i] > others.size:
            return False
        before = offsets[i]
    if offsets[0] != 0 or before != others.size:
        return False
    for k in range(begins.size):
        begins[k] = 0
    for i in range(others.size):
        column = np.uint64(others[i])
        if column >= count:
            return False
        begins[column + np.uint64(1)] += 1
    for k in range(begins.size - 1):
        begins[k + 1] += begins[k]
    for row in range(offsets.size - 1):
        for i in range(offsets[row], offsets[row + 1]):
            column = np.uint64(others[i])
            place = np.uint64(begins[column])
            rows[place], order[place] = row, i
            begins[column] += 1
    for k in range(begins.size - 1, 0, -1):
        begins[k] = begins[k - 1]
    begins[0] = 0
    return True


@planned(results=3)
def merge(
    one_of_each: TensorSpec,
    sources: TensorSpec,
    kept: TensorSpec,
    lines: TensorSpec,
    others: TensorSpec,
    count: int,
    across: int,
) -> LaunchPlan:
    """Plan which new entry each entry joins when those of one place become one, in order; one of
    those that join each new one; and how many these are.

    Where no two lie in one place `sources` is not written.
    """
    entries = lines.numel
    plan = plan_loop(
        merge_entries, [one_of_each, sources, kept], [lines, others],
        out(0, entries), out(1, entries), out(2, 1),
        operand(0, entries), operand(1, entries), count, across,
    )  # fmt: skip
    return refusing(plan, lambda *args: RuntimeError(f"an index is outside of {[count, across]}"))


@kernel
def merge_entries(one_of_each, sources, kept, lines, others, count, across):
    """False, and nothing written, if an index is outside.

    Entries are placed by lines, and within a line sorted by one number of index and place.
    """
    begins, keys = np.zeros(count + 1, np.int64), np.empty(lines.size, np.int64)
    for i in range(lines.size):
        if not (0 <= lines[i] < count and 0 <= others[i] < across):
            return False
        begins[lines[i] + 1] += 1
    for k in range(count):
        begins[k + 1] += begins[k]
    for i in range(lines.size):
        line = np.uint64(lines[i])
        keys[np.uint64(begins[line])] = others[i] << 32 | i
        begins[line] += 1
    room, start, number = np.empty(lines.size, np.int64), 0, -1
    for k in range(count):
        stop, last = begins[k], -1
        sort_keys(keys, room, start, stop)
        for i in range(start, stop):
            other = keys[i] >> 32
            if other != last:
                number, last = number + 1, other
                one_of_each[number] = keys[i] & 0x7FFFFFFF
            room[i] = number
        start = stop
    kept[0] = number + 1
    for i in range(number + 1, one_of_each.size):
        one_of_each[i] = 0
    if number + 1 < lines.size:
        for i in range(lines.size):
            sources[np.uint64(keys[i] & 0x7FFFFFFF)] = room[i]
    return True


RUN = 24
"""Keys that are sorted by insertion."""


@kernel
def sort_keys(keys, room, start, stop):
    """keys[start:stop] ascending: runs by insertion, then merged two by two."""
    for first in range(start, stop, RUN):
        for i in range(first + 1, min(first + RUN, stop)):
            key, j = keys[i], i
            while j > first and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
    length = RUN
    while length < stop - start:
        for first in range(start, stop, 2 * length):
            middle, last = min(first + length, stop), min(first + 2 * length, stop)
            i, j = first, middle
            for k in range(first, last):
                if j >= last or (i < middle and keys[i] < keys[j]):
                    room[k] = keys[i]
                    i += 1
                else:
                    room[k] = keys[j]
                    j += 1
        for k in range(start, stop):
            keys[k] = room[k]
        length *= 2
