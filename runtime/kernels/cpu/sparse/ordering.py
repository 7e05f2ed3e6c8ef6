"""Entries of a matrix in order: sorted as words of line, place in the line, and entry.

A pass over all entries throws the words into buckets of lines that follow each other, few enough
for the processor's store buffers and its first TLB; what is left of a bucket's words is sorted
digit by digit where it lies in the cache (LSD radix sort). Buckets are no larger than `BUCKET` on
average as long as 64 of them suffice, so that lines that have most of the entries are what it costs
most for.
"""

from __future__ import annotations

import numpy as np

from torchgen_out._runtime.kernels.build import kernel

BUCKET = 1 << 14
"""Entries of a bucket: two arrays of words are 256 KiB."""
BUCKET_BITS = 6
"""There are at most 64 buckets: as many pages are written at once without misses of the first TLB.

Four million entries in 64 take a third of the time of 256 (12 and 38 ms).
"""
CARRIED = 32
"""Bits of a word that are an entry's value."""
DIGIT = 12
"""Bits that are sorted by at once, at most: their counters are 16 KiB."""


@kernel
def bits_of(count):
    """Bits of the numbers from 0 to count - 1."""
    bits = 0
    while count > 1 << bits:
        bits += 1
    return bits


@kernel
def bucket_bits_of(entries, lines, places, carried):
    """Bits of a line that say its bucket: so many that the rest fits into a word.

    carried: bits of a word that are no part of the place.
    """
    line = bits_of(lines)
    bits = 0
    while bits < min(line, BUCKET_BITS) and entries >> bits > BUCKET:
        bits += 1
    return max(bits, line + bits_of(places) + carried - 64)


@kernel
def sort_words(words, room, start, stop, low, high, digits):
    """words[start:stop] ascending by their bits from low to high, some digits one after the other.

    room: as large; for an odd number of digits the words come from there.
    """
    if digits == 0:
        return
    bits = np.uint64((high - low + digits - 1) // digits)
    last = (np.uint64(1) << bits) - np.uint64(1)
    counts = np.empty(1 << np.int64(bits), np.uint32)
    source, target = (words, room) if digits % 2 == 0 else (room, words)
    for digit in range(digits):
        sort_digit(
            source, target, start, stop, np.uint64(low) + np.uint64(digit) * bits, last, counts
        )
        source, target = target, source


@kernel
def digits_of(low, high):
    """Digits of the bits from low to high."""
    return (high - low + DIGIT - 1) // DIGIT


@kernel
def sort_digit(source, target, start, stop, shift, last, counts):
    """A stable counting sort by one digit."""
    for i in range(counts.size):
        counts[i] = np.uint32(0)
    for i in range(start, stop):
        counts[(np.uint64(source[i]) >> shift) & last] += np.uint32(1)
    begin = np.uint32(0)
    for i in range(counts.size):
        count = counts[i]
        counts[i] = begin
        begin += count
    first = np.uint64(start)
    for i in range(start, stop):
        word = np.uint64(source[i])
        digit = (word >> shift) & last
        place = counts[digit]
        target[first + np.uint64(place)] = word
        counts[digit] = place + np.uint32(1)
