"""Entries by one of their indices: counting sorts."""

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
    turned: TensorSpec,
    offsets: TensorSpec,
    others: TensorSpec,
    carried: TensorSpec,
    count: int,
) -> LaunchPlan:
    """Plan entries by rows brought in the order of columns: where each column begins, and the row
    and what is carried with it, 32 bits, of each entry in that order."""
    lines, entries = offsets.numel - 1, others.numel
    plan = plan_loop(
        turn_over, [begins, rows, turned], [offsets, others, carried],
        out(0, count + 1), out(1, entries), out(2, entries),
        operand(0, lines + 1), operand(1, entries), operand(2, entries),
    )  # fmt: skip
    return refusing(plan, lambda *args: RuntimeError(f"_turn: a column is not in [0, {count})"))


@kernel
def turn_over(begins, rows, turned, offsets, others, carried):
    """False, and nothing placed, if a column is outside, or rows are no parts of the entries."""
    count, is_outside = begins.size - 1, False
    for i in range(1, offsets.size):
        is_outside |= offsets[i] < offsets[i - 1]
    if is_outside or offsets[0] != 0 or offsets[offsets.size - 1] != others.size:
        return False
    places = np.zeros(count + 1, np.uint32)
    for i in range(others.size):  # what is outside is counted behind the last column
        places[min(np.uint64(others[i]), np.uint64(count))] += np.uint32(1)
    if places[count] != 0:
        return False
    begin_lines(begins, places)
    for row in range(offsets.size - 1):
        for i in range(np.uint64(offsets[row]), np.uint64(offsets[row + 1])):
            put_word(rows, places, others[i], row, carried[i])
    part_words(rows, turned)
    return True


@kernel
def put_word(words, places, line, other, carried):
    """An entry at the place that is next in its line; its other index and 32 bits as one word.

    What takes time is writing to places that are not in the cache: one store, not two.
    """
    place = places[np.uint64(line)]
    word = np.uint64(other) << np.uint64(32) | np.uint64(np.uint32(carried))
    words[np.uint64(place)] = word
    places[np.uint64(line)] = place + np.uint32(1)


@kernel
def part_words(words, carried):
    """The other indices, in place of the words, and what is carried with them."""
    for i in range(words.size):
        word = np.uint64(words[i])
        words[i], carried[i] = word >> np.uint64(32), np.int32(np.uint32(word))


@kernel
def begin_lines(begins, places):
    """Where the entries of each line begin; places: how many each has, then where without the
    end."""
    begins[0] = 0
    for k in range(begins.size - 1):
        begins[k + 1] = begins[k] + np.int64(places[k])
        places[k] = np.uint32(begins[k])
