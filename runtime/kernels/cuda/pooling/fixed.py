"""Gradients of pooling over (planes, depth, height, width) arrays; missing dims have size 1.

A window is the part of a plane that one result sees. Gradients are gathered from the windows that
saw an element, in their order, so equal calls give equal bits. Pooling itself is formulas.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.common.pooling import triple, windows_of
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    device_kernel,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.pooling.windows import (
    first_window,
    last_window,
    spatial,
    window_size,
)
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue

# -- maximum ------------------------------------------------------------------------------------


def max_pool_backward(
    queue: Queue,
    out: Array,
    grad_output: Array,
    indices: Array,
    sizes: Any,
    count: int,
    kernel_size: Any = None,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
) -> None:
    """Add each gradient at the place that its window chose; `count` dims are spatial. Windows are
    adaptive if `kernel_size` is None."""
    is_adaptive = kernel_size is None
    reach, step, pad = [(1, 1, 1)] * 3
    if not is_adaptive:
        size, step, pad = windows_of(count, kernel_size, stride, padding)
        spread = triple(dilation, count, 1)
        reach = tuple([(n - 1) * s + 1 for n, s in zip(size, spread, strict=True)])
    lengths = (*spatial(grad_output.sizes, count), *spatial(sizes, count))
    numbers = (out.numel, *lengths, *reach, *step, *pad)
    operands = (out, grad_output, indices)
    run_elements(queue, gather_chosen, out.numel, *operands, *numbers, ADAPTIVE=is_adaptive)


@device_kernel("X* X* int64*", "I" + " I" * 15)
def gather_chosen(
    out, grad, indices, n, out_d, out_h, out_w, depth, height, width,
    reach_d, reach_h, reach_w, step_d, step_h, step_w, pad_d, pad_h, pad_w,
):  # fmt: skip
    """A thread owns elements at the distance of the grid, and sums over the windows that chose it
    among those that saw it. reach: how far a window goes with the places that it leaves out."""
    i = I(cuda.grid(1))
    while i < n:
        rest = divided(i, width)
        w = I(i - rest * width)
        plane = divided(rest, height)
        h = I(rest - plane * height)
        p = divided(plane, depth)
        d = I(plane - p * depth)
        at = np.int64((d * height + h) * width + w)
        total = T(0)
        od = first_window(d, out_d, depth, reach_d, step_d, pad_d)
        while od < last_window(d, out_d, depth, step_d, pad_d):
            oh = first_window(h, out_h, height, reach_h, step_h, pad_h)
            while oh < last_window(h, out_h, height, step_h, pad_h):
                ow = first_window(w, out_w, width, reach_w, step_w, pad_w)
                while ow < last_window(w, out_w, width, step_w, pad_w):
                    window = I(((p * out_d + od) * out_h + oh) * out_w + ow)
                    if indices[window] == at:
                        total = T(total + load_X(grad[window]))
                    ow = I(ow + 1)
                oh = I(oh + 1)
            od = I(od + 1)
        out[i] = store_X(total)
        i = I(i + cuda.gridsize(1))


# -- mean ---------------------------------------------------------------------------------------


def adaptive_avg_pool_backward(
    queue: Queue, out: Array, grad_output: Array, sizes: Any, count: int
) -> None:
    """Write for every element the sum of its parts of its windows' gradients."""
    lengths, counts = spatial(grad_output.sizes, count), spatial(out.sizes, count)
    sizes = (out.numel, *lengths, *counts)
    run_elements(queue, gather_windows, out.numel, out, grad_output, *sizes, ADAPTIVE=True)


@device_kernel("X* X*", "I" + " I" * 6)
def gather_windows(out, grad, n, out_d, out_h, out_w, depth, height, width):
    """A thread owns elements at the distance of the grid, and sums over the windows that saw it."""
    i = I(cuda.grid(1))
    while i < n:
        rest = divided(i, width)
        w = I(i - rest * width)
        plane = divided(rest, height)
        h = I(rest - plane * height)
        p = divided(plane, depth)
        d = I(plane - p * depth)
        total = T(0)
        od = first_window(d, out_d, depth, 1, 1, 0)
        while od < last_window(d, out_d, depth, 1, 0):
            deep = window_size(od, out_d, depth)
            oh = first_window(h, out_h, height, 1, 1, 0)
            while oh < last_window(h, out_h, height, 1, 0):
                high = window_size(oh, out_h, height)
                ow = first_window(w, out_w, width, 1, 1, 0)
                while ow < last_window(w, out_w, width, 1, 0):
                    wide = window_size(ow, out_w, width)
                    upstream = load_X(grad[((p * out_d + od) * out_h + oh) * out_w + ow])
                    total = T(total + upstream / T(deep * high * wide))
                    ow = I(ow + 1)
                oh = I(oh + 1)
            od = I(od + 1)
        out[i] = store_X(total)
        i = I(i + cuda.gridsize(1))
