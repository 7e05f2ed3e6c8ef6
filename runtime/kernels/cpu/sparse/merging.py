"""Entries of a matrix in order, those of one place as one: with their values, or as an order."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.loop_plans import operand, out, plan_loop, refusing
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.cpu.sparse.grouping import (
    are_near,
    part_words,
    put_word,
)
from torchgen_out._runtime.kernels.cpu.sparse.ordering import (
    CARRIED,
    bits_of,
    bucket_bits_of,
    digits_of,
    sort_words,
)
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed

Array = Any


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


@planned(results=3)
def merge_values(
    indices: TensorSpec,
    merged: TensorSpec,
    kept: TensorSpec,
    lines: TensorSpec,
    others: TensorSpec,
    values: TensorSpec,
    count: int,
    across: int,
) -> LaunchPlan:
    """Plan the places of entries in order, the sum of the values in each, and how many there are.

    Values are added in the order of the entries.
    """
    entries = lines.numel
    plan = plan_loop(
        merge_with_values, [indices, merged, kept], [lines, others, values],
        out(1, entries), out(0, 2, entries), out(2, 1),
        operand(0, entries), operand(1, entries), operand(2, entries), count, across,
    )  # fmt: skip
    return refusing(plan, lambda *args: RuntimeError(f"an index is outside of {[count, across]}"))


@typed
def merge_with_values(merged, indices, kept, lines, others, values, count, across):
    """False, and nothing written, if an index is outside."""
    size, given, bits_out = lines.size, values.view(BITS), merged.view(BITS)
    places = np.zeros(count, np.uint32)
    is_inside, is_sorted, may_repeat = look_and_count(places, lines, others, count, across)
    if not is_inside:
        return False
    if is_sorted and not may_repeat:
        turn_values(indices, bits_out, places, lines, others, given)
        kept[0] = size
        return True
    line, place = bits_of(count), bits_of(across)
    bits = bucket_bits_of(size, count, across, CARRIED)
    words, room = np.empty(size, np.int64), np.empty(size, np.int64)
    ends = np.zeros(1 << bits, np.int64)
    low, high = (CARRIED + place if is_sorted else CARRIED), CARRIED + place + line - bits
    digits, shift, steps = digits_of(low, high), np.uint64(line - bits), np.uint64(place)
    throw_values(words if digits % 2 == 0 else room, ends, lines, others, given, shift, steps)
    last, start = -1, 0
    for bucket in range(ends.size):
        stop, base = ends[bucket], np.uint64(bucket) << shift
        sort_words(words, room, start, stop, low, high, digits)
        last = add_words(merged, bits_out, indices, words, start, stop, base, last, steps)
        start = stop
    kept[0] = last + 1
    for i in range(last + 1, size):
        indices[0, i] = indices[1, i] = 0
        merged[i] = T(0)
    return True


@kernel
def turn_values(indices, bits_out, places, lines, others, given):
    """Entries in the order of columns, none twice, brought in the order of lines.

    places: how many entries each line has.
    """
    plain = indices[1]
    spread_lines(indices[0], places)
    if are_near(lines, places.size):
        for i in range(lines.size):
            line, other, value = np.uint64(lines[i]), others[i], given[i]
            place = places[line]
            places[line] = place + np.uint32(1)
            plain[np.uint64(place)], bits_out[np.uint64(place)] = other, value
        return
    for i in range(lines.size):
        put_word(plain, places, lines[i], others[i], given[i])
    part_words(plain, bits_out, plain)


@kernel
def throw_values(words, ends, lines, others, given, shift, place):
    """Words of line, place and 32 bits into buckets of lines; ends: zeros, then where each ends."""
    begin_buckets(ends, lines, shift)
    last = (np.uint64(1) << shift) - np.uint64(1)
    for i in range(lines.size):
        line = np.uint64(lines[i])
        at = np.uint64(ends[line >> shift])
        word = (line & last) << place | np.uint64(others[i])
        words[at] = word << np.uint64(CARRIED) | np.uint64(np.uint32(given[i]))
        ends[line >> shift] = np.int64(at + np.uint64(1))


@kernel
def begin_buckets(ends, lines, shift):
    """Where each bucket of lines begins; ends: zeros."""
    if ends.size == 1:
        return
    for i in range(lines.size):
        ends[np.uint64(lines[i]) >> shift] += 1
    begin = 0
    for bucket in range(ends.size):
        number = ends[bucket]
        ends[bucket] = begin
        begin += number


@typed
def add_words(merged, bits_out, indices, words, start, stop, base, number, place):
    """The number of the last new entry, after those of sorted words from start to stop.

    number: the last one before. bits_out: the memory of `merged`, in which each value is put down
    behind the last sum before it is added.
    """
    low, before, new = (np.uint64(1) << place) - np.uint64(1), ~np.uint64(0), np.uint64(number)
    for i in range(start, stop):
        word = np.uint64(words[i])
        there, behind = word >> np.uint64(CARRIED), new + np.uint64(1)
        bits_out[behind] = BITS(np.int32(np.uint32(word)))
        if there == before:
            merged[new] += merged[behind]
        else:
            indices[0, behind], indices[1, behind] = (there >> place) + base, there & low
            new, before = behind, there
    return np.int64(new)


@kernel
def look_and_count(places, lines, others, count, across):
    """What `look_at` tells of all entries, and how many each line has, of entries in the order of
    columns."""
    is_inside, is_sorted, may_repeat = True, True, False
    for first in range(0, lines.size, CHUNK):
        last = min(first + CHUNK, lines.size)
        inside, ordered, repeats = look_at(lines, others, first, last, count, across)
        is_inside, is_sorted = is_inside & inside, is_sorted & ordered
        may_repeat |= repeats
        if is_inside & is_sorted and not may_repeat:
            for i in range(first, last):
                places[np.uint64(lines[i])] += np.uint32(1)
    return is_inside, is_sorted, may_repeat


CHUNK = 1 << 11
"""Entries that are looked at, then counted from the first cache."""


@kernel
def look_at(lines, others, first, last, count, across):
    """Whether indices are inside, the others ascend, and two entries may lie in one place: of those
    from first to last, with the one before.

    They may not where entries ascend by others, then by lines: a matrix in order, transposed.
    """
    is_outside, falls, repeats = False, False, False
    for i in range(first, min(last, 1)):
        is_outside |= (lines[i] < 0) | (lines[i] >= count) | (others[i] < 0) | (others[i] >= across)
    for i in range(max(first, 1), last):
        line, other, before = lines[i], others[i], others[i - 1]
        is_outside |= (line < 0) | (line >= count) | (other < 0) | (other >= across)
        falls |= other < before
        repeats |= (other == before) & (line <= lines[i - 1])
    return not is_outside, not falls, falls | repeats


ROW = 8
"""Entries of a line that get its number by one store; more of them take a loop."""


@kernel
def spread_lines(own, places):
    """The line of each entry; places: how many each line has, then where it begins.

    A loop over the entries of lines of different lengths would mispredict the end of each; what
    the store writes too much the next lines overwrite.
    """
    begin, size = np.uint64(0), np.uint64(own.size)
    for line in range(places.size):
        stop = begin + np.uint64(places[line])
        places[line] = np.uint32(begin)
        if begin + np.uint64(ROW) <= size:
            for i in range(np.uint64(ROW)):
                own[begin + i] = line
            begin += np.uint64(ROW)
        for i in range(begin, stop):
            own[i] = line
        begin = stop


@kernel
def merge_entries(indices, one_of_each, sources, kept, lines, others, count, across):
    """False, and nothing written, if an index is outside."""
    size = lines.size
    is_inside, is_sorted, _ = look_at(lines, others, 0, size, count, across)
    if not is_inside:
        return False
    entry, place = bits_of(size), bits_of(across)
    bits = bucket_bits_of(size, count, across, entry)
    shift = bits_of(count) - bits
    low, high = entry + place if is_sorted else entry, entry + place + shift
    words, digits = np.empty(size, np.int64), digits_of(low, high)
    ends = np.zeros(1 << bits, np.int64)
    first = words if digits % 2 == 0 else sources
    throw_words(first, ends, lines, others, np.uint64(shift), np.uint64(entry), np.uint64(place))
    last, start = -1, 0
    for bucket in range(ends.size):
        stop, base = ends[bucket], np.uint64(bucket) << np.uint64(shift)
        sort_words(words, sources, start, stop, low, high, digits)
        places = indices, one_of_each, np.uint64(entry), np.uint64(place)
        last = write_places(words, start, stop, base, last, *places)
        start = stop
    kept[0] = last + 1
    for i in range(last + 1, size):
        indices[0, i] = indices[1, i] = one_of_each[i] = 0
    if last + 1 < size:
        for i in range(size):
            sources[words[i] & 0xFFFFFFFF] = words[i] >> 32
    return True


@kernel
def throw_words(words, ends, lines, others, shift, entry, place):
    """Words of line, place and entry into buckets of lines; ends: zeros, then where each ends."""
    begin_buckets(ends, lines, shift)
    last = (np.uint64(1) << shift) - np.uint64(1)
    for i in range(lines.size):
        line = np.uint64(lines[i])
        at = np.uint64(ends[line >> shift])
        word = (line & last) << place | np.uint64(others[i])
        words[at] = word << entry | np.uint64(i)
        ends[line >> shift] = np.int64(at + np.uint64(1))


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
