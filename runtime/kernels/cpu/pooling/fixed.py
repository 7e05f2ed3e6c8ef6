"""Pooling on the CPU over (planes, depth, height, width) arrays; missing dims have size 1.

A window is the part of a plane that one result sees. The loops are in `pooling_loops.py` and, for
small windows, `unrolled.py`.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.copy.copy import fill
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.cpu.pooling import pooling_plans, unrolled
from torchgen_out._runtime.kernels.cpu.pooling.pooling_loops import (
    max_windows,
    mean_windows,
    scatter_windows,
    spread_windows,
)
from torchgen_out._runtime.kernels.cpu.pooling.pooling_plans import (
    Triple,
    plane_sizes,
    triple,
    windows,
)

Array = Any


def planes(array: Array, count: int) -> Array:
    """The array as contiguous planes with three spatial dims."""
    return np.ascontiguousarray(array).reshape(plane_sizes(array.shape, count))


# Maximum.


@planned(pooling_plans.plan_max_pool(2))
def max_pool2d(
    out: Array,
    self: Array,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> None:
    """Write the largest element of each window."""
    size, step, pad = windows(2, kernel_size, stride, padding)
    results = planes(out, 2)
    has_places = not unrolled.suits(size)
    indices = np.empty(results.shape if has_places else (1, 0, 0, 0), np.int64)
    _max_pool((results, indices, planes(self, 2)), size, step, pad, triple(dilation, 2, 1))


@planned(pooling_plans.plan_max_pool(2))
def max_pool2d_with_indices(
    out: Array,
    indices: Array,
    self: Array,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> None:
    """Write the largest element of each window and where in its plane it stands."""
    size, step, pad = windows(2, kernel_size, stride, padding)
    spread = triple(dilation, 2, 1)
    _max_pool((planes(out, 2), planes(indices, 2), planes(self, 2)), size, step, pad, spread)


@planned(pooling_plans.plan_max_pool(3))
def max_pool3d_with_indices(
    out: Array,
    indices: Array,
    self: Array,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> None:
    """Write the largest element of each window and where in its volume it stands."""
    size, step, pad = windows(3, kernel_size, stride, padding)
    spread = triple(dilation, 3, 1)
    _max_pool((planes(out, 3), planes(indices, 3), planes(self, 3)), size, step, pad, spread)


def _max_pool(
    arrays: tuple[Array, ...], size: Triple, step: Triple, pad: Triple, spread: Triple
) -> None:
    """arrays: the result, the places and the input; places that are not asked for are empty."""
    if not arrays[0].size:
        return
    _run_max(arrays, size, step, pad, spread)
    result, indices, x = arrays
    empty = pooling_plans.empty_windows(result.shape[1:], x.shape[1:], size, step, pad, spread)
    if empty is not None:
        windows_, places = empty
        result[:, windows_] = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        if indices.size:
            indices[:, windows_] = places


def _run_max(
    arrays: tuple[Array, ...], size: Triple, step: Triple, pad: Triple, spread: Triple
) -> None:
    numbers = as_array(step), as_array(pad), as_array(spread)
    if unrolled.suits(size):
        written_out = unrolled.max_kernel(size, step[2], spread[2], bool(arrays[1].size))
        threads.run_rows(written_out, arrays, *numbers, work=4)
    else:
        threads.run_rows(max_windows, arrays, as_array(size), *numbers, work=4)


@lru_cache(maxsize=1024)
def as_array(numbers: Triple) -> Array:
    """Three numbers as worker threads take them."""
    return np.array(numbers, np.int64)


def max_pool_backward(
    out: Array, grad_output: Array, indices: Array, sizes: Any, count: int, *windows: Any
) -> None:
    """Add each gradient at the place that its window chose; `count` dims are spatial."""
    fill(out, 0)
    split = len(sizes) - count
    lead = prod(sizes[:split])
    shape = (lead, prod(grad_output.shape[split:]))
    arrays = (
        out.reshape(lead, prod(sizes[split:])),
        np.ascontiguousarray(grad_output).reshape(shape),
        np.ascontiguousarray(indices).reshape(shape),
    )
    threads.run_rows(scatter_windows, arrays, work=2)


# Mean.


@planned(pooling_plans.plan_avg_pool(2))
def avg_pool2d(
    out: Array,
    self: Array,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> None:
    """Write the mean of each window."""
    _avg_pool(2, out, self, kernel_size, stride, padding, count_include_pad, divisor_override)


@planned(pooling_plans.plan_avg_pool(3))
def avg_pool3d(
    out: Array,
    self: Array,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> None:
    """Write the mean of each window."""
    _avg_pool(3, out, self, kernel_size, stride, padding, count_include_pad, divisor_override)


def _avg_pool(
    count: int,
    out: Array,
    self: Array,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    count_include_pad: bool,
    divisor_override: int | None,
) -> None:
    size, step, pad = windows(count, kernel_size, stride, padding)
    divisor = divisor_override or 0
    x, y = planes(self, count), planes(out, count)
    if out.dtype.kind == "i":
        _sum_integers(y, x, size, step, pad, count_include_pad, divisor)
    else:
        counts = window_sizes(y.shape[1:], x.shape[1:], size, step, pad, count_include_pad)
        numbers = as_array(step), as_array(pad), *counts, divisor
        if unrolled.suits(size):
            written_out = unrolled.mean_kernel(size, step[2])
            threads.run_rows(written_out, (y, x), *numbers, work=2)
        else:
            threads.run_rows(mean_windows, (y, x), as_array(size), *numbers, work=2)


def avg_pool_backward(
    out: Array,
    grad_output: Array,
    sizes: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    count: int,
) -> None:
    """Add to every element of a window its part of the window's gradient."""
    size, step, pad = windows(count, kernel_size, stride, padding)
    fill(out, 0)
    arrays = (planes(out, count), planes(grad_output, count))
    lengths = (arrays[1].shape[1:], arrays[0].shape[1:])
    counts = window_sizes(*lengths, size, step, pad, count_include_pad)
    numbers = *map(as_array, (size, step, pad)), *counts, divisor_override or 0
    threads.run_rows(spread_windows, arrays, *numbers, work=2)


@lru_cache(maxsize=1024)
def window_sizes(
    places: Triple, lengths: Triple, size: Triple, step: Triple, pad: Triple, include_pad: bool
) -> tuple[Array, ...]:
    """Per dim, how many places of each window lie inside the (padded) plane."""
    counts = []
    for count, length, k, s, p in zip(places, lengths, size, step, pad, strict=True):
        start = np.arange(count) * s - p
        end = np.minimum(start + k, length + p)
        if not include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, length)
        counts.append((end - start).astype(np.float64))
    return tuple(counts)


def _sum_integers(
    out: Array, x: Array, size: Triple, step: Triple, pad: Triple, include_pad: bool, divisor: int
) -> None:
    """Integers are summed exactly and divided towards zero."""
    counts = window_sizes(out.shape[1:], x.shape[1:], size, step, pad, include_pad)
    sums = np.empty(out.shape, np.float64)
    mean_windows(sums, x, size, step, pad, *counts, 1)
    deep, high, wide = counts
    size_of_each = deep[:, None, None] * high[:, None] * wide
    out[...] = np.trunc(sums / (divisor if divisor else size_of_each))
