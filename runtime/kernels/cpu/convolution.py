"""Convolutions on the CPU: patches laid out as columns, multiplied by the weights with BLAS.

Every convolution is seen with three spatial dims (depth, height, width); missing ones have size 1.
A transposed convolution is the gradient of a convolution with respect to its input, and its
gradients are convolutions, so that three products serve all.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from runtime.kernels.build import kernel

Array = Any
Triple = tuple[int, int, int]
BLOCK_ELEMENTS = 1 << 19  # of the columns held at once: they should stay in the second cache
quiet = np.errstate(all="ignore")


class Geometry(NamedTuple):
    """How a kernel slides: three numbers each."""

    stride: Triple
    padding: Triple
    dilation: Triple
    groups: int


@quiet
def convolution(
    out: Array,
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> None:
    """Write the convolution, or the transposed one, plus the bias of each channel."""
    geometry = geometry_of(out.ndim, stride, padding, dilation, groups)
    y, x, w = spatial(out), spatial(input), spatial(weight)
    if transposed:
        product_transposed(y, x, w, geometry)
    else:
        product(y, x, w, geometry)
    if bias is not None:
        y += bias.reshape(1, -1, 1, 1, 1)


@quiet
def convolution_grad_input(
    out: Array,
    grad_output: Array,
    weight: Array,
    sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    groups: int,
) -> None:
    """Write the gradient of a convolution with respect to its input."""
    geometry = geometry_of(out.ndim, stride, padding, dilation, groups)
    dx, dy, w = spatial(out), spatial(grad_output), spatial(weight)
    if transposed:
        product(dx, dy, w, geometry)
    else:
        product_transposed(dx, dy, w, geometry)


@quiet
def convolution_grad_weight(
    out: Array,
    grad_output: Array,
    input: Array,
    sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    groups: int,
) -> None:
    """Write the gradient of a convolution with respect to its weight."""
    geometry = geometry_of(out.ndim, stride, padding, dilation, groups)
    dw, dy, x = spatial(out), spatial(grad_output), spatial(input)
    if transposed:
        dy, x = x, dy
    product_weight(dw, dy, x, geometry)


def geometry_of(ndim: int, stride: Any, padding: Any, dilation: Any, groups: int) -> Geometry:
    """Fill the numbers up to three spatial dims; one number stands for all."""
    count = ndim - 2
    return Geometry(
        _triple(stride, count, 1), _triple(padding, count, 0), _triple(dilation, count, 1), groups
    )


def _triple(value: Any, count: int, missing: int) -> Triple:
    values = (value,) * count if isinstance(value, int) else tuple(value)
    if len(values) == 1:
        values *= count
    return (missing,) * (3 - count) + values  # type: ignore[return-value]


def spatial(array: Array) -> Array:
    """The array with three spatial dims."""
    sizes = array.shape
    return array.reshape(sizes[:2] + (1,) * (5 - len(sizes)) + sizes[2:])


# The three products. x: (N, C, D, H, W); w: (O, C / groups, KD, KH, KW); y: (N, O, OD, OH, OW).


def product(y: Array, x: Array, w: Array, geometry: Geometry) -> None:
    """y = w * x: columns of a block of images, then one product per image and group."""
    groups = geometry.groups
    n, o = y.shape[:2]
    length = prod(y.shape[2:])
    if not y.size:
        return
    rows = np.ascontiguousarray(w).reshape(groups, o // groups, -1)
    depth = rows.shape[2]
    result = y.reshape(n, groups, o // groups, length)
    if depth == 0:
        y.fill(0)
        return
    if is_pointwise(w, geometry):
        columns = np.ascontiguousarray(x).reshape(n, groups, depth, length)
        np.matmul(rows, columns, out=result)
        return
    x = np.ascontiguousarray(x)
    step = images_per_block(groups * depth * length, n)
    columns = np.empty((step, groups, depth, length), x.dtype)
    for start in range(0, n, step):
        count = min(step, n - start)
        fill_columns(columns[:count], x[start : start + count], w, y, geometry)
        np.matmul(rows, columns[:count], out=result[start : start + count])


def product_transposed(x: Array, y: Array, w: Array, geometry: Geometry) -> None:
    """x = the gradient that y sends back through w: products give columns, which are summed."""
    groups = geometry.groups
    n, o = y.shape[:2]
    length = prod(y.shape[2:])
    if not x.size:
        return
    if not y.size or not w.size:
        x.fill(0)
        return
    rows = np.ascontiguousarray(w).reshape(groups, o // groups, -1).transpose(0, 2, 1)
    depth = rows.shape[1]
    grad = np.ascontiguousarray(y).reshape(n, groups, o // groups, length)
    if is_pointwise(w, geometry):
        np.matmul(rows, grad, out=x.reshape(n, groups, depth, length))
        return
    x.fill(0)
    step = images_per_block(groups * depth * length, n)
    columns = np.empty((step, groups, depth, length), x.dtype)
    for start in range(0, n, step):
        count = min(step, n - start)
        np.matmul(rows, grad[start : start + count], out=columns[:count])
        add_columns(x[start : start + count], columns[:count], w, y, geometry)


def product_weight(w: Array, y: Array, x: Array, geometry: Geometry) -> None:
    """w = sum over the images of y times the columns of x."""
    groups = geometry.groups
    n, o = y.shape[:2]
    w.fill(0)
    if not y.size or not w.size:
        return
    length = prod(y.shape[2:])
    result = w.reshape(groups, o // groups, -1)
    depth = result.shape[2]
    grad = np.ascontiguousarray(y).reshape(n, groups, o // groups, length)
    x = np.ascontiguousarray(x)
    pointwise = is_pointwise(w, geometry)
    step = images_per_block(groups * depth * length, n)
    columns = np.empty((step, groups, depth, length), x.dtype)
    for start in range(0, n, step):
        count = min(step, n - start)
        if pointwise:
            block = x[start : start + count].reshape(count, groups, depth, length)
        else:
            block = columns[:count]
            fill_columns(block, x[start : start + count], w, y, geometry)
        each = np.matmul(grad[start : start + count], block.transpose(0, 1, 3, 2))
        result += each.sum(axis=0)


def is_pointwise(w: Array, geometry: Geometry) -> bool:
    """Whether every output sees one place of the input, so that the input is its columns."""
    return (
        w.shape[2:] == (1, 1, 1) and geometry.stride == (1, 1, 1) and geometry.padding == (0, 0, 0)
    )


def images_per_block(elements: int, n: int) -> int:
    """How many images' columns are held at once."""
    return max(1, min(n, BLOCK_ELEMENTS // max(elements, 1)))


def fill_columns(columns: Array, x: Array, w: Array, y: Array, geometry: Geometry) -> None:
    """columns[n, g, (c, kd, kh, kw), (od, oh, ow)] = x at the place that the kernel sees."""
    seen = columns.reshape((x.shape[0], x.shape[1], *w.shape[2:], *y.shape[2:]))
    take_patches(seen, x, geometry.stride, geometry.padding, geometry.dilation)


def add_columns(x: Array, columns: Array, w: Array, y: Array, geometry: Geometry) -> None:
    """x += columns, each at the place that the kernel sees."""
    seen = columns.reshape((x.shape[0], x.shape[1], *w.shape[2:], *y.shape[2:]))
    add_patches(x, seen, geometry.stride, geometry.padding, geometry.dilation)


@kernel
def first_inside(offset, stride):
    """The first i with i * stride + offset >= 0."""
    return 0 if offset >= 0 else (-offset + stride - 1) // stride


@kernel
def end_inside(offset, stride, size, count):
    """The end of the i below `count` with i * stride + offset < size."""
    if size - offset <= 0:
        return 0
    return min(count, (size - offset - 1) // stride + 1)


@kernel
def take_patches(patches, x, stride, padding, dilation):
    """patches[n, c, kd, kh, kw, od, oh, ow] = x[n, c, od * stride + kd * dilation - padding, ...].

    Runs along ow; outside of x there are zeros.
    """
    _n, _c, kernel_d, kernel_h, kernel_w, out_d, out_h, out_w = patches.shape
    for n in range(x.shape[0]):
        for c in range(x.shape[1]):
            for kd in range(kernel_d):
                for kh in range(kernel_h):
                    for kw in range(kernel_w):
                        offset = kw * dilation[2] - padding[2]
                        first = min(first_inside(offset, stride[2]), out_w)
                        end = max(end_inside(offset, stride[2], x.shape[4], out_w), first)
                        for od in range(out_d):
                            d = od * stride[0] + kd * dilation[0] - padding[0]
                            for oh in range(out_h):
                                h = oh * stride[1] + kh * dilation[1] - padding[1]
                                run = patches[n, c, kd, kh, kw, od, oh]
                                if d < 0 or d >= x.shape[2] or h < 0 or h >= x.shape[3]:
                                    run[:] = 0
                                    continue
                                line = x[n, c, d, h]
                                run[:first] = 0
                                run[end:] = 0
                                if stride[2] == 1:
                                    for i in range(first, end):
                                        run[i] = line[i + offset]
                                else:
                                    for i in range(first, end):
                                        run[i] = line[i * stride[2] + offset]


@kernel
def add_patches(x, patches, stride, padding, dilation):
    """x[n, c, od * stride + kd * dilation - padding, ...] += patches[n, c, kd, ..., od, ...]."""
    _n, _c, kernel_d, kernel_h, kernel_w, out_d, out_h, out_w = patches.shape
    for n in range(x.shape[0]):
        for c in range(x.shape[1]):
            for kd in range(kernel_d):
                for kh in range(kernel_h):
                    for kw in range(kernel_w):
                        offset = kw * dilation[2] - padding[2]
                        first = min(first_inside(offset, stride[2]), out_w)
                        end = end_inside(offset, stride[2], x.shape[4], out_w)
                        for od in range(out_d):
                            d = od * stride[0] + kd * dilation[0] - padding[0]
                            if d < 0 or d >= x.shape[2]:
                                continue
                            for oh in range(out_h):
                                h = oh * stride[1] + kh * dilation[1] - padding[1]
                                if h < 0 or h >= x.shape[3]:
                                    continue
                                run = patches[n, c, kd, kh, kw, od, oh]
                                line = x[n, c, d, h]
                                if stride[2] == 1:
                                    for i in range(first, end):
                                        line[i + offset] += run[i]
                                else:
                                    for i in range(first, end):
                                        line[i * stride[2] + offset] += run[i]


# Sliding blocks: unfold and fold.


def im2col(
    out: Array, self: Array, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> None:
    """Write the patches as columns (N, C * KH * KW, OH * OW)."""
    x = self if self.ndim == 4 else self[None]
    kernel_h, kernel_w = _pair(kernel_size)
    sizes = block_counts(x.shape[2:], kernel_size, dilation, padding, stride)
    geometry = geometry_of(4, _pair(stride), _pair(padding), _pair(dilation), 1)
    patches = out.reshape(x.shape[0], x.shape[1], 1, kernel_h, kernel_w, 1, *sizes)
    lines = np.ascontiguousarray(spatial(x))
    take_patches(patches, lines, geometry.stride, geometry.padding, geometry.dilation)


def col2im(
    out: Array,
    self: Array,
    output_size: Any,
    kernel_size: Any,
    dilation: Any,
    padding: Any,
    stride: Any,
) -> None:
    """Write the sum of the columns, each at the places of its patch."""
    x = out if out.ndim == 4 else out[None]
    kernel_h, kernel_w = _pair(kernel_size)
    sizes = block_counts(x.shape[2:], kernel_size, dilation, padding, stride)
    geometry = geometry_of(4, _pair(stride), _pair(padding), _pair(dilation), 1)
    columns = np.ascontiguousarray(self)
    patches = columns.reshape(x.shape[0], x.shape[1], 1, kernel_h, kernel_w, 1, *sizes)
    out.fill(0)
    add_patches(spatial(x), patches, geometry.stride, geometry.padding, geometry.dilation)


def _pair(value: Any) -> tuple[int, int]:
    if isinstance(value, int):
        return (value, value)
    return (value[0], value[-1])


def block_counts(
    sizes: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> tuple[int, int]:
    """How many places a kernel has in each of two dims."""
    counts = [
        (size + 2 * p - d * (k - 1) - 1) // s + 1
        for size, k, d, p, s in zip(
            sizes, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride), strict=True
        )
    ]
    return (counts[0], counts[1])
