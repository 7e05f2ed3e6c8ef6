"""Cumulative operators. Float16 and bfloat16 accumulate in float32, all others in their own type.

A thread owns a column, a warp or a block a row, and few long rows are cut into slices: the slices'
totals are scanned first and carried in. The order of operations depends on sizes alone.
"""

# ruff: noqa: F821 - T, GROUP and the like are names of the compiled text.

from __future__ import annotations

from typing import Any

from runtime.kernels.cuda.compiling.typed import DeviceFunction, device_function, device_kernel
from runtime.kernels.cuda.queue import Array, Folded, Queue, converted, fold
from runtime.kernels.cuda.rows import (
    WARPS,
    cut,
    first_row,
    lane_of_row,
    place_of_row,
    row_step,
    run_rows,
)


def cumsum(queue: Queue, out: Array, self: Array, dim: int, dtype: Any = None) -> None:
    """Write the sums of what stands up to each place."""
    scan(queue, out, converted(queue, self, out.dtype), fold(out.sizes, dim), zero, plus)


def cumprod(queue: Queue, out: Array, self: Array, dim: int, dtype: Any = None) -> None:
    """Write the products of what stands up to each place."""
    scan(queue, out, converted(queue, self, out.dtype), fold(out.sizes, dim), one, times)


def logcumsumexp(queue: Queue, out: Array, self: Array, dim: int) -> None:
    """Write the logarithm of the sums of exponentials up to each place."""
    combine = log_sum_exp_complex if out.dtype.is_complex else log_sum_exp
    scan(queue, out, self, fold(out.sizes, dim), minus_infinity, combine)


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
    numbers = (rows * splits, folded.count, folded.inner, splits, chunk)
    parts: dict[str, Any] = {"identity": identity, "combine": combine}
    if splits == 1:
        run_rows(queue, scan_rows, rows, group, out, x, None, *numbers, PHASE=0, **parts)
        return
    totals = queue.empty((rows, splits), x.dtype.opmath)
    run_rows(queue, scan_rows, rows * splits, group, None, x, totals, *numbers, PHASE=1, **parts)
    scan(queue, totals, totals, Folded(rows, splits, 1), identity, combine)
    run_rows(queue, scan_rows, rows * splits, group, out, x, totals, *numbers, PHASE=2, **parts)


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


@device_kernel("X* X* T*", "I I I I I")
def scan_rows(out, x, totals, pieces, count, inner, splits, chunk):
    """A group of threads owns a slice of a row, and scans GROUP elements at a time.

    PHASE: 0 for whole rows, 1 to write the totals of slices, 2 to go on from these, scanned.
    """
    shared = cuda.shared.array(WARPS, STORED)
    lane = lane_of_row()
    piece = first_row()
    while piece < pieces:
        row = divided(piece, splits)
        part = I(piece - row * splits)
        begin = I(part * chunk)
        stop = I(min(begin + chunk, count))
        base = place_of_row(row, count, inner)
        carry = identity()
        if PHASE == 2 and part > 0:
            carry = totals[I(piece - 1)]
        while begin < stop:
            j = I(begin + lane)
            value = load_X(x[base + j * inner]) if j < stop else identity()
            # 1. Each warp scans its lanes.
            if GROUP > 1:
                for delta in (1, 2, 4, 8, 16):
                    before = shuffled_up(value, delta)
                    if lane % 32 >= delta:
                        value = combine(before, value)
            # 2. What the warps before it make is combined in.
            if GROUP > 32:
                if lane % 32 == 31:
                    shared[lane // 32] = value
                cuda.syncthreads()
                for warp in range(lane // 32):
                    carry = combine(carry, shared[warp])
            value = combine(carry, value)
            if PHASE != 1 and j < stop:
                out[base + j * inner] = store_X(value)
            # 3. The last lane's result is carried on.
            if GROUP == 1:
                carry = value
            elif GROUP == 32:
                carry = shuffled_from(value, 31)
            else:
                cuda.syncthreads()
                if lane == GROUP - 1:
                    shared[0] = value
                cuda.syncthreads()
                carry = shared[0]
                cuda.syncthreads()
            begin = I(begin + GROUP)
        if PHASE == 1 and lane == GROUP - 1:
            totals[piece] = carry
        piece = I(piece + row_step())


# -- extremes so far ----------------------------------------------------------------------------


def _best(
    queue: Queue, values: Array, indices: Array, self: Array, dim: int, wins: DeviceFunction
) -> None:
    """Slices of rows are not scanned apart: a row has one group of threads, however long it is."""
    folded = fold(self.sizes, dim)
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
