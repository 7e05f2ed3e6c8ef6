"""Searching: places in sorted sequences, and membership."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.loop_plans import operand, out, plan_loop
from torchgen_out._runtime.kernels.cpu.planned import or_arrays
from torchgen_out._runtime.kernels.cpu.small import is_small
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any

BLOCK = 256  # values searched in step
MOST_COMPARED = 1 << 13  # pairs; for more, sorting is faster


@kernel
def _search_row(out, values, sequence, right):
    """Halve the ranges of a block of values in step: selects for branches, and loads overlap.

    Ten times faster than one value after the other, where LLVM makes selects of it: it makes
    branches where a half or nothing is added. NaN is greater than all numbers, and belongs at the
    end.
    """
    base = np.zeros(BLOCK, np.int64)
    numbers = sequence.size
    while numbers > 0 and sequence[numbers - 1] != sequence[numbers - 1]:
        numbers -= 1
    for start in range(0, values.size, BLOCK):
        found, wanted = out[start : start + BLOCK], values[start : start + BLOCK]
        base[:] = 0
        left = numbers
        while left > 1:
            half = left // 2
            if right:
                for i in range(wanted.size):
                    element = sequence[np.uint64(base[i] + half - 1)]
                    place = base[i] + half
                    base[i] = place if element <= wanted[i] else base[i]
            else:
                for i in range(wanted.size):
                    element = sequence[np.uint64(base[i] + half - 1)]
                    place = base[i] + half
                    base[i] = base[i] if element >= wanted[i] else place
            left -= half
        for i in range(wanted.size):
            element = sequence[np.uint64(base[i])]
            is_before = element <= wanted[i] if right else element < wanted[i]
            found[i] = base[i] + (1 if is_before else 0)
            if wanted[i] != wanted[i]:
                found[i] = sequence.size


@kernel
def _search_rows(out, rows, values, right):
    """Each row of values in its own sequence."""
    for row in range(values.shape[0]):
        _search_row(out[row], values[row], rows[row], right)


def plan_search(
    result: TensorSpec,
    first: Any,
    second: Any,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: TensorSpec | None,
    values_first: bool,
) -> LaunchPlan | None:
    """Plan the search in sequences that need no sorter."""
    operands, place = [first, second], int(values_first)
    if sorter is not None or any(each.__class__ is not TensorSpec for each in operands):
        return None
    sequence, values = operands[place], operands[1 - place]
    if sequence.dtype != values.dtype or not is_small(result, sequence, values):
        return None
    is_right = right or side == "right"
    size, rows = sequence.sizes[-1], prod(sequence.sizes[:-1])
    if len(sequence.sizes) == 1:
        count = prod(values.sizes)
        views = out(0, count), operand(1 - place, count), operand(place, size)
        return plan_loop(_search_row, [result], operands, *views, is_right)
    shape = rows, prod(values.sizes) // rows
    views = out(0, *shape), operand(place, rows, size), operand(1 - place, *shape)
    return plan_loop(_search_rows, [result], operands, *views, is_right)


@or_arrays(plan_search)
def search(
    out: Array,
    first: Any,
    second: Any,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: Array | None,
    values_first: bool,
) -> None:
    """Write where each value belongs in the last dim of the sequence, which stands behind or before
    the values."""
    sequence, values = (second, first) if values_first else (first, second)
    if sorter is not None:
        if sorter.size and (sorter.min() < 0 or sorter.max() >= sequence.shape[-1]):
            raise RuntimeError("torch.searchsorted(): sorter index out of range")
        sequence = np.take_along_axis(sequence, sorter, -1)
    _search(out, sequence, np.asarray(values), right or side == "right")


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
        threads.run_rows(_search_row, (found[0], wanted[0]), rows[0], right)
    else:
        threads.run_rows(_search_rows, (found, rows, wanted), right)
    out[...] = found.reshape(out.shape)


@kernel
def are_members(out, elements, tests, invert):
    """Compare each with each. NaN is no member, not even of itself."""
    for i in range(out.size):
        found = False
        for j in range(tests.size):
            found |= elements[i] == tests[j]
        out[i] = found != invert


def plan_isin(
    result: TensorSpec,
    elements: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
) -> LaunchPlan | None:
    """Plan `isin` of so few elements that none need be sorted."""
    operands = [elements, test_elements]
    if not all(each.__class__ is TensorSpec and each.is_contiguous for each in operands):
        return None
    counts = [prod(each.sizes) for each in operands]
    if elements.dtype != test_elements.dtype or not 0 < prod(counts) <= MOST_COMPARED:
        return None
    views = out(0, counts[0]), operand(0, counts[0]), operand(1, counts[1])
    return plan_loop(are_members, [result], operands, *views, bool(invert))


@or_arrays(plan_isin)
def isin(
    out: Array,
    elements: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
) -> None:
    """Write whether each element is among the test elements; a number is of the others' dtype."""
    if not isinstance(test_elements, np.ndarray):
        _compare_with_number(out, elements, test_elements, np.not_equal if invert else np.equal)
        return
    if not isinstance(elements, np.ndarray):
        found = np.empty(test_elements.shape, np.bool_)
        _compare_with_number(found, test_elements, elements, np.equal)
        out[...] = found.any() != invert
        return
    found = np.isin(elements, test_elements, assume_unique=False, invert=invert)
    out[...] = found


@np.errstate(over="ignore")
def _compare_with_number(out: Array, elements: Array, number: Any, compare: Any) -> None:
    """Compare as `eq` does: integers and a float meet in float32."""
    if elements.dtype.kind == "f":
        number = elements.dtype.type(number)
    elif number.__class__ is float:
        elements, number = elements.astype(np.float32), np.float32(number)
    compare(elements, number, out=out)
