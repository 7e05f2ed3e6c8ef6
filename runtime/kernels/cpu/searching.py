"""Searching: places in sorted sequences, and membership."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.kernels.build import kernel

Array = Any


def searchsorted(
    out: Array,
    sorted_sequence: Array,
    self: Any,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Array | None = None,
) -> None:
    """Write where each value belongs in the last dim of the sequence."""
    sequence = sorted_sequence
    if sorter is not None:
        if sorter.size and (sorter.min() < 0 or sorter.max() >= sequence.shape[-1]):
            raise RuntimeError("torch.searchsorted(): sorter index out of range")
        sequence = np.take_along_axis(sequence, sorter, -1)
    _search(out, sequence, np.asarray(self), right or side == "right")


def bucketize(
    out: Array, self: Any, boundaries: Array, out_int32: bool = False, right: bool = False
) -> None:
    """Write the number of the bucket of each value."""
    _search(out, boundaries, np.asarray(self), right)


def _search(out: Array, sequence: Array, values: Array, right: bool) -> None:
    if not values.size:
        return
    common = np.result_type(sequence, values)
    rows = np.ascontiguousarray(sequence, common).reshape(-1, sequence.shape[-1])
    wanted = np.ascontiguousarray(values, common).reshape(len(rows), -1)
    found = np.empty(wanted.shape, out.dtype)
    _search_rows(found, rows, wanted, right)
    out[...] = found.reshape(out.shape)


@kernel
def _search_rows(out, rows, values, right):
    """Halve the range of many values in step: no branch on data, and loads overlap.

    NaN belongs at the end: no element is greater.
    """
    length, count = rows.shape[1], values.shape[1]
    for row in range(values.shape[0]):
        sequence, wanted, found = rows[row], values[row], out[row]
        found[:] = 0
        left = length
        while left > 0:
            half = (left + 1) // 2
            for i in range(count):
                place = found[i] + half - 1
                element = sequence[place if place < length else length - 1]
                inside = place < length
                before = (not element > wanted[i]) if right else (not element >= wanted[i])
                found[i] = place + 1 if before & inside else found[i]
            left = left - half if left > 1 else 0


def isin(
    out: Array,
    elements: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
) -> None:
    """Write whether each element is among the test elements."""
    elements, test_elements = np.asarray(elements), np.asarray(test_elements)
    found = np.isin(elements, test_elements, assume_unique=False, invert=invert)
    out[...] = found
