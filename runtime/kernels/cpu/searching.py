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
    """Halve the range without a branch on data. NaN belongs at the end."""
    length = rows.shape[1]
    for row in range(values.shape[0]):
        sequence = rows[row]
        for i in range(values.shape[1]):
            value = values[row, i]
            start, count = 0, length
            while count > 0:
                half = count // 2
                element = sequence[start + half]
                before = (not element > value) if right else (not element >= value)
                start = start + half + 1 if before else start
                count = count - half - 1 if before else half
            out[row, i] = start


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
