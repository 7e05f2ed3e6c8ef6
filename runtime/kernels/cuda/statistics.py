"""Variance, standard deviation and mean: the mean first, then squared distances from it.

Both passes sum in the type of computation over many threads, whose few numbers each keep the
rounding small; equal calls give equal bits.
"""

# ruff: noqa: F821 - T, GROUP and the like are names of the compiled text.

from __future__ import annotations

from typing import Any

from runtime.kernels.cuda.queue import Array, Queue, folded_around
from runtime.kernels.cuda.rows import (
    WARPS,
    first_row,
    group_for,
    lane_of_row,
    place_of_row,
    row_step,
    run_rows,
    sum_of_group,
)
from runtime.kernels.cuda.typed import device_kernel


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
    numbers = (rows, *folded[1:], freedom)
    kernel = moments_of_complex_rows if x.dtype.is_complex else moments_of_rows
    run_rows(queue, kernel, rows, group_for(queue, folded), variance, mean, x, *numbers, **flags)


@device_kernel("X* X* X*", "I I I T")
def moments_of_rows(variance, mean, x, rows, count, inner, freedom):
    """A group of threads owns a row; lane t takes elements t, t + GROUP ..."""
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
            total = T(total + distance * distance)
            j = I(j + GROUP)
        spread = T(sum_of_group(total, shared) / freedom)
        if lane == 0:
            variance[row] = store_X(sqrt(spread) if IS_ROOT else spread)
            if HAS_MEAN:
                mean[row] = store_X(center)
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
