"""The loop of all kernels that write at places given by index tensors.

A lane is one of the outer * inner lines along a dim of an array folded as (outer, size, inner): no
two write to one place, so threads share them. Lanes side by side are neighbours in memory and go
together.
"""

from __future__ import annotations

import numpy as np

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.typed import typed

COPY, SUM, PROD, AMAX, AMIN = range(5)
"""What becomes of an old value and a new one."""

HEAD = 14
"""Numbers of a geometry in front of its tables."""
FEW_COLUMNS = 8
"""Indices of a vector that are walked one by one through all rows."""
WORTH_VIEWS = 16
"""Elements of a slice from which on it is taken out, so that the loop over it vectorises."""


@typed
def combined(old, value, how):
    """What is written where `old` stood; of two orders NaN wins."""
    if how == SUM:
        return old + value
    if how == PROD:
        return old * value
    if how == AMAX:
        return value if (value.real > old.real) | (value != value) else old
    if how == AMIN:
        return value if (value.real < old.real) | (value != value) else old
    return value


@kernel
def are_within(start, stop, index, at, least, size):
    """Whether indices start to stop are in [least, size)."""
    outside = False
    for n in range(at + start, at + stop):
        outside |= (index[n] < least) | (index[n] >= size)
    return not outside


@typed
def scatter_lanes(start, stop, is_all, out, self, index, src, at, at_index, at_src, plan):
    """out[o, index[o, j, i], i] joins src[o, j, i], in the order of j, in lanes start to stop.

    index, src: where an element lies is said by strides, or by tables behind them. Negative
    indices count from the end if `least` is negative.
    is_all: whether these are all lanes; then the indices are looked at first (False, and nothing is
    written, if one is outside), and self is copied.
    """
    how, least, numel = plan[10], plan[11], plan[12]
    if is_all:
        if not are_within(0, numel, index, at_index, least, plan[1]):
            return False
        if out.ctypes.data != self.ctypes.data + at * self.itemsize:
            for i in range(out.size):
                out[i] = self[at + i]
    if plan.size > HEAD:
        join_apart(start, stop, out, index, src, at_index, at_src, plan, how)
    elif how == COPY:
        join_lanes(start, stop, out, index, src, at_index, at_src, plan, COPY)
    elif how == SUM:
        join_lanes(start, stop, out, index, src, at_index, at_src, plan, SUM)
    else:
        join_lanes(start, stop, out, index, src, at_index, at_src, plan, how)
    return True


@typed
def join_lanes(start, stop, out, index, src, at_index, at_src, plan, how):
    """What is walked by strides, `how` being known where this is compiled.

    Nothing is taken out of an array for a few elements: views count references, 15 ns each.
    """
    count, size, inner, step = plan[0], plan[1], plan[2], plan[3]
    index_o, index_j, index_i = plan[4], plan[5], plan[6]
    src_o, src_j, src_i = plan[7], plan[8], plan[9]
    if inner == 1 and index_o == 0 and count <= FEW_COLUMNS:
        for j in range(count):
            k = index[at_index + j * index_j]
            column, begin = k + size if k < 0 else k, at_src + j * src_j
            for o in range(start, stop):
                place = np.uint64(o * size + column)
                out[place] = combined(out[place], src[np.uint64(begin + o * src_o)], how)
        return
    if inner == 1:
        for o in range(start, stop):
            base, slots, source = o * size, at_index + o * index_o, at_src + o * src_o
            for j in range(count):
                k = index[np.uint64(slots + j * index_j)]
                place = np.uint64(base + (k + size if k < 0 else k))
                out[place] = combined(out[place], src[np.uint64(source + j * src_j)], how)
        return
    lane = start
    while lane < stop:
        o, first = divmod(lane, inner)
        length = min(inner - first, stop - lane)
        base = o * size * inner + first
        slots, source = at_index + o * index_o, at_src + o * src_o + first * src_i
        for j in range(count):
            begin, where = source + j * src_j, slots + j * index_j
            if index_i == 0:
                k = index[np.uint64(where)]
                row = base + (k + size if k < 0 else k) * step
                if src_i <= 1 and length >= WORTH_VIEWS:
                    target, values = out[row : row + length], src[begin : begin + length * src_i]
                    if src_i == 1:
                        for i in range(length):
                            target[i] = combined(target[i], values[i], how)
                    else:
                        value = src[begin]
                        for i in range(length):
                            target[i] = combined(target[i], value, how)
                else:
                    to, read = np.uint64(row), np.uint64(begin)
                    for i in range(np.uint64(length)):
                        value = src[read + i * np.uint64(src_i)]
                        out[to + i] = combined(out[to + i], value, how)
            else:  # these indices do not count from the end
                begins, read = np.uint64(where + first), np.uint64(begin)
                for i in range(np.uint64(length)):
                    place = np.uint64(base + index[begins + i] * step) + i
                    value = src[read + i * np.uint64(src_i)]
                    out[place] = combined(out[place], value, how)
        lane += length


@typed
def join_apart(start, stop, out, index, src, at_index, at_src, plan, how):
    """The same by tables: the places in out of each o and i, then those in src of each o, j, i."""
    count, size, inner, step, outer = plan[0], plan[1], plan[2], plan[3], plan[13]
    index_o, index_j, index_i = plan[4], plan[5], plan[6]
    ends, begins = HEAD + outer, HEAD + outer + inner
    rows, columns = begins + outer, begins + outer + count
    lane = start
    while lane < stop:
        o, first = divmod(lane, inner)
        last = min(first + stop - lane, inner)
        base, source = plan[HEAD + o], at_src + plan[begins + o]
        for j in range(count):
            slots, begin = at_index + o * index_o + j * index_j, source + plan[rows + j]
            for i in range(first, last):
                k = index[np.uint64(slots + i * index_i)]
                row = base + (k + size if k < 0 else k) * step
                place = np.uint64(row + plan[np.uint64(ends + i)])
                value = src[np.uint64(begin + plan[np.uint64(columns + i)])]
                out[place] = combined(out[place], value, how)
        lane += last - first


@typed
def average(start, stop, out, counts):
    """Divide sums by the numbers of their terms."""
    sums, terms = out[start:stop], counts[start:stop]
    for i in range(sums.size):
        sums[i] /= T(max(terms[i], 1))


@typed
def average_slices(start, stop, out, counts, inner):
    """The same of rows of `inner` elements, each a part of one of the slices in turn."""
    slices = counts.size
    for row in range(start, stop):
        count = T(max(counts[row % slices], 1))
        sums = out[row * inner : (row + 1) * inner]
        for i in range(inner):
            sums[i] /= count


@kernel
def merge_places(place, index, size, is_first):
    """place = place * size + index counted from the front; False for an index outside."""
    fine = True
    for i in range(index.size):
        k = index[i]
        k = k + size if k < 0 else k
        fine &= np.uint64(k) < np.uint64(size)
        place[i] = k if is_first else place[i] * size + k
    return fine
