"""Gradients of pooling on the CPU, of windows that chose an element, and of adaptive ones.

Pooling itself is formulas over windows.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.copy.copy import fill

Array = Any
WORK = 4  # how much more an element of a plane costs than in element-wise work


# Maximum.


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


@kernel
def scatter_windows(grad_input, grad, indices):
    """grad_input[p, indices[p, i]] += grad[p, i], but for indices that the caller spoilt."""
    for p in range(grad.shape[0]):
        for i in range(grad.shape[1]):
            place = indices[p, i]
            if place >= 0 and place < grad_input.shape[1]:
                grad_input[p, place] += grad[p, i]


# Mean.


def adaptive_avg_pool_backward(out: Array, grad_output: Array, sizes: Any, count: int) -> None:
    """Add to every element of a window its part of the window's gradient."""
    fill(out, 0)
    arrays = _planes(out, count), _planes(grad_output, count)
    threads.run_rows(adaptive_spread_windows, arrays, work=WORK)


def _planes(array: Array, count: int) -> Array:
    """The array as contiguous planes with three spatial dims; missing ones have size 1."""
    split = len(array.shape) - count
    sizes = (prod(array.shape[:split]), *(1,) * (3 - count), *array.shape[split:])
    return np.ascontiguousarray(array).reshape(sizes)


@kernel
def adaptive_spread_windows(grad_input, grad):
    """Each gradient, over the size of its window, added to all elements that this saw."""
    depth, height, width = grad_input.shape[1], grad_input.shape[2], grad_input.shape[3]
    for p in range(grad.shape[0]):
        for od in range(grad.shape[1]):
            d0, d1 = window_start(od, grad.shape[1], depth), window_end(od, grad.shape[1], depth)
            for oh in range(grad.shape[2]):
                h0 = window_start(oh, grad.shape[2], height)
                h1 = window_end(oh, grad.shape[2], height)
                for ow in range(grad.shape[3]):
                    w0 = window_start(ow, grad.shape[3], width)
                    w1 = window_end(ow, grad.shape[3], width)
                    count = (d1 - d0) * (h1 - h0) * (w1 - w0)
                    part = grad.dtype.type(grad[p, od, oh, ow] / count)
                    for d in range(d0, d1):
                        for h in range(h0, h1):
                            for w in range(w0, w1):
                                grad_input[p, d, h, w] += part


@kernel
def window_start(i, count, size):
    """Where window i of `count` over `size` places starts."""
    return (i * size) // count


@kernel
def window_end(i, count, size):
    """Where window i of `count` over `size` places ends."""
    return ((i + 1) * size + count - 1) // count
