"""Searching: places in sorted sequences, and membership."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, converted
from torchgen_out._runtime.kernels.cuda.sort.sort import sort_rows


def search(
    queue: Queue,
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
        ordered = queue.empty(sorter.sizes, sequence.dtype)
        operands = ordered.moved(), sequence.moved(), converted(queue, sorter, dtypes.int64)
        run_elements(queue, sort_rows_by, sorter.numel, *operands, sorter.numel, sorter.sizes[-1])
        sequence = ordered
    _search(queue, out, sequence, values, right or side == "right")


@device_kernel("X* X* int64*", "I I")
def sort_rows_by(out, x, order, n, width):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        out[i] = x[I(divided(i, width) * width + I(order[i]))]
        i = I(i + cuda.gridsize(1))


def as_array(queue: Queue, value: Any) -> Array:
    """A number as an array without dims; an array as it is."""
    if isinstance(value, Array):
        return value
    made = queue.empty((), dtypes.float64 if isinstance(value, float) else dtypes.int64)
    queue.fill(made, value)
    return made


def in_common(queue: Queue, *arrays: Array) -> list[Array]:
    """Arrays in their dtype if it is one; else in float64, or int64 where there are no floats."""
    if len({each.dtype for each in arrays}) == 1:
        return list(arrays)
    is_float = any(each.dtype.is_floating_point for each in arrays)
    wide = dtypes.float64 if is_float else dtypes.int64
    return [converted(queue, each, wide) for each in arrays]


def _search(queue: Queue, out: Array, sequence: Array, values: Any, right: bool) -> None:
    count = sequence.sizes[-1]
    if not count:
        queue.fill(out, 0)
        return
    sequence, values = in_common(queue, sequence, as_array(queue, values))
    rows = sequence.numel // count
    per_row = out.numel // rows if rows > 1 else max(out.numel, 1)
    found = queue.empty(out.sizes, dtypes.int64)
    numbers = (out.numel, max(per_row, 1), count)
    run_elements(queue, search_rows, out.numel, found, values, sequence, *numbers, RIGHT=right)
    queue.copy(out, found)


@device_kernel("int64* X* X*", "I I I")
def search_rows(out, values, sequence, n, per_row, count):
    """A thread owns values at the distance of the grid, and halves the range of each. NaN belongs
    at the end: no element is greater."""
    i = I(cuda.grid(1))
    while i < n:
        base = I(divided(i, per_row) * count)
        wanted = load_X(values[i])
        low, high = I(0), count
        while low < high:
            middle = I((low + high) // 2)
            element = load_X(sequence[base + middle])
            is_behind = element > wanted if RIGHT else element >= wanted
            if is_behind:
                high = middle
            else:
                low = I(middle + 1)
        out[i] = np.int64(low)
        i = I(i + cuda.gridsize(1))


def isin(
    queue: Queue,
    out: Array,
    elements: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
) -> None:
    """Write whether each element is among the test elements."""
    x, tests = in_common(queue, as_array(queue, elements), as_array(queue, test_elements))
    count = tests.numel
    if not count:
        queue.fill(out, invert)
        return
    ordered = queue.empty((1, count), tests.dtype)
    places = queue.empty((1, count), dtypes.int64)
    sort_rows(queue, ordered, places, tests.reshaped(1, count), False)
    flags = {"INVERT": bool(invert)}
    run_elements(queue, find_members, x.numel, out, x, ordered, x.numel, count, **flags)


@device_kernel("uint8* X* X*", "I I")
def find_members(out, x, ordered, n, count):
    """A thread owns elements at the distance of the grid, and halves the range of each."""
    i = I(cuda.grid(1))
    while i < n:
        wanted = load_X(x[i])
        low, high = I(0), I(count - 1)
        while low < high:
            middle = I((low + high) // 2)
            if load_X(ordered[middle]) >= wanted:
                high = middle
            else:
                low = I(middle + 1)
        is_member = load_X(ordered[low]) == wanted
        out[i] = np.uint8(1 if is_member != INVERT else 0)
        i = I(i + cuda.gridsize(1))
