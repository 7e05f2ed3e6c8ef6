"""Searching: places in sorted sequences, and membership."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.kernels.build import kernel
from runtime.kernels.cpu.folding import run_rows
from runtime.kernels.cpu.planned import Operand, Plan, planned
from runtime.kernels.cpu.small import INT64, is_small, make_gathering

Array = Any

BLOCK = 256  # values searched in step


def plan_searchsorted(
    out: Operand,
    sorted_sequence: Operand,
    self: Any,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Operand | None = None,
) -> Plan | None:
    """Plan the search in one sequence."""
    if sorter is not None or self.__class__ is not Operand:
        return None
    return _plan_search(out, sorted_sequence, self, right or side == "right", 0)


def plan_bucketize(
    out: Operand, self: Any, boundaries: Operand, out_int32: bool = False, right: bool = False
) -> Plan | None:
    """Plan the search for buckets."""
    if self.__class__ is not Operand:
        return None
    return _plan_search(out, boundaries, self, right, 1)


def _plan_search(
    out: Operand, sequence: Operand, values: Operand, right: bool, place: int
) -> Plan | None:
    """place: where the sequence stands among the two."""
    operands = [values, values]
    operands[place] = sequence
    one_type = out.dtype == INT64 and sequence.dtype == values.dtype and len(sequence.sizes) == 1
    if not one_type or not is_small(out, sequence, values):
        return None
    entry = _search_row.entry_point((INT64, values.dtype, values.dtype, bool))
    gather = make_gathering(operands, values.dtype)

    def run(out: Array, a: Array, b: Array, at_a: int, at_b: int, right: bool) -> None:
        arrays = gather((a, b), (at_a, at_b))
        entry(out, arrays[1 - place], arrays[place], right)

    return Plan(run, right)


@planned(plan_searchsorted)
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


@planned(plan_bucketize)
def bucketize(
    out: Array, self: Any, boundaries: Array, out_int32: bool = False, right: bool = False
) -> None:
    """Write the number of the bucket of each value."""
    _search(out, boundaries, np.asarray(self), right)


def _search(out: Array, sequence: Array, values: Array, right: bool) -> None:
    if not values.size:
        return
    common = np.result_type(sequence, values)
    if not sequence.shape[-1]:
        out[...] = 0
        return
    rows = np.ascontiguousarray(sequence, common).reshape(-1, sequence.shape[-1])
    wanted = np.ascontiguousarray(values, common).reshape(len(rows), -1)
    found = np.empty(wanted.shape, out.dtype)
    if len(rows) == 1:
        run_rows(_search_row, (found[0], wanted[0]), rows[0], right)
    else:
        run_rows(_search_rows, (found, rows, wanted), right)
    out[...] = found.reshape(out.shape)


@kernel
def _search_row(out, values, sequence, right):
    """Halve the ranges of a block of values in step: selects for branches, and loads overlap.

    Ten times faster than one value after the other. NaN belongs at the end: no element is greater.
    """
    base = np.zeros(BLOCK, np.int64)
    for start in range(0, values.size, BLOCK):
        found, wanted = out[start : start + BLOCK], values[start : start + BLOCK]
        base[:] = 0
        left = sequence.size
        while left > 1:
            half = left // 2
            if right:
                for i in range(wanted.size):
                    element = sequence[np.uint64(base[i] + half - 1)]
                    base[i] += half if not element > wanted[i] else 0
            else:
                for i in range(wanted.size):
                    element = sequence[np.uint64(base[i] + half - 1)]
                    base[i] += half if not element >= wanted[i] else 0
            left -= half
        for i in range(wanted.size):
            element = sequence[np.uint64(base[i])]
            behind = not element > wanted[i] if right else not element >= wanted[i]
            found[i] = base[i] + (1 if behind else 0)


@kernel
def _search_rows(out, rows, values, right):
    """Each row of values in its own sequence."""
    for row in range(values.shape[0]):
        _search_row(out[row], values[row], rows[row], right)


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
