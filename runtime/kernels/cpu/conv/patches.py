"""Gradients of images of few channels whose windows lie side by side: embeddings of patches.

The taps become channels: a product of matrices, as of kernels of one tap, makes what each window
gets, (N, C taps, OD, OH, OW), and one copy puts it where the windows lie.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import scratch
from torchgen_out._runtime.kernels.cpu.conv import pointwise
from torchgen_out._runtime.kernels.cpu.conv.launches import run_on_arrays
from torchgen_out._runtime.kernels.cpu.folding import copy_parts

Array = Any


def suits(y: Array, w: Array, sliding: Any) -> bool:
    """Whether windows neither overlap nor leave gaps between them."""
    stride, padding, dilation = sliding
    sizes = w.shape[2:]
    sides = zip(stride, sizes, y.shape[2:], strict=True)
    are_apart = all(step == size for step, size, count in sides if count > 1)
    are_whole = all(gap == 1 for gap, size in zip(dilation, sizes, strict=True) if size > 1)
    is_plain = y.dtype.kind == "f" and padding == (0, 0, 0) and sizes != (1, 1, 1)
    return is_plain and are_apart and are_whole


def convolve_transposed(x: Array, y: Array, w: Array, groups: int) -> None:
    """x = w' y; 0 where no window is."""
    taps, places = w.shape[2:], y.shape[2:]
    made = scratch.take("patches", (x.shape[0], x.shape[1] * w[0, 0].size, *places), x.dtype)
    kernel = w.reshape(w.shape[0], -1, 1, 1, 1)
    run = pointwise.launch_transposed(made.shape, y.shape, kernel.shape, x.dtype, False, groups)
    run_on_arrays(run, made, y, kernel, None)
    if made.size != x.size:
        x.fill(0)
    copy_parts((_windows(x, taps, places), made.reshape(*x.shape[:2], *taps, *places)))


def _windows(x: Array, taps: Any, places: Any) -> Array:
    """The elements of an image by tap and place."""
    images, channels, *steps = x.strides
    strides = images, channels, *steps, *(k * step for k, step in zip(taps, steps, strict=True))
    return np.lib.stride_tricks.as_strided(x, (*x.shape[:2], *taps, *places), strides)
