"""Combining values at places, of which some come several times: sums, products, extremes.

The values' positions are sorted by place, stably, and one thread goes through the values of one
place in their order: so results are those of a loop over the values, and equal calls give equal
bits. Sums and extremes of whole numbers do not depend on an order: they are combined where they
lie, by atomic operations. 16-bit floats combine in float32 and are rounded once.
"""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    DeviceFunction,
    device_function,
    device_kernel,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue
from torchgen_out._runtime.kernels.cuda.sort.radix import sort_positions


def combine_at_places(
    queue: Queue,
    target: Array,
    places: Array,
    values: Array,
    folded: Folded,
    combine: DeviceFunction,
    steps: tuple[int, int],
) -> None:
    """target[o, places[k], i] = itself combined with values[o, k, i], for all k in order.

    Shape: target (outer, count, inner) as `folded` says, steps: of its first two dims; places int64
    (n), those outside are left out; values contiguous (outer, n, inner), of the target's dtype or
    the one in which it computes.
    """
    outer, count, inner = folded
    n = places.numel
    total = n * outer * inner
    if not total:
        return
    if combine in ATOMIC and target.dtype in (dtypes.int32, dtypes.int64):
        numbers = (n, count, inner, *steps, total)
        atomic = {"atomic": ATOMIC[combine]}
        run_elements(queue, combine_elements, total, target, values, places, *numbers, **atomic)
        return
    order = sort_positions(queue, places, count.bit_length() + 1)
    operands = (target, values, places, order)
    numbers = (n, count, inner, *steps, total)
    run_elements(queue, combine_runs, total, *operands, *numbers, combine=combine)


@device_function
def plus(a, b):
    """Two sums as one."""
    return T(a + b)


@device_function
def times(a, b):
    """Two products as one."""
    return T(a * b)


@device_function
def greatest(a, b):
    """The greater number; NaN if one is."""
    return a if (a > b) | (a != a) else b


@device_function
def smaller(a, b):
    """The smaller of two; NaN if one is."""
    return a if (a < b) | (a != a) else b


COMBINE = {
    "sum": plus,
    "prod": times,
    "max": greatest,
    "min": smaller,
}
"""What folds are called."""


@device_function
def add_atomically(pointer, i, value):
    """Add a whole number to an element."""
    atomic_add(pointer, i, value)


@device_function
def raise_atomically(pointer, i, value):
    """Have an element be at least a whole number."""
    atomic_max(pointer, i, value)


@device_function
def lower_atomically(pointer, i, value):
    """Have an element be at most a whole number."""
    atomic_min(pointer, i, value)


ATOMIC = {plus: add_atomically, greatest: raise_atomically, smaller: lower_atomically}
"""What combines whole numbers in any order."""


@device_kernel("X* X* int64*", "I I I I I I")
def combine_elements(target, values, places, n, count, inner, row_step, place_step, total):
    """A thread owns (o, k, i), at the distance of the grid: a value, beside others of its place."""
    item = I(cuda.grid(1))
    while item < total:
        row = divided(item, inner)
        o = divided(row, n)
        place = places[I(row - o * n)]
        if (place >= 0) & (place < count):
            column = I(item - row * inner)
            atomic(target, I(o * row_step + I(place) * place_step + column), values[item])
        item = I(item + cuda.gridsize(1))


@device_kernel("X* Y* int64* int64*", "I I I I I I")
def combine_runs(target, values, places, order, n, count, inner, row_step, place_step, total):
    """A thread owns (o, k, i), at the distance of the grid: if the k-th place in order is the first
    of its kind, it goes through all of that place."""
    item = I(cuda.grid(1))
    while item < total:
        row = divided(item, inner)
        column = I(item - row * inner)
        o = divided(row, n)
        k = I(row - o * n)
        place = places[order[k]]
        is_inside = (place >= 0) & (place < count)
        if is_inside and (k == 0 or places[order[I(k - 1)]] != place):
            at = I(o * row_step + I(place) * place_step + column)
            acc = load_X(target[at])
            while k < n and places[order[k]] == place:
                acc = combine(acc, load_Y(values[(o * n + I(order[k])) * inner + column]))
                k = I(k + 1)
            target[at] = store_X(acc)
        item = I(item + cuda.gridsize(1))
