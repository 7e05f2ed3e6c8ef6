"""Sliding blocks: unfold lays patches out as columns, fold adds columns up as patches."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.common.conv import block_counts
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    DeviceKernel,
    device_kernel,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue


def im2col(
    queue: Queue,
    out: Array,
    self: Array,
    kernel_size: Any,
    dilation: Any,
    padding: Any,
    stride: Any,
) -> None:
    """Write the patches as columns (N, C * KH * KW, OH * OW)."""
    _run(queue, take_patches, out, self, self, kernel_size, dilation, padding, stride)


def col2im(
    queue: Queue,
    out: Array,
    self: Array,
    output_size: Any,
    kernel_size: Any,
    dilation: Any,
    padding: Any,
    stride: Any,
) -> None:
    """Write the sum of the columns, each at the places of its patch."""
    _run(queue, add_patches, out, self, out, kernel_size, dilation, padding, stride)


def _run(
    queue: Queue,
    kernel: DeviceKernel,
    out: Array,
    x: Array,
    image: Array,
    kernel_size: Any,
    dilation: Any,
    padding: Any,
    stride: Any,
) -> None:
    """image: the one of out and x that has planes."""
    sizes = image.sizes[-2:]
    counts = block_counts(sizes, kernel_size, dilation, padding, stride)
    pairs = [(v, v) if isinstance(v, int) else (v[0], v[-1])
             for v in (kernel_size, dilation, padding, stride)]  # fmt: skip
    numbers = (*sizes, *counts, *(number for pair in pairs for number in pair))
    run_elements(queue, kernel, out.numel, out, x, out.numel, *numbers)


@device_kernel("X* X*", "I" + " I" * 12)
def take_patches(
    out, x, n, height, width, out_h, out_w, kernel_h, kernel_w,
    spread_h, spread_w, pad_h, pad_w, step_h, step_w,
):  # fmt: skip
    """A thread owns elements of columns at the distance of the grid; outside of x there are
    zeros."""
    i = I(cuda.grid(1))
    while i < n:
        rest = divided(i, out_w)
        ow = I(i - rest * out_w)
        row = divided(rest, out_h)
        oh = I(rest - row * out_h)
        column = divided(row, kernel_w)
        kw = I(row - column * kernel_w)
        plane = divided(column, kernel_h)
        kh = I(column - plane * kernel_h)
        h = I(oh * step_h + kh * spread_h - pad_h)
        w = I(ow * step_w + kw * spread_w - pad_w)
        inside = (h >= 0) & (h < height) & (w >= 0) & (w < width)
        out[i] = x[(plane * height + h) * width + w] if inside else X(0)
        i = I(i + cuda.gridsize(1))


@device_kernel("X* X*", "I" + " I" * 12)
def add_patches(
    out, columns, n, height, width, out_h, out_w, kernel_h, kernel_w,
    spread_h, spread_w, pad_h, pad_w, step_h, step_w,
):  # fmt: skip
    """A thread owns elements of planes at the distance of the grid, and sums over the patches that
    they are in."""
    i = I(cuda.grid(1))
    while i < n:
        rest = divided(i, width)
        w = I(i - rest * width)
        plane = divided(rest, height)
        h = I(rest - plane * height)
        total = T(0)
        for kh in range(kernel_h):
            above = I(h + pad_h - kh * spread_h)
            oh = I(above // step_h)
            if (above >= 0) & (oh * step_h == above) & (oh < out_h):
                for kw in range(kernel_w):
                    before = I(w + pad_w - kw * spread_w)
                    ow = I(before // step_w)
                    if (before >= 0) & (ow * step_w == before) & (ow < out_w):
                        row = I((plane * kernel_h + kh) * kernel_w + kw)
                        total = T(total + load_X(columns[(row * out_h + oh) * out_w + ow]))
        out[i] = store_X(total)
        i = I(i + cuda.gridsize(1))
