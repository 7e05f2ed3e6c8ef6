"""Sliding blocks: fold adds columns up as patches."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.common.conv import block_counts, pair

Array = Any


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
    kernel_h, kernel_w = pair(kernel_size)
    sizes = block_counts(x.shape[2:], kernel_size, dilation, padding, stride)
    steps = [_triple(value, m) for value, m in ((stride, 1), (padding, 0), (dilation, 1))]
    columns = np.ascontiguousarray(self)
    patches = columns.reshape(x.shape[0], x.shape[1], 1, kernel_h, kernel_w, 1, *sizes)
    out.fill(0)
    add_patches(x[:, :, None], patches, *steps)


def _triple(value: Any, missing: int) -> tuple[int, int, int]:
    """The numbers of two dims, seen as three."""
    return (missing, *pair(value))


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
