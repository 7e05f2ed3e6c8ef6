"""Counting, and the smallest and the greatest element that it needs beforehand."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    DeviceFunction,
    device_function,
    device_kernel,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, converted
from torchgen_out._runtime.kernels.cuda.rows import (
    WARPS,
    cut,
    first_row,
    lane_of_row,
    place_of_row,
    row_step,
    run_rows,
)
from torchgen_out._runtime.kernels.cuda.scatter.combining import sum_at_places


def _select(queue: Queue, values: Array, places: Array, self: Array, wins: DeviceFunction) -> None:
    """Pick among all; many are cut into slices, and their winners compared."""
    count = self.numel
    group, splits, chunk = cut(queue, Folded(1, count, 1))
    given = {"wins": wins, "HAS_VALUES": True}
    if splits == 1:
        numbers = (1, count, 1, 1, chunk)
        whole = (values, places, self, None, *numbers)
        run_rows(queue, select_rows, 1, group, *whole, HAS_PLACES=False, **given)
        return
    winners, at = queue.empty((splits,), self.dtype), queue.empty((splits,), dtypes.int64)
    parts = (winners, at, self, None, splits, count, 1, splits, chunk)
    run_rows(queue, select_rows, splits, group, *parts, HAS_PLACES=False, **given)
    whole = (values, places, winners, at, 1, splits, 1, 1, splits)
    run_rows(queue, select_rows, 1, group, *whole, HAS_PLACES=True, **given)


@device_function
def is_greater(value, place, best, best_place):
    """Whether an element wins over another: greater or NaN; of equal ones the first."""
    equal = (value == best) | ((value != value) & (best != best))
    return ((value > best) | ((value != value) & (best == best))) | (equal & (place < best_place))


@device_function
def is_smaller(value, place, best, best_place):
    """The same for the smallest."""
    equal = (value == best) | ((value != value) & (best != best))
    return ((value < best) | ((value != value) & (best == best))) | (equal & (place < best_place))


@device_kernel("X* int64* X* int64*", "I I I I I")
def select_rows(values, places, x, among, pieces, count, inner, splits, chunk):
    """A group of threads owns a slice of a row: lane t looks at elements t, t + GROUP ...

    HAS_PLACES: the places of the elements stand in `among`; otherwise their numbers in the row.
    """
    shared_values = cuda.shared.array(WARPS, STORED)
    shared_places = cuda.shared.array(WARPS, np.int64)
    lane = lane_of_row()
    piece = first_row()
    while piece < pieces:
        row = divided(piece, splits)
        begin = I((piece - row * splits) * chunk)
        stop = I(min(begin + chunk, count))
        base = place_of_row(row, count, inner)
        # 1. Each thread picks among its elements; those without any look at the first.
        j = I(begin + lane if begin + lane < stop else begin)
        best = load_X(x[base + j * inner])
        place = np.int64(among[base + j * inner] if HAS_PLACES else j)
        j = I(j + GROUP)
        while j < stop:
            value = load_X(x[base + j * inner])
            number = np.int64(among[base + j * inner] if HAS_PLACES else j)
            if wins(value, number, best, place):
                best, place = value, number
            j = I(j + GROUP)
        # 2. Each warp picks among its threads.
        if GROUP > 1:
            for bits in (16, 8, 4, 2, 1):
                value = shuffled_across(best, bits)
                number = np.int64(cuda.shfl_xor_sync(0xFFFFFFFF, place, bits))
                if wins(value, number, best, place):
                    best, place = value, number
        # 3. The first thread picks among the warps.
        if GROUP > 32:
            if cuda.threadIdx.x % 32 == 0:
                shared_values[cuda.threadIdx.x // 32] = STORED(best)
                shared_places[cuda.threadIdx.x // 32] = place
            cuda.syncthreads()
            for warp in range(WARPS):
                value, number = T(shared_values[warp]), shared_places[warp]
                if wins(value, number, best, place):
                    best, place = value, number
            cuda.syncthreads()
        if lane == 0:
            places[piece] = place
            if HAS_VALUES:
                values[piece] = store_X(best)
        piece = I(piece + row_step())


# -- counting -----------------------------------------------------------------------------------


def bincount(queue: Queue, self: Array, weights: Array | None = None, minlength: int = 0) -> Array:
    """Return the number of occurrences of each integer, or the sums of their weights."""
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    low, high = bounds(queue, self) if self.numel else (0, -1)
    if self.ndim != 1 or low < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and weights.sizes != self.sizes:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    size = max(high + 1, minlength)
    if weights is None:
        counts = queue.result((size,), dtypes.int64)
        queue.fill(counts, 0)
        run_elements(queue, count_numbers, self.numel, counts, self, self.numel)
        return counts
    dtype = dtypes.float32 if weights.dtype is dtypes.float32 else dtypes.float64
    sums = queue.result((size,), dtype)
    queue.fill(sums, 0)
    places = converted(queue, self, dtypes.int64)
    sum_at_places(queue, sums, places, converted(queue, weights, dtype))
    return sums


def bounds(queue: Queue, self: Array) -> tuple[Any, Any]:
    """The smallest and the greatest element, waited for."""
    ends = []
    for wins in (is_smaller, is_greater):
        value, place = queue.empty((), self.dtype), queue.empty((), dtypes.int64)
        _select(queue, value, place, self, wins)
        ends.append(queue.read(converted(queue, value, self.dtype.opmath))[0])
    return ends[0], ends[1]


@device_kernel("int64* X*", "I")
def count_numbers(counts, x, n):
    """A thread owns elements at the distance of the grid, and adds one at the place of each."""
    i = I(cuda.grid(1))
    while i < n:
        atomic_add(counts, np.int64(x[i]), np.int64(1))
        i = I(i + cuda.gridsize(1))
