"""Pooling on the CPU over (planes, depth, height, width) arrays; missing dims have size 1.

A window is the part of a plane that one result sees. Loops run over planes, then results, then the
window; sums accumulate in float64.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from runtime.kernels import threads
from runtime.kernels.build import kernel
from runtime.kernels.cpu import unrolled_pooling

Array = Any
Triple = tuple[int, int, int]


def triple(value: Any, count: int, missing: int) -> Triple:
    """Three numbers of one or `count`; `missing` for the dims in front."""
    values = (value,) if isinstance(value, int) else tuple(value)
    if len(values) == 1:
        values *= count
    return (missing,) * (3 - count) + values  # type: ignore[return-value]


def planes(array: Array, count: int) -> Array:
    """The array as contiguous planes with three spatial dims."""
    sizes = array.shape
    split = len(sizes) - count
    shape = (prod(sizes[:split]), *(1,) * (3 - count), *sizes[split:])
    return np.ascontiguousarray(array).reshape(shape)


def _windows(count: int, kernel_size: Any, stride: Any, padding: Any) -> tuple[Any, Any, Any]:
    size = triple(kernel_size, count, 1)
    step = size if stride is None or stride == [] or stride == () else triple(stride, count, 1)
    return size, step, triple(padding, count, 0)


# Maximum.


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
    size, step, pad = _windows(2, kernel_size, stride, padding)
    has_places = not unrolled_pooling.suits(size)
    indices = np.empty(out.shape if has_places else (0,) * out.ndim, np.int64)
    arrays = planes(out, 2), planes(indices, 2), planes(self, 2)
    _max_pool(arrays, size, step, pad, triple(dilation, 2, 1))


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
    size, step, pad = _windows(2, kernel_size, stride, padding)
    spread = triple(dilation, 2, 1)
    _max_pool((planes(out, 2), planes(indices, 2), planes(self, 2)), size, step, pad, spread)


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
    size, step, pad = _windows(3, kernel_size, stride, padding)
    spread = triple(dilation, 3, 1)
    _max_pool((planes(out, 3), planes(indices, 3), planes(self, 3)), size, step, pad, spread)


def _max_pool(
    arrays: tuple[Array, ...], size: Triple, step: Triple, pad: Triple, spread: Triple
) -> None:
    """arrays: the result, the places and the input; places that are not asked for are empty."""
    if not arrays[0].size:
        return
    if unrolled_pooling.suits(size):
        written_out = unrolled_pooling.max_kernel(size, step[2], spread[2], bool(arrays[1].size))
        threads.run_rows(written_out, arrays, step, pad, spread, work=4)
    else:
        threads.run_rows(max_windows, arrays, size, step, pad, spread, work=4)


def max_pool_backward(
    out: Array, grad_output: Array, indices: Array, sizes: Any, count: int
) -> None:
    """Add each gradient at the place that its window chose; `count` dims are spatial."""
    out.fill(0)
    split = len(sizes) - count
    lead = prod(sizes[:split])
    shape = (lead, prod(grad_output.shape[split:]))
    arrays = (
        out.reshape(lead, prod(sizes[split:])),
        np.ascontiguousarray(grad_output).reshape(shape),
        np.ascontiguousarray(indices).reshape(shape),
    )
    threads.run_rows(scatter_windows, arrays, work=2)


@kernel
def max_windows(out, indices, x, size, step, pad, spread):
    """out[p, od, oh, ow] = the largest of its window; NaN wins. Padding is never chosen."""
    depth, height, width = x.shape[1], x.shape[2], x.shape[3]
    for p in range(out.shape[0]):
        plane = x[p]
        for od in range(out.shape[1]):
            d0 = od * step[0] - pad[0]
            for oh in range(out.shape[2]):
                h0 = oh * step[1] - pad[1]
                for ow in range(out.shape[3]):
                    w0 = ow * step[2] - pad[2]
                    place = -1
                    best = plane[0, 0, 0]
                    for kd in range(size[0]):
                        d = d0 + kd * spread[0]
                        if d < 0 or d >= depth:
                            continue
                        for kh in range(size[1]):
                            h = h0 + kh * spread[1]
                            if h < 0 or h >= height:
                                continue
                            for kw in range(size[2]):
                                w = w0 + kw * spread[2]
                                if w < 0 or w >= width:
                                    continue
                                value = plane[d, h, w]
                                if place < 0 or value > best or value != value:
                                    best = value
                                    place = (d * height + h) * width + w
                    out[p, od, oh, ow] = best
                    indices[p, od, oh, ow] = place


@kernel
def scatter_windows(grad_input, grad, indices):
    """grad_input[p, indices[p, i]] += grad[p, i]."""
    for p in range(grad.shape[0]):
        for i in range(grad.shape[1]):
            grad_input[p, indices[p, i]] += grad[p, i]


# Mean.


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
    size, step, pad = _windows(count, kernel_size, stride, padding)
    divisor = divisor_override or 0
    x, y = planes(self, count), planes(out, count)
    if out.dtype.kind == "i":
        _sum_integers(y, x, size, step, pad, count_include_pad, divisor)
    else:
        counts = window_sizes(y.shape[1:], x.shape[1:], size, step, pad, count_include_pad)
        if unrolled_pooling.suits(size):
            written_out = unrolled_pooling.mean_kernel(size, step[2])
            threads.run_rows(written_out, (y, x), step, pad, *counts, divisor, work=2)
        else:
            threads.run_rows(mean_windows, (y, x), size, step, pad, *counts, divisor, work=2)


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
    size, step, pad = _windows(count, kernel_size, stride, padding)
    out.fill(0)
    arrays = (planes(out, count), planes(grad_output, count))
    lengths = (arrays[1].shape[1:], arrays[0].shape[1:])
    counts = window_sizes(*lengths, size, step, pad, count_include_pad)
    numbers = (size, step, pad, *counts, divisor_override or 0)
    threads.run_rows(spread_windows, arrays, *numbers, work=2)


def window_sizes(
    places: Any, lengths: Any, size: Triple, step: Triple, pad: Triple, include_pad: bool
) -> list[Array]:
    """Per dim, how many places of each window lie inside the (padded) plane."""
    counts = []
    for count, length, k, s, p in zip(places, lengths, size, step, pad, strict=True):
        start = np.arange(count) * s - p
        end = np.minimum(start + k, length + p)
        if not include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, length)
        counts.append((end - start).astype(np.float64))
    return counts


@kernel
def mean_windows(out, x, size, step, pad, deep, high, wide, divisor):
    """out[p, od, oh, ow] = the sum of its window over `divisor`, or over its size if that is 0."""
    depth, height, width = x.shape[1], x.shape[2], x.shape[3]
    for p in range(out.shape[0]):
        for od in range(out.shape[1]):
            d0 = od * step[0] - pad[0]
            for oh in range(out.shape[2]):
                h0 = oh * step[1] - pad[1]
                for ow in range(out.shape[3]):
                    w0 = ow * step[2] - pad[2]
                    total = 0.0
                    for d in range(max(d0, 0), min(d0 + size[0], depth)):
                        for h in range(max(h0, 0), min(h0 + size[1], height)):
                            for w in range(max(w0, 0), min(w0 + size[2], width)):
                                total += x[p, d, h, w]
                    out[p, od, oh, ow] = total / (
                        divisor if divisor else deep[od] * high[oh] * wide[ow]
                    )


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


@kernel
def spread_windows(grad_input, grad, size, step, pad, deep, high, wide, divisor):
    """The transpose of mean_windows."""
    depth, height = grad_input.shape[1], grad_input.shape[2]
    parts = np.empty(grad.shape[3], grad.dtype)
    for p in range(grad.shape[0]):
        for od in range(grad.shape[1]):
            for oh in range(grad.shape[2]):
                count = deep[od] * high[oh]
                row = grad[p, od, oh]
                for i in range(parts.size):
                    parts[i] = row[i] / (divisor if divisor else count * wide[i])
                d0, h0 = od * step[0] - pad[0], oh * step[1] - pad[1]
                for d in range(max(d0, 0), min(d0 + size[0], depth)):
                    for h in range(max(h0, 0), min(h0 + size[1], height)):
                        scatter_row(grad_input, parts, p, d, h, size[2], step[2], pad[2])


@kernel
def scatter_row(grad_input, parts, p, d, h, size, step, pad):
    """grad_input[p, d, h, i * step + kw - pad] += parts[i], for what lies inside."""
    width = grad_input.shape[3]
    for kw in range(size):
        offset = kw - pad
        first = 0 if offset >= 0 else (-offset + step - 1) // step
        end = min(parts.size, (width - offset - 1) // step + 1) if width > offset else 0
        if first >= end:
            continue
        line = grad_input[p, d, h, first * step + offset :]
        part = parts[first:end]
        if step == 1:
            for i in range(part.size):
                line[i] += part[i]
        else:
            for i in range(part.size):
                line[i * step] += part[i]
