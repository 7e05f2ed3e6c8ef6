"""Ordering along a dim: sort and top k. NaN is the greatest value.

Elements become whole numbers of the same order, whose positions are sorted digit by digit
(`radix.py`): always stable, in a number of passes that depends on the dtype alone.
"""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.queue import (
    Array,
    Queue,
    contiguous,
    converted,
    permuted,
)
from torchgen_out._runtime.kernels.cuda.sort.radix import sort_positions

INFINITY = {
    "float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF0000000000000,
}  # fmt: skip
"""The bits of infinity; greater ones, without the sign, are NaN."""


def _keys_of(queue: Queue, x: Array, descending: bool) -> tuple[Array, int]:
    """Whole numbers of the elements' order, and how many bits they have."""
    if x.dtype.kind == "f" and x.dtype.itemsize == 1:
        x = converted(queue, x, x.dtype.opmath)
    bits = 8 * x.dtype.itemsize
    keys = queue.empty((x.numel,), dtypes.int64 if bits == 64 else dtypes.int32)
    flags = {
        "INFINITY": INFINITY.get(x.dtype.name, 0),
        "SIGNED": x.dtype.is_signed,
        "BITS": bits,
        "ALL_BITS": (1 << min(bits, 63)) - 1,
        "MIDDLE": 1 << min(bits - 1, 62),
        "DESCENDING": descending,
    }
    run_elements(queue, write_keys, x.numel, keys, x.moved(), x.numel, **flags)
    return keys, bits


@device_kernel("Y* X*", "I")
def write_keys(keys, x, n):
    """A thread owns elements, seen as integers, at the distance of the grid. INFINITY: 0 for
    integers; else the magnitude counts down if the sign is set, zeros are equal, and so is NaN.
    Integers without a sign are moved down, to have one."""
    i = I(cuda.grid(1))
    while i < n:
        key = np.int64(x[i])
        if INFINITY != 0:
            magnitude = np.int64(key & np.int64((1 << (BITS - 1)) - 1))
            if magnitude > INFINITY:
                key = np.int64(INFINITY + 1)
            else:
                key = np.int64(-magnitude) if key < 0 else magnitude
        if not SIGNED:
            key = np.int64(key & np.int64(ALL_BITS)) if BITS < 64 else key
            key = np.int64(key ^ np.int64(-1 << 63)) if BITS == 64 else np.int64(key - MIDDLE)
        if DESCENDING:
            key = np.int64(~key)
        keys[i] = Y(key)
        i = I(i + cuda.gridsize(1))


def ordered(
    queue: Queue,
    values: Array,
    indices: Array,
    self: Array,
    k: int | None,
    dim: int,
    descending: bool,
) -> None:
    """Write the first k values in order, or all, and their places; ties in order."""
    if not values.numel:
        return
    rows, order = rows_along(queue, self, dim)
    row_values = queue.empty(rows.sizes, self.dtype)
    row_places = queue.empty(rows.sizes, dtypes.int64)
    sort_rows(queue, row_values, row_places, rows, descending)
    for target, made in ((values, row_values), (indices, row_places)):
        view = permuted(target, order) if order else target.reshaped(1)
        kept = view.sizes[-1]
        outer = view.sizes[:-1]
        source = made.narrowed(1, 0, kept)
        steps = [step * made.sizes[1] for step in _row_major(outer)]
        queue.copy(
            view, source.at(0, (*outer, kept), (*steps, 1)) if view.ndim else source.at(0, (), ())
        )


def _row_major(sizes: tuple[int, ...]) -> list[int]:
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size
    return strides[::-1]


def rows_along(queue: Queue, array: Array, dim: int) -> tuple[Array, tuple[int, ...]]:
    """The array contiguous as (rows, size of dim), and the order of dims that has `dim` last."""
    if not array.ndim:
        return array.reshaped(1, 1), ()
    dim %= array.ndim
    order = (*(each for each in range(array.ndim) if each != dim), dim)
    count = array.sizes[dim]
    rows = array.numel // count if count else 0
    return contiguous(queue, permuted(array, order)).reshaped(rows, count), order


def sort_rows(
    queue: Queue, values: Array | None, places: Array, x: Array, descending: bool
) -> None:
    """Write the sorted rows of a contiguous (rows, count), and the places in their rows; ties in
    order."""
    keys, bits = _keys_of(queue, x, descending)
    order = sort_positions(queue, keys, bits, x.sizes[1], signed=True)
    moved = None if values is None else values.moved()
    operands = (moved, places, x.moved(), order)
    numbers = (x.numel, x.sizes[1])
    run_elements(queue, take_in_order, x.numel, *operands, *numbers, HAS_VALUES=values is not None)


@device_kernel("X* int64* X* int64*", "I I")
def take_in_order(values, places, x, order, n, count):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        position = order[i]
        places[i] = np.int64(position - divided(i, count) * count)
        if HAS_VALUES:
            values[i] = x[position]
        i = I(i + cuda.gridsize(1))
