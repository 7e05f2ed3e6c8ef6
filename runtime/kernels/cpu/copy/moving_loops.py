"""Loops that move, repeat or surround elements: over lines of flat memory.

Typed for words: numbers of another dtype than the usual ones are moved as integers of their width.
"""

from __future__ import annotations

import numpy as np

from torchgen_out._runtime.kernels.typed import typed


@typed
def roll_elements(start, stop, out, self, at, width, shift):
    """out[o, shift:] = self[o, :-shift], and what is left comes to the front, for elements start
    to stop."""
    place = start
    while place < stop:
        row, column = divmod(place, width)
        if column < shift:
            count, source = shift - column, column + width - shift
        else:
            count, source = width - column, column - shift
        count, source = min(count, stop - place), at + row * width + source
        target, run = out[place : place + count], self[source : source + count]
        for i in range(count):
            target[i] = run[i]
        place += count


@typed
def repeat_lines(start, stop, out, self, at, inner, repeats):
    """Every line of `inner` elements, `repeats` times."""
    if inner == 1 and repeats == 2:
        source, pairs = self[at + start : at + stop], out[2 * start : 2 * stop]
        for i in range(source.size):
            value = source[i]
            pairs[np.uint64(2 * i)] = value
            pairs[np.uint64(2 * i + 1)] = value
        return
    place = start * inner * repeats
    for first in range(at + start * inner, at + stop * inner, inner):
        source = self[first : first + inner]
        for _ in range(repeats):
            target = out[place : place + inner]
            for i in range(inner):
                target[i] = source[i]
            place += inner


@typed
def pad_lines(start, stop, out, self, at, rows, columns, left, right, top, bottom, value):
    """Lines of planes of `rows` by `columns` elements, surrounded by `value`."""
    width, height, filler = left + columns + right, top + rows + bottom, T(value)
    for line in range(start, stop):
        target = out[line * width : (line + 1) * width]
        plane, row = divmod(line, height)
        row -= top
        if row < 0 or row >= rows:
            for i in range(width):
                target[i] = filler
            continue
        first = at + (plane * rows + row) * columns
        middle, source = target[left : left + columns], self[first : first + columns]
        for i in range(left):
            target[i] = filler
        for i in range(columns):
            middle[i] = source[i]
        for i in range(left + columns, width):
            target[i] = filler
