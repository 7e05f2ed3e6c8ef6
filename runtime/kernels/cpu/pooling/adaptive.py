"""Pooling with as many windows as asked for: window i of n goes from floor(i * size / n) to
ceil((i + 1) * size / n). Planes are as in `fixed.py`."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import Kernel, kernel
from torchgen_out._runtime.kernels.cpu.copy.copy import fill
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING, plan_ranges
from torchgen_out._runtime.kernels.cpu.planned import PlannedKernel
from torchgen_out._runtime.kernels.cpu.pooling.fixed import planes, views
from torchgen_out._runtime.kernels.plan import LaunchPlan

Array = Any
WORK = 4  # how much more an element of a plane costs than in element-wise work


@kernel
def adaptive_max_windows(start, stop, out, indices, x):
    """As max_windows; window i of n goes from floor(i * size / n) to ceil((i + 1) * size / n)."""
    out, indices, x = out[start:stop], indices[start:stop], x[start:stop]
    depth, height, width = x.shape[1], x.shape[2], x.shape[3]
    for p in range(out.shape[0]):
        for od in range(out.shape[1]):
            d0, d1 = window_start(od, out.shape[1], depth), window_end(od, out.shape[1], depth)
            for oh in range(out.shape[2]):
                h0 = window_start(oh, out.shape[2], height)
                h1 = window_end(oh, out.shape[2], height)
                for ow in range(out.shape[3]):
                    w0 = window_start(ow, out.shape[3], width)
                    w1 = window_end(ow, out.shape[3], width)
                    best = x[p, d0, h0, w0]
                    place = (d0 * height + h0) * width + w0
                    for d in range(d0, d1):
                        for h in range(h0, h1):
                            for w in range(w0, w1):
                                value = x[p, d, h, w]
                                if value > best or value != value:
                                    best = value
                                    place = (d * height + h) * width + w
                    out[p, od, oh, ow] = best
                    indices[p, od, oh, ow] = place


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


def adaptive(loop: Kernel, count: int, results: int = 1) -> PlannedKernel:
    """The kernel of a loop over windows that cover planes of `count` dims evenly."""

    def plan(*args: Any) -> LaunchPlan:
        *outs, self, _ = args
        if not (self.numel and outs[0].numel):
            return NOTHING
        seen, work = views(outs, self, count), WORK * self.numel
        return plan_ranges(loop, seen[0].shape[0], work, outs, [self], *seen)

    plan.__doc__ = loop.__doc__
    return PlannedKernel(plan, results)


adaptive_max_pool2d = adaptive(adaptive_max_windows, 2, results=2)
adaptive_max_pool3d = adaptive(adaptive_max_windows, 3, results=2)


def adaptive_avg_pool_backward(out: Array, grad_output: Array, sizes: Any, count: int) -> None:
    """Add to every element of a window its part of the window's gradient."""
    fill(out, 0)
    arrays = planes(out, count), planes(grad_output, count)
    threads.run_rows(adaptive_spread_windows, arrays, work=WORK)
