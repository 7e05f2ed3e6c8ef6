"""Pooling over (planes, depth, height, width) arrays; missing dims have size 1.

A window is the part of a plane that one result sees. A thread makes a result, forward and backward:
gradients are gathered from the windows that saw an element, in their order, so equal calls give
equal bits.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.common.pooling import Triple, triple, windows_of
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    device_kernel,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.pooling.windows import (
    first_window,
    last_window,
    spatial,
    window_end,
    window_size,
    window_start,
)
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue

# -- maximum ------------------------------------------------------------------------------------


def max_pool2d_with_indices(
    queue: Queue,
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
    windows = [*windows_of(2, kernel_size, stride, padding), triple(dilation, 2, 1)]
    _max_pool(queue, out, indices, self, 2, windows, False)


def max_pool2d(
    queue: Queue,
    out: Array,
    self: Array,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> None:
    """Write the largest element of each window."""
    windows = [*windows_of(2, kernel_size, stride, padding), triple(dilation, 2, 1)]
    _max_pool(queue, out, None, self, 2, windows, False)


def max_pool3d_with_indices(
    queue: Queue,
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
    windows = [*windows_of(3, kernel_size, stride, padding), triple(dilation, 3, 1)]
    _max_pool(queue, out, indices, self, 3, windows, False)


def adaptive_max_pool2d(
    queue: Queue, out: Array, indices: Array, self: Array, output_size: Any
) -> None:
    """Write the largest element of each of `output_size` windows and where it stands."""
    _max_pool(queue, out, indices, self, 2, [(1, 1, 1)] * 4, True)


def adaptive_max_pool3d(
    queue: Queue, out: Array, indices: Array, self: Array, output_size: Any
) -> None:
    """Write the largest element of each of `output_size` windows and where it stands."""
    _max_pool(queue, out, indices, self, 3, [(1, 1, 1)] * 4, True)


def _max_pool(
    queue: Queue,
    out: Array,
    indices: Array | None,
    self: Array,
    count: int,
    windows: list[Triple],
    adaptive: bool,
) -> None:
    lengths, counts = spatial(self.sizes, count), spatial(out.sizes, count)
    numbers = [out.numel, *lengths, *counts, *(number for each in windows for number in each)]
    flags = {"ADAPTIVE": adaptive, "TELLS_PLACES": indices is not None}
    run_elements(queue, max_windows, out.numel, out, indices, self, *numbers, **flags)


@device_kernel("X* int64* X*", "I" + " I" * 18)
def max_windows(
    out, indices, x, n, depth, height, width, out_d, out_h, out_w,
    size_d, size_h, size_w, step_d, step_h, step_w, pad_d, pad_h, pad_w,
    spread_d, spread_h, spread_w,
):  # fmt: skip
    """A thread owns results at the distance of the grid; NaN wins. Padding is never chosen."""
    i = I(cuda.grid(1))
    while i < n:
        rest = divided(i, out_w)
        ow = I(i - rest * out_w)
        plane = divided(rest, out_h)
        oh = I(rest - plane * out_h)
        p = divided(plane, out_d)
        od = I(plane - p * out_d)
        base = I(p * depth * height * width)
        place = I(-1)
        best = load_X(x[base])
        d = window_start(od, out_d, depth, step_d, pad_d)
        end_d = window_end(od, out_d, depth, size_d, step_d, pad_d, spread_d)
        while d < end_d:
            h = window_start(oh, out_h, height, step_h, pad_h)
            end_h = window_end(oh, out_h, height, size_h, step_h, pad_h, spread_h)
            while h < end_h:
                w = window_start(ow, out_w, width, step_w, pad_w)
                end_w = window_end(ow, out_w, width, size_w, step_w, pad_w, spread_w)
                while w < end_w:
                    inside = (d >= 0) & (d < depth) & (h >= 0) & (h < height) & (w >= 0)
                    if inside and w < width:
                        at = I((d * height + h) * width + w)
                        value = load_X(x[base + at])
                        if (place < 0) | (value > best) | (value != value):
                            best, place = value, at
                    w = I(w + spread_w)
                h = I(h + spread_h)
            d = I(d + spread_d)
        out[i] = store_X(best)
        if TELLS_PLACES:
            indices[i] = np.int64(place)
        i = I(i + cuda.gridsize(1))


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
