"""Pooling on the CPU over (planes, depth, height, width) arrays; missing dims have size 1.

A window is the part of a plane that one result sees. The loops are in `pooling_loops.py` and, for
small windows, `unrolled.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.common.pooling import Triple, triple, windows_of
from torchgen_out._runtime.kernels.cpu.copy.copy import fill
from torchgen_out._runtime.kernels.cpu.loop_plans import (
    NOTHING,
    View,
    operand,
    out,
    plan_call,
    plan_ranges,
)
from torchgen_out._runtime.kernels.cpu.planned import PlannedKernel
from torchgen_out._runtime.kernels.cpu.pooling import unrolled
from torchgen_out._runtime.kernels.cpu.pooling.pooling_loops import (
    greatest_windows,
    max_windows,
    scatter_windows,
)
from torchgen_out._runtime.kernels.cpu.pooling.pooling_plans import empty_windows, plane_sizes
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any
MOST_PLACES = 1 << 13
"""Places of all windows together; for more, loops written out for a size of window vectorise."""


def planes(array: Array, count: int) -> Array:
    """The array as contiguous planes with three spatial dims."""
    return np.ascontiguousarray(array).reshape(plane_sizes(array.shape, count))


def views(results: Sequence[TensorSpec], self: TensorSpec, count: int) -> list[View]:
    """Results and operand as planes."""
    made = [out(i, *plane_sizes(each.sizes, count)) for i, each in enumerate(results)]
    return [*made, operand(0, *plane_sizes(self.sizes, count))]


# Maximum.


def max_pool(count: int, results: int) -> PlannedKernel:
    """The kernel of the largest element of each window in `count` dims.

    With two results it writes, too, where in its plane that element stands.
    """

    def plan(*args: Any) -> LaunchPlan:
        """Write the largest element of each window, and with two results where it stands."""
        *outs, self, kernel_size, stride, padding, dilation, _ = args
        size, step, pad = windows_of(count, kernel_size, stride, padding)
        spread = triple(dilation, count, 1)
        work, seen = 4 * outs[0].numel, views(outs, self, count)
        counts, lengths = seen[0].shape[1:], seen[-1].shape[1:]
        holes = empty_windows(counts, lengths, size, step, pad, spread)
        if not outs[0].numel:
            return NOTHING
        if unrolled.suits(size) and outs[0].numel * prod(size) > MOST_PLACES:
            loop = unrolled.max_kernel(size, step[2], spread[2], results == 2)
            places = seen[1] if results == 2 else NO_PLACES
            numbers = map(as_array, (step, pad, spread))
            found = plan_call(run_max, outs, [self], loop, seen[0], places, seen[-1], *numbers)
        else:
            loop = max_windows if results == 2 else greatest_windows
            numbers = size, step, pad, spread
            found = plan_ranges(loop, seen[0].shape[0], work, outs, [self], *seen, *numbers)
        return found if holes is None else _with_holes(found, seen[:-1], holes)

    return PlannedKernel(plan, results)


NO_PLACES = np.empty((1, 0, 0, 0), np.int64)


def run_max(loop: Any, out: Array, indices: Array, x: Array, *numbers: Array) -> None:
    """Share planes among the threads."""
    threads.run_rows(loop, (out, indices, x), *numbers, work=4)


def _with_holes(plan: LaunchPlan, results: Sequence[View], holes: tuple[Any, Any]) -> LaunchPlan:
    """The plan with windows that see padding alone put right."""
    empty, places = holes

    def run(*args: Any) -> None:
        plan.run(*args)
        found = [flat.reshape(view.shape) for flat, view in zip(args, results, strict=False)]
        dtype = found[0].dtype
        found[0][:, empty] = -np.inf if dtype.kind == "f" else np.iinfo(dtype).min
        if len(found) == 2:
            found[1][:, empty] = places

    return LaunchPlan(run, plan.params)


max_pool2d = max_pool(2, 1)
max_pool2d_with_indices = max_pool(2, 2)
max_pool3d_with_indices = max_pool(3, 2)


@lru_cache(maxsize=1024)
def as_array(numbers: Triple) -> Array:
    """Three numbers as worker threads take them."""
    return np.array(numbers, np.int64)


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
