"""Running sums, of which sorts and what is compacted tell places.

A thread owns a column or a very short row, a warp or a block a row, and few long rows are cut into
slices: the slices' totals are scanned first and carried in. The order of operations depends on
sizes alone.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    DeviceFunction,
    device_function,
    device_kernel,
)
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue
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
def plus(a, b):
    """Two sums as one."""
    return T(a + b)


@device_function
def times(a, b):
    """Two products as one."""
    return T(a * b)


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
