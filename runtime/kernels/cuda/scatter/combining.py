"""Combining values at places, of which some come several times: sums, products, extremes, means.

The values' positions are sorted by place, stably, and one thread goes through the values of one
place in their order: so results are those of a loop over the values, and equal calls give equal
bits. 16-bit floats combine in float32 and are rounded once.
"""

from __future__ import annotations

from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    DeviceFunction,
    device_function,
    device_kernel,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue
from torchgen_out._runtime.kernels.cuda.rows import greatest
from torchgen_out._runtime.kernels.cuda.sort.radix import sort_positions


def sum_at_places(queue: Queue, target: Array, places: Array, values: Array) -> None:
    """target[places[i]] += values[i]. Shape: contiguous (m), int64 (n) and (n)."""
    combine_at_places(queue, target, places, values, Folded(1, target.numel, 1), plus)


def combine_at_places(
    queue: Queue,
    target: Array,
    places: Array,
    values: Array,
    folded: Folded,
    combine: DeviceFunction,
    include_self: bool = True,
    is_mean: bool = False,
    steps: tuple[int, int] | None = None,
) -> None:
    """target[o, places[k], i] = itself combined with values[o, k, i], for all k in order.

    Shape: target (outer, count, inner) as `folded` says; places int64 (n), those outside are left
    out; values contiguous (outer, n, inner). include_self: whether what stood there takes part.
    is_mean: whether the sum is divided by how many took part. steps: of the target's first two
    dims, if it is not contiguous.
    """
    outer, count, inner = folded
    n = places.numel
    if not n * outer * inner:
        return
    order = sort_positions(queue, places, count.bit_length() + 1)
    flags = {"INCLUDE_SELF": include_self, "IS_MEAN": is_mean}
    numbers = (n, count, inner, *(steps or (count * inner, inner)), outer * n * inner)
    operands = (target, values, places, order)
    run_elements(
        queue, combine_runs, outer * n * inner, *operands, *numbers, combine=combine, **flags
    )


@device_function
def plus(a, b):
    """Two sums as one."""
    return T(a + b)


@device_function
def times(a, b):
    """Two products as one."""
    return T(a * b)


@device_function
def smaller(a, b):
    """The smaller of two; NaN if one is."""
    return a if (a < b) | (a != a) else b


COMBINE = {
    "sum": plus, "add": plus, "mean": plus, "prod": times, "multiply": times,
    "amax": greatest, "max": greatest, "amin": smaller, "min": smaller,
}  # fmt: skip
"""What `reduce=` names."""


@device_function
def mean_of(total, taken):
    """The sum over the number; integers round down."""
    return T(total // T(taken)) if IS_INTEGER else T(total / T(taken))


@device_kernel("X* X* int64* int64*", "I I I I I I")
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
            taken = np.int64(1)
            if not INCLUDE_SELF:
                acc = load_X(values[(o * n + I(order[k])) * inner + column])
                k = I(k + 1)
            while k < n and places[order[k]] == place:
                acc = combine(acc, load_X(values[(o * n + I(order[k])) * inner + column]))
                taken += 1
                k = I(k + 1)
            if IS_MEAN:
                acc = mean_of(acc, taken)
            target[at] = store_X(acc)
        item = I(item + cuda.gridsize(1))
