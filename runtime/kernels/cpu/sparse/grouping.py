"""Entries by one of their indices: a counting sort."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.loop_plans import operand, out, plan_loop, refusing
from torchgen_out._runtime.kernels.cpu.planned import contiguous, planned
from torchgen_out._runtime.kernels.cpu.sparse.ordering import (
    bits_of,
    bucket_bits_of,
    digits_of,
    sort_words,
)
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
    """False, and nothing placed, if a column is outside, or rows are no parts of the entries.

    What takes time is writing to places that are not in the cache: one word of both for each entry.
    """
    count, before, is_outside = begins.size - 1, 0, False
    for i in range(offsets.size):
        if offsets[i] < before or offsets[i] > others.size:
            return False
        before = offsets[i]
    if offsets[0] != 0 or before != others.size:
        return False
    places = np.zeros(count, np.uint32)
    for first in range(0, others.size, CHUNK):
        last = min(first + CHUNK, others.size)
        for i in range(first, last):
            is_outside |= (others[i] < 0) | (others[i] >= count)
        if is_outside:
            return False
        count_each(places, others[first:last])
    begin_lines(begins, places)
    for row in range(offsets.size - 1):
        for i in range(np.uint64(offsets[row]), np.uint64(offsets[row + 1])):
            column = np.uint64(others[i])
            place = places[column]
            word = np.uint64(row) << np.uint64(32) | np.uint64(np.uint32(carried[i]))
            rows[np.uint64(place)] = word
            places[column] = place + np.uint32(1)
    for i in range(others.size):
        word = np.uint64(rows[i])
        rows[i] = word >> np.uint64(32)
        turned[i] = np.int32(np.uint32(word))
    return True


CHUNK = 1 << 11
"""Entries that are looked at, then counted from the first cache."""


@kernel
def count_each(places, lines):
    """Add the entries of each line to `places`."""
    for i in range(lines.size):
        places[np.uint64(lines[i])] += np.uint32(1)


@kernel
def begin_lines(begins, places):
    """Where the entries of each line begin; places: how many each has, then where without the
    end."""
    begins[0] = 0
    for k in range(places.size):
        begins[k + 1] = begins[k] + np.int64(places[k])
        places[k] = np.uint32(begins[k])


@planned(results=4)
def merge(
    indices: TensorSpec,
    one_of_each: TensorSpec,
    sources: TensorSpec,
    kept: TensorSpec,
    lines: TensorSpec,
    others: TensorSpec,
    count: int,
    across: int,
) -> LaunchPlan:
    """Plan the places of entries in order, those of one place as one; one of the entries that join
    each of these; which each entry joins; and how many these are.

    Where no two lie in one place `sources` has no meaning.
    """
    entries = lines.numel
    plan = plan_loop(
        merge_entries, [indices, one_of_each, sources, kept], [lines, others],
        out(0, 2, entries), out(1, entries), out(2, entries), out(3, 1),
        operand(0, entries), operand(1, entries), count, across,
    )  # fmt: skip
    return refusing(plan, lambda *args: RuntimeError(f"an index is outside of {[count, across]}"))


@kernel
def merge_entries(indices, one_of_each, sources, kept, lines, others, count, across):
    """False, and nothing written, if an index is outside."""
    is_inside, is_sorted, may_repeat = look_at(lines, others, count, across)
    if not is_inside:
        return False
    is_by_lines = is_sorted and lines.size >= ROW and are_near(lines, count)
    in_place = is_by_lines and not may_repeat
    words = indices[1] if in_place else np.empty(lines.size, np.int64)
    results = indices, one_of_each
    if is_by_lines:
        last = merge_by_lines(words, *results, lines, others, count, may_repeat)
    else:
        sizes = count, across, is_sorted
        last = merge_in_buckets(words, sources, *results, lines, others, *sizes)
    kept[0] = last + 1
    for i in range(last + 1, lines.size):
        indices[0, i] = indices[1, i] = one_of_each[i] = 0
    if last + 1 < lines.size:
        for i in range(lines.size):
            sources[words[i] & 0xFFFFFFFF] = words[i] >> 32
    return True


@kernel
def look_at(lines, others, count, across):
    """Whether all indices are inside, the others ascend, and two entries may lie in one place.

    They may not where entries ascend by others, then by lines: a matrix in order, transposed.
    """
    size, is_outside, falls, repeats = lines.size, False, False, False
    for i in range(min(size, 1)):
        is_outside |= (lines[i] < 0) | (lines[i] >= count) | (others[i] < 0) | (others[i] >= across)
    for i in range(1, size):
        line, other, before = lines[i], others[i], others[i - 1]
        is_outside |= (line < 0) | (line >= count) | (other < 0) | (other >= across)
        falls |= other < before
        repeats |= (other == before) & (line <= lines[i - 1])
    return not is_outside, not falls, falls | repeats


@kernel
def are_near(lines, count):
    """Whether entries that follow each other are written near each other, or all in the cache."""
    if lines.size <= FEW:
        return True
    apart, sampled = 0, 0
    for i in range(ROW, lines.size, SAMPLED):
        apart += abs(lines[i] - lines[i - ROW])
        sampled += 1
    return apart // sampled <= count // NEAR


FEW = 1 << 16
"""Entries up to which all that they are written to is in the cache."""
NEAR = 64
"""Lines of a matrix for each by which entries, `ROW` of them apart, lie from each other where they
are written near each other."""
SAMPLED = 61
"""Of so many entries one is looked at for it."""
ROW = 8
"""Entries of a line that get its number by one store; more of them take a loop."""


@kernel
def merge_by_lines(words, indices, one_of_each, lines, others, count, may_repeat):
    """The number of the last new entry, of entries that are in the order of columns.

    words: in their place which entry joins which new one, if two may lie in one place; if not, the
    second row of the indices, whose words become what they say.
    """
    begins, places = np.empty(count + 1, np.int64), np.zeros(count, np.uint32)
    count_each(places, lines)
    begin_lines(begins, places)
    spread_lines(indices.reshape(2 * lines.size), begins)  # the second row is written afterwards
    for i in range(lines.size):
        line = np.uint64(lines[i])
        place = places[line]
        words[np.uint64(place)] = np.uint64(others[i]) << np.uint64(32) | np.uint64(i)
        places[line] = place + np.uint32(1)
    if not may_repeat:
        for i in range(lines.size):
            word = np.uint64(words[i])
            indices[1, i], one_of_each[i] = word >> np.uint64(32), word & np.uint64(0xFFFFFFFF)
        return np.int64(lines.size - 1)
    line_before, before, new, first = np.int64(-1), np.uint64(0), ~np.uint64(0), np.uint64(0)
    for i in range(lines.size):
        word, line = np.uint64(words[i]), indices[0, i]
        other, own = word >> np.uint64(32), word & np.uint64(0xFFFFFFFF)
        is_new = (line != line_before) | (other != before)
        new += np.uint64(is_new)
        first = own if is_new else first
        line_before, before = line, other
        indices[0, new], indices[1, new], one_of_each[new] = line, other, first
        words[i] = new << np.uint64(32) | own
    return np.int64(new)


@kernel
def spread_lines(own, begins):
    """The line of each entry, behind which there is room for `ROW` more.

    A loop over the entries of lines of different lengths would mispredict the end of each.
    """
    for line in range(begins.size - 1):
        begin, stop = np.uint64(begins[line]), np.uint64(begins[line + 1])
        for i in range(np.uint64(ROW)):
            own[begin + i] = line
        for i in range(begin + np.uint64(ROW), stop):
            own[i] = line


@kernel
def merge_in_buckets(words, room, indices, one_of_each, lines, others, count, across, is_sorted):
    """The number of the last new entry. words: as `merge_by_lines` leaves them.

    is_sorted: whether entries are in the order of columns, which sorting by lines keeps.
    """
    bits = bucket_bits_of(lines.size, count, across)
    shift, entry, place = bits_of(count) - bits, bits_of(lines.size), bits_of(across)
    low, high = entry + place if is_sorted else entry, entry + place + shift
    digits, ends = digits_of(low, high), np.zeros(1 << bits, np.int64)
    first = words if digits % 2 == 0 else room
    throw_words(first, ends, lines, others, np.uint64(shift), np.uint64(entry), np.uint64(place))
    last, start = -1, 0
    for bucket in range(ends.size):
        stop = ends[bucket]
        sort_words(words, room, start, stop, low, high, digits)
        base = np.uint64(bucket) << np.uint64(shift)
        places = indices, one_of_each, np.uint64(entry), np.uint64(place)
        last = write_places(words, start, stop, base, last, *places)
        start = stop
    return last


@kernel
def throw_words(words, ends, lines, others, shift, entry, place):
    """Words of line, place and entry into buckets of lines; ends: zeros, then where each ends."""
    if ends.size == 1:
        for i in range(lines.size):
            word = np.uint64(lines[i]) << place | np.uint64(others[i])
            words[i] = word << entry | np.uint64(i)
        ends[0] = lines.size
        return
    for i in range(lines.size):
        ends[np.uint64(lines[i]) >> shift] += 1
    begin = 0
    for bucket in range(ends.size):
        count = ends[bucket]
        ends[bucket] = begin
        begin += count
    last = (np.uint64(1) << shift) - np.uint64(1)
    for i in range(lines.size):
        line = np.uint64(lines[i])
        at = np.uint64(ends[line >> shift])
        word = (line & last) << place | np.uint64(others[i])
        words[at] = word << entry | np.uint64(i)
        ends[line >> shift] = at + np.uint64(1)


@kernel
def write_places(words, start, stop, base, number, indices, one_of_each, entry, place):
    """What sorted words say; in their place which entry joins which new one.

    number: the last new one before. Of entries of one place the first is the one that is named.
    """
    last_entry = (np.uint64(1) << entry) - np.uint64(1)
    last_place = (np.uint64(1) << place) - np.uint64(1)
    before, new, first = ~np.uint64(0), np.uint64(number), np.uint64(0)
    for i in range(start, stop):
        word = np.uint64(words[i])
        there, own = word >> entry, word & last_entry
        new += np.uint64(there != before)
        first = own if there != before else first
        before = there
        indices[0, new] = (there >> place) + base
        indices[1, new] = there & last_place
        one_of_each[new] = first
        words[i] = new << np.uint64(32) | own
    return np.int64(new)
