"""Variance, standard deviation and mean: the mean first, then squared distances from it.

Both passes sum in the type of computation over many threads, whose few numbers each keep the
rounding small. Few long rows are cut into slices, whose moments are joined; equal calls give equal
bits.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_function, device_kernel
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, folded_around
from torchgen_out._runtime.kernels.cuda.rows import (
    WARP,
    WARPS,
    cut,
    first_row,
    lane_of_row,
    place_of_row,
    row_step,
    run_rows,
    sum_of_group,
)


def var(queue: Queue, out: Array, self: Array, dim: Any, correction: Any, keepdim: bool) -> None:
    """Write the variance over `dim`."""
    moments(queue, out, None, self, dim, correction, False)


def std(queue: Queue, out: Array, self: Array, dim: Any, correction: Any, keepdim: bool) -> None:
    """Write the standard deviation over `dim`."""
    moments(queue, out, None, self, dim, correction, True)


def var_mean(
    queue: Queue, out0: Array, out1: Array, self: Array, dim: Any, correction: Any, keepdim: bool
) -> None:
    """Write the variance and the mean over `dim`."""
    moments(queue, out0, out1, self, dim, correction, False)


def std_mean(
    queue: Queue, out0: Array, out1: Array, self: Array, dim: Any, correction: Any, keepdim: bool
) -> None:
    """Write the standard deviation and the mean over `dim`."""
    moments(queue, out0, out1, self, dim, correction, True)


def moments(
    queue: Queue,
    variance: Array,
    mean: Array | None,
    x: Array,
    dim: Any,
    correction: Any,
    is_root: bool,
) -> None:
    """Write both moments; the variance of complex numbers is that of their parts, added."""
    x, folded = folded_around(queue, x, dim)
    rows = folded.outer * folded.inner
    freedom = float(max(folded.count - (1 if correction is None else correction), 0))
    flags = {"HAS_MEAN": mean is not None, "IS_ROOT": is_root}
    group, splits, chunk = cut(queue, folded)
    if x.dtype.is_complex:
        numbers = (rows, *folded[1:], freedom)
        operands = (variance, mean, x)
        run_rows(queue, moments_of_complex_rows, rows, group, *operands, *numbers, **flags)
        return
    parts = queue.empty((2, rows * splits), x.dtype.opmath) if splits > 1 else None
    operands = (variance, mean, x, parts)
    numbers = (rows * splits, *folded[1:], splits, chunk, freedom)
    is_cut = {"IS_CUT": splits > 1}
    run_rows(queue, moments_of_rows, rows * splits, group, *operands, *numbers, **flags, **is_cut)
    if splits > 1:
        numbers = (rows, folded.count, splits, chunk, freedom)
        run_rows(queue, join_moments, rows, WARP, *operands, *numbers, **flags)


@device_function
def write_moments(variance, mean, row, spread, center):
    """What is asked for of a row."""
    variance[row] = store_X(T(sqrt(spread)) if IS_ROOT else spread)
    if HAS_MEAN:
        mean[row] = store_X(center)


@device_kernel("X* X* X* T*", "I I I I I T")
def moments_of_rows(
    variance, mean, x, parts, pieces, count, inner, splits, chunk, freedom
):  # fmt: skip
    """A group of threads owns a slice of a row: lane t takes elements t, t + GROUP ...

    IS_CUT: a slice's mean and squared distances are written into `parts`, else a row's moments.
    """
    shared = cuda.shared.array(WARPS, T)
    lane = lane_of_row()
    piece = first_row()
    while piece < pieces:
        row = divided(piece, splits)
        begin = I((piece - row * splits) * chunk)
        stop = I(min(begin + chunk, count))
        base = place_of_row(row, count, inner)
        # 1. The mean.
        total = T(0)
        j = I(begin + lane)
        while j < stop:
            total = T(total + load_X(x[base + j * inner]))
            j = I(j + GROUP)
        center = T(sum_of_group(total, shared) / T(I(stop - begin)))
        # 2. The squared distances from it.
        total = T(0)
        j = I(begin + lane)
        while j < stop:
            distance = T(load_X(x[base + j * inner]) - center)
            total = T(total + distance * distance)
            j = I(j + GROUP)
        total = sum_of_group(total, shared)
        if lane == 0:
            if IS_CUT:
                parts[piece] = center
                parts[pieces + piece] = total
            else:
                write_moments(variance, mean, row, T(total / freedom), center)
        piece = I(piece + row_step())


@device_kernel("X* X* X* T*", "I I I I T")
def join_moments(variance, mean, x, parts, rows, count, splits, chunk, freedom):
    """A warp owns a row and joins its slices: their means, weighted, and their squared distances,
    moved to the mean of all.

    Source: T. Chan, G. Golub, R. LeVeque, "Algorithms for computing the sample variance" (1983).
    """
    shared = cuda.shared.array(WARPS, T)
    lane = lane_of_row()
    row = first_row()
    while row < rows:
        base = I(row * splits)
        # 1. The mean of all.
        total = T(0)
        part = lane
        while part < splits:
            length = T(I(min(chunk, count - part * chunk)))
            total = T(total + length * parts[base + part])
            part = I(part + GROUP)
        center = T(sum_of_group(total, shared) / T(count))
        # 2. The squared distances from it.
        total = T(0)
        part = lane
        while part < splits:
            length = T(I(min(chunk, count - part * chunk)))
            distance = T(parts[base + part] - center)
            total = T(total + parts[rows * splits + base + part] + length * distance * distance)
            part = I(part + GROUP)
        total = sum_of_group(total, shared)
        if lane == 0:
            write_moments(variance, mean, row, T(total / freedom), center)
        row = I(row + row_step())


@device_kernel("Y* X* X*", "I I I float64")
def moments_of_complex_rows(variance, mean, x, rows, count, inner, freedom):
    """The same; a squared distance is that of both parts."""
    shared = cuda.shared.array(WARPS, T)
    lane = lane_of_row()
    row = first_row()
    while row < rows:
        base = place_of_row(row, count, inner)
        # 1. The mean.
        total = T(0)
        j = lane
        while j < count:
            total = T(total + load_X(x[base + j * inner]))
            j = I(j + GROUP)
        center = T(sum_of_group(total, shared) / T(count))
        # 2. The squared distances from it.
        total = T(0)
        j = lane
        while j < count:
            distance = T(load_X(x[base + j * inner]) - center)
            square = distance.real * distance.real + distance.imag * distance.imag
            total = T(total + square)
            j = I(j + GROUP)
        spread = sum_of_group(total, shared).real / freedom
        if lane == 0:
            variance[row] = Y(math.sqrt(spread) if IS_ROOT else spread)
            if HAS_MEAN:
                mean[row] = store_X(center)
        row = I(row + row_step())
