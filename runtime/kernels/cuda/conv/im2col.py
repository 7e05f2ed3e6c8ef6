"""Sliding blocks: fold adds columns up as patches."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.common.conv import block_counts, pair
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue


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
    sizes = out.sizes[-2:]
    counts = block_counts(sizes, kernel_size, dilation, padding, stride)
    pairs = map(pair, (kernel_size, dilation, padding, stride))
    numbers = (*sizes, *counts, *(number for each in pairs for number in each))
    run_elements(queue, add_patches, out.numel, out, self, out.numel, *numbers)


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
            oh = divided(above, step_h)
            if (above >= 0) & (oh * step_h == above) & (oh < out_h):
                for kw in range(kernel_w):
                    before = I(w + pad_w - kw * spread_w)
                    ow = divided(before, step_w)
                    if (before >= 0) & (ow * step_w == before) & (ow < out_w):
                        row = I(I(plane * kernel_h + kh) * kernel_w + kw)
                        at = I(I(row * out_h + oh) * out_w + ow)
                        total = T(total + load_X(columns[at]))
        out[i] = store_X(total)
        i = I(i + cuda.gridsize(1))
