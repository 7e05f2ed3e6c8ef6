"""Cumulative operators. Float16 and bfloat16 accumulate in float32, all others in their own type.

A thread owns a column or a very short row, a warp or a block a row, and few long rows are cut into
slices: the slices' totals are scanned first and carried in. The order of operations depends on
sizes alone.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.common.folded import Folded, sizes_around
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    DeviceFunction,
    device_function,
    device_kernel,
)
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, converted
from torchgen_out._runtime.kernels.cuda.rows import (
    THREADS,
    WARP,
    WARPS,
    cut,
    first_row,
    lane_of_row,
    place_of_row,
    row_step,
    run_rows,
)

OF_WARPS = 4 * WARPS
"""What the warps of a block make of what they read at once."""


def cumsum(queue: Queue, out: Array, self: Array, dim: int, dtype: Any = None) -> None:
    """Write the sums of what stands up to each place."""
    scan(queue, out, converted(queue, self, out.dtype), sizes_around(out.sizes, dim), zero, plus)


def cumprod(queue: Queue, out: Array, self: Array, dim: int, dtype: Any = None) -> None:
    """Write the products of what stands up to each place."""
    scan(queue, out, converted(queue, self, out.dtype), sizes_around(out.sizes, dim), one, times)


def logcumsumexp(queue: Queue, out: Array, self: Array, dim: int) -> None:
    """Write the logarithm of the sums of exponentials up to each place."""
    combine = log_sum_exp_complex if out.dtype.is_complex else log_sum_exp
    scan(queue, out, self, sizes_around(out.sizes, dim), minus_infinity, combine)


def cummax(queue: Queue, values: Array, indices: Array, self: Array, dim: int) -> None:
    """Write the greatest value so far and its latest place."""
    _best(queue, values, indices, self, dim, is_not_smaller)


def cummin(queue: Queue, values: Array, indices: Array, self: Array, dim: int) -> None:
    """Write the smallest value so far and its latest place."""
    _best(queue, values, indices, self, dim, is_not_greater)


def scan(
    queue: Queue,
    out: Array,
    x: Array,
    folded: Folded,
    identity: DeviceFunction,
    combine: DeviceFunction,
) -> None:
    """out[j] = x[0] combined with ... x[j], along the rows of a contiguous array."""
    rows = folded.outer * folded.inner
    if not rows * folded.count:
        return
    group, splits, chunk = cut(queue, folded)
    if folded.count <= WARP and rows >= queue.processors * THREADS:
        group = 1
    numbers = (rows * splits, folded.count, folded.inner, splits, chunk)
    parts: dict[str, Any] = {"identity": identity, "combine": combine}
    totals = None
    if splits > 1:
        totals = queue.empty((rows, splits), x.dtype.opmath)
        run_rows(queue, total_slices, rows * splits, group, x, totals, *numbers, **parts)
        scan(queue, totals, totals, Folded(rows, splits, 1), identity, combine)
    flags = {"IS_CUT": splits > 1}
    run_rows(queue, scan_rows, rows * splits, group, out, x, totals, *numbers, **parts, **flags)


@device_function
def zero():
    """What sums begin with."""
    return T(0)


@device_function
def one():
    """What products begin with."""
    return T(1)


@device_function
def minus_infinity():
    """The logarithm of no exponentials."""
    return T(-np.inf)


@device_function
def plus(a, b):
    """Two sums as one."""
    return T(a + b)


@device_function
def times(a, b):
    """Two products as one."""
    return T(a * b)


@device_function
def log_sum_exp(a, b):
    """log(e^a + e^b) = max + log1p(e^(min - max)): the exponent is never positive."""
    high, low = (a, b) if a > b else (b, a)
    if (a != a) | (b != b):
        return T(a + b)
    if (high == low) & (abs(high) == T(np.inf)):
        return high
    return T(high + log1p(exp(T(low - high))))


@device_function
def log_sum_exp_complex(a, b):
    """The same; the larger real part leads."""
    high, low = (a, b) if a.real >= b.real else (b, a)
    if low.real == -np.inf:
        return high
    return T(high + log1p(exp(T(low - high))))


@device_kernel("X* T*", "I I I I I")
def total_slices(x, totals, pieces, count, inner, splits, chunk):
    """A group of threads owns a slice of a row; lane t takes elements t, t + GROUP ..."""
    shared = cuda.shared.array(WARPS, STORED)
    lane = lane_of_row()
    piece = first_row()
    while piece < pieces:
        row = divided(piece, splits)
        begin = I((piece - row * splits) * chunk)
        stop = I(min(begin + chunk, count))
        base = place_of_row(row, count, inner)
        # 1. Each thread combines its elements, each warp its threads.
        total = identity()
        j = I(begin + lane)
        while j < stop:
            total = combine(total, load_X(x[base + j * inner]))
            j = I(j + GROUP)
        if GROUP > 1:
            for bits in (16, 8, 4, 2, 1):
                total = combine(total, shuffled_across(total, bits))
        # 2. The first thread combines the warps.
        if GROUP > 32:
            if lane % 32 == 0:
                shared[lane // 32] = total
            cuda.syncthreads()
            if lane == 0:
                for warp in range(1, WARPS):
                    total = combine(total, shared[warp])
            cuda.syncthreads()
        if lane == 0:
            totals[piece] = total
        piece = I(piece + row_step())


@device_function
def element_or_identity(x, base, j, stop, inner):
    """The j-th element of a row, or beyond its end what changes nothing."""
    return load_X(x[base + j * inner]) if j < stop else identity()


@device_function
def scanned_by_warp(value, lane):
    """The lane's element combined with those of all lanes before it."""
    if GROUP > 1:
        for delta in (1, 2, 4, 8, 16):
            before = shuffled_up(value, delta)
            if lane % 32 >= delta:
                value = combine(before, value)
    return value


@device_function
def carried(value, carry, shared, first, lane):
    """A number that a warp scanned, combined with what stands before it, and what all make.

    shared: from `first` on, what each warp of the row makes.
    """
    if GROUP == 1:
        value = combine(carry, value)
        return value, value
    if GROUP == 32:
        value = combine(carry, value)
        return value, shuffled_from(value, 31)
    before = carry
    for warp in range(WARPS):
        if warp == lane // 32:
            before = carry
        carry = combine(carry, shared[first + warp])
    return combine(before, value), carry


@device_kernel("X* X* T*", "I I I I I")
def scan_rows(out, x, totals, pieces, count, inner, splits, chunk):
    """A group of threads owns a slice of a row, and scans four times GROUP elements at a time.

    IS_CUT: rows are cut, and `totals` are what their slices make together with those before.
    """
    shared = cuda.shared.array(OF_WARPS, STORED)
    lane = lane_of_row()
    piece = first_row()
    while piece < pieces:
        row = divided(piece, splits)
        part = I(piece - row * splits)
        begin = I(part * chunk)
        stop = I(min(begin + chunk, count))
        base = place_of_row(row, count, inner)
        carry = identity()
        if IS_CUT and part > 0:
            carry = totals[I(piece - 1)]
        while begin < stop:
            j0 = I(begin + lane)
            j1, j2, j3 = I(j0 + GROUP), I(j0 + 2 * GROUP), I(j0 + 3 * GROUP)
            # 1. Each warp scans its lanes: all are read before the first is waited for.
            v0 = element_or_identity(x, base, j0, stop, inner)
            v1 = element_or_identity(x, base, j1, stop, inner)
            v2 = element_or_identity(x, base, j2, stop, inner)
            v3 = element_or_identity(x, base, j3, stop, inner)
            v0, v1 = scanned_by_warp(v0, lane), scanned_by_warp(v1, lane)
            v2, v3 = scanned_by_warp(v2, lane), scanned_by_warp(v3, lane)
            # 2. The warps tell each other what they make.
            if GROUP > 32:
                if lane % 32 == 31:
                    shared[lane // 32], shared[WARPS + lane // 32] = v0, v1
                    shared[2 * WARPS + lane // 32], shared[3 * WARPS + lane // 32] = v2, v3
                cuda.syncthreads()
            v0, carry = carried(v0, carry, shared, 0, lane)
            v1, carry = carried(v1, carry, shared, WARPS, lane)
            v2, carry = carried(v2, carry, shared, 2 * WARPS, lane)
            v3, carry = carried(v3, carry, shared, 3 * WARPS, lane)
            if GROUP > 32:
                cuda.syncthreads()
            # 3. The results.
            if j0 < stop:
                out[base + j0 * inner] = store_X(v0)
            if j1 < stop:
                out[base + j1 * inner] = store_X(v1)
            if j2 < stop:
                out[base + j2 * inner] = store_X(v2)
            if j3 < stop:
                out[base + j3 * inner] = store_X(v3)
            begin = I(begin + 4 * GROUP)
        piece = I(piece + row_step())


# -- extremes so far ----------------------------------------------------------------------------


def _best(
    queue: Queue, values: Array, indices: Array, self: Array, dim: int, wins: DeviceFunction
) -> None:
    """Slices of rows are not scanned apart: a row has one group of threads, however long it is."""
    folded = sizes_around(self.sizes, dim)
    rows = folded.outer * folded.inner
    group = cut(queue, folded).group
    if self.numel:
        numbers = (rows, folded.count, folded.inner)
        run_rows(queue, best_rows, rows, group, values, indices, self, *numbers, wins=wins)


@device_function
def is_not_smaller(value, best):
    """Whether a later element takes the place: until a NaN comes if not smaller, then if NaN."""
    return (value != value) | ((best == best) & (value >= best))


@device_function
def is_not_greater(value, best):
    """The same for the smallest."""
    return (value != value) | ((best == best) & (value <= best))


@device_kernel("X* int64* X*", "I I I")
def best_rows(values, places, x, rows, count, inner):
    """A group of threads owns a row, and scans GROUP elements at a time. Place -1: no element."""
    shared_values = cuda.shared.array(WARPS, STORED)
    shared_places = cuda.shared.array(WARPS, np.int64)
    lane = lane_of_row()
    row = first_row()
    while row < rows:
        base = place_of_row(row, count, inner)
        carry, carry_place = load_X(x[base]), np.int64(-1)
        begin = I(0)
        while begin < count:
            j = I(begin + lane)
            # Lanes beyond the end look at the last element.
            at = I(min(j, I(count - 1)))
            value, place = load_X(x[base + at * inner]), np.int64(at)
            # 1. Each warp scans its lanes.
            if GROUP > 1:
                for delta in (1, 2, 4, 8, 16):
                    before = shuffled_up(value, delta)
                    before_place = np.int64(cuda.shfl_up_sync(0xFFFFFFFF, place, delta))
                    if lane % 32 >= delta and not wins(value, before):
                        value, place = before, before_place
            # 2. What stands in the warps before it, and in the tiles before, may still win.
            if GROUP > 32:
                if lane % 32 == 31:
                    shared_values[lane // 32] = STORED(value)
                    shared_places[lane // 32] = place
                cuda.syncthreads()
                for warp in range(lane // 32):
                    other = T(shared_values[warp])
                    if carry_place < 0 or wins(other, carry):
                        carry, carry_place = other, shared_places[warp]
            if carry_place >= 0 and not wins(value, carry):
                value, place = carry, carry_place
            if j < count:
                values[base + j * inner] = store_X(value)
                places[base + j * inner] = place
            # 3. The last lane's result is carried on.
            if GROUP == 1:
                carry, carry_place = value, place
            elif GROUP == 32:
                carry = shuffled_from(value, 31)
                carry_place = np.int64(cuda.shfl_sync(0xFFFFFFFF, place, 31))
            else:
                cuda.syncthreads()
                if lane == GROUP - 1:
                    shared_values[0] = STORED(value)
                    shared_places[0] = place
                cuda.syncthreads()
                carry, carry_place = T(shared_values[0]), shared_places[0]
                cuda.syncthreads()
            begin = I(begin + GROUP)
        row = I(row + row_step())
