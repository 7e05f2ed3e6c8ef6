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
    loop = turn_over if rows.dtype.itemsize == 8 else turn_narrow
    plan = plan_loop(
        loop, [begins, rows, turned], [offsets, others, carried],
        out(0, count + 1), out(1, entries), out(2, entries),
        operand(0, lines + 1), operand(1, entries), operand(2, entries),
    )  # fmt: skip
    return refusing(plan, lambda *args: RuntimeError(f"_turn: a column is not in [0, {count})"))


@kernel
def turn_over(begins, rows, turned, offsets, others, carried):
    """False, and nothing placed, if a column is outside, or rows are no parts of the entries."""
    places = np.zeros(begins.size, np.uint32)
    if not count_columns(places, offsets, others):
        return False
    begin_lines(begins, places)
    if are_near(others, begins.size):
        place_near(rows, turned, places, offsets, others, carried)
    else:
        place_words(rows, rows, turned, places, offsets, others, carried)
    return True


@kernel
def turn_narrow(begins, rows, turned, offsets, others, carried):
    """The same for indices of 32 bits, among which no word has room."""
    places = np.zeros(begins.size, np.uint32)
    if not count_columns(places, offsets, others):
        return False
    begin_lines(begins, places)
    if are_near(others, begins.size):
        place_near(rows, turned, places, offsets, others, carried)
    else:
        words = np.empty(others.size, np.int64)
        place_words(words, rows, turned, places, offsets, others, carried)
    return True


@kernel
def count_columns(places, offsets, others):
    """The entries of each column; False if one is outside, or rows are no parts of the entries."""
    count, falls = np.uint64(places.size - 1), False
    for i in range(1, offsets.size):
        falls |= offsets[i] < offsets[i - 1]
    if falls or offsets[0] != 0 or offsets[offsets.size - 1] != others.size:
        return False
    for i in range(others.size):  # what is outside is counted behind the last column
        places[min(np.uint64(others[i]), count)] += np.uint32(1)
    return places[count] == 0


@kernel
def are_near(lines, count):
    """Whether entries that follow each other are written near each other, in the cache."""
    apart, sampled = 0, 1
    for i in range(APART, lines.size, SAMPLED):
        apart += abs(np.int64(lines[i]) - np.int64(lines[i - APART]))
        sampled += 1
    return apart // sampled <= count // NEAR


NEAR = 64
"""Lines of a matrix for each by which entries, `APART` of them apart, lie from each other where
they are written near each other."""
APART = 8
"""Neighbours in a row may be near each other wherever rows are written."""
SAMPLED = 509
"""Of so many entries one is looked at for it."""


@kernel
def place_near(rows, turned, places, offsets, others, carried):
    """Rows, and what is carried, in the order of columns. places: where each column goes on."""
    for row in range(offsets.size - 1):
        for i in range(np.uint64(offsets[row]), np.uint64(offsets[row + 1])):
            column, value = np.uint64(others[i]), carried[i]
            place = places[column]
            places[column] = place + np.uint32(1)
            rows[np.uint64(place)], turned[np.uint64(place)] = row, value


@kernel
def place_words(words, rows, turned, places, offsets, others, carried):
    """The same where places are in no cache: by one write for each entry, of a word of both."""
    for row in range(offsets.size - 1):
        for i in range(np.uint64(offsets[row]), np.uint64(offsets[row + 1])):
            put_word(words, places, others[i], row, carried[i])
    part_words(rows, turned, words)


@kernel
def put_word(words, places, line, other, carried):
    """An entry at the place that is next in its line; its other index and 32 bits as one word."""
    place = places[np.uint64(line)]
    word = np.uint64(other) << np.uint64(32) | np.uint64(np.uint32(carried))
    words[np.uint64(place)] = word
    places[np.uint64(line)] = place + np.uint32(1)


@kernel
def part_words(others, carried, words):
    """What words say; the others may lie where they do."""
    for i in range(words.size):
        word = np.uint64(words[i])
        others[i], carried[i] = word >> np.uint64(32), np.int32(np.uint32(word))


@kernel
def begin_lines(begins, places):
    """Where the entries of each line begin; places: how many each has, then where without the
    end."""
    begins[0] = 0
    for k in range(begins.size - 1):
        begins[k + 1] = begins[k] + np.int64(places[k])
        places[k] = np.uint32(begins[k])
