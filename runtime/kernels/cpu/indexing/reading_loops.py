"""Loops that read at places given by index tensors: each slice, or each element, by itself."""

from __future__ import annotations

import numpy as np

from torchgen_out._runtime.kernels.typed import typed


@typed
def select_lines(start, stop, out, self, index, at, at_index, count, size, inner):
    """out[o, j] = self[o, index[j]], rows or lines start to stop; False for a place outside.

    Lines are not taken out: views count references.
    """
    for j in range(count):
        if index[at_index + j] < 0 or index[at_index + j] >= size:
            return False
    if inner == 1:
        slots = index[at_index : at_index + count]
        for o in range(start, stop):
            row, target = self[at + o * size : at + (o + 1) * size], out[o * count :]
            for j in range(count):
                target[j] = row[np.uint64(slots[j])]
        return True
    o, j = divmod(start, max(count, 1))
    for line in range(start, stop):
        target = np.uint64(line * inner)
        source = np.uint64(at + (o * size + index[np.uint64(at_index + j)]) * inner)
        for i in range(np.uint64(inner)):
            out[target + i] = self[source + i]
        j += 1
        if j == count:
            o, j = o + 1, 0
    return True
