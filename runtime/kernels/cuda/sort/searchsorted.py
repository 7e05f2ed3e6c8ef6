"""Searching: places in sorted sequences."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.faults import INDEX, note
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, converted


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
    count = sequence.sizes[-1]
    if not count:
        queue.fill(out, 0)
        return
    sequence, values = _in_common(queue, sequence, _as_array(queue, values))
    per_row = out.numel // max(sequence.numel // count, 1)
    flags = {"RIGHT": right or side == "right", "SORTED": sorter is not None}
    operands = (out, values, sequence, sorter, queue.faults)
    numbers = (out.numel, max(per_row, 1), count)
    run_elements(queue, search_rows, out.numel, *operands, *numbers, **flags)


def _as_array(queue: Queue, value: Any) -> Array:
    """A number as an array without dims; an array as it is."""
    if isinstance(value, Array):
        return value
    made = queue.empty((), dtypes.float64 if isinstance(value, float) else dtypes.int64)
    queue.fill(made, value)
    return made


def _in_common(queue: Queue, *arrays: Array) -> list[Array]:
    """Arrays in their dtype if it is one; else in float64, or int64 where there are no floats."""
    if len({each.dtype for each in arrays}) == 1:
        return list(arrays)
    is_float = any(each.dtype.is_floating_point for each in arrays)
    wide = dtypes.float64 if is_float else dtypes.int64
    return [converted(queue, each, wide) for each in arrays]


@device_kernel("Y* X* X* int64* int64*", "I I I")
def search_rows(out, values, sequence, order, faults, n, per_row, count):
    """A thread owns values at the distance of the grid, and halves the range of each. NaN is
    greater than all numbers, and belongs at the end. `order` says where the elements stand, if not
    in theirs."""
    i = I(cuda.grid(1))
    while i < n:
        base = I(divided(i, per_row) * count)
        wanted = load_X(values[i])
        low, high = I(0), count
        while low < high:
            middle = I((low + high) // 2)
            place = middle
            if SORTED:
                given = order[I(base + middle)]
                is_inside = given >= 0 and given < count
                if not is_inside:
                    note(faults, INDEX, given, count)
                place = I(given) if is_inside else I(0)
            element = load_X(sequence[I(base + place)])
            is_before = element <= wanted if RIGHT else element < wanted
            if is_before or wanted != wanted:
                low = I(middle + 1)
            else:
                high = middle
        out[i] = Y(low)
        i = I(i + cuda.gridsize(1))
