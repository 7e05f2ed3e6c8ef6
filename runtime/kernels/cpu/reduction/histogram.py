"""Histograms: bins of one width, and bins between any edges, in one dim or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.loop_plans import (
    operand,
    out,
    plan_call,
    plan_loop,
    refusing,
)
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.cpu.small import SMALL
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any


@planned()
def histc(
    result: TensorSpec, self: TensorSpec, bins: int = 100, min: Any = 0, max: Any = 0
) -> LaunchPlan:
    """Count the elements of each of `bins` equal intervals; the last one is closed."""
    bounds, views = (float(min), float(max)), (out(0, bins), operand(0, self.numel))
    if bounds[0] == bounds[1] and self.numel > SMALL:
        return plan_call(count_all, [result], [self], *views)
    plan = plan_loop(count_bins, [result], [self], *views, *bounds)

    def refuse(target: Array, values: Array, at: int, params: Any) -> RuntimeError:
        own = values[at : at + self.numel]
        return _not_finite(*((own.min(), own.max()) if bounds[0] == bounds[1] else bounds))

    return refusing(plan, refuse)


def count_all(counts: Array, values: Array) -> None:
    """Between the bounds of many values, which NumPy finds faster."""
    low, high = float(values.min()), float(values.max())
    if not count_bins(counts, values, low, high):
        raise _not_finite(low, high)


def _not_finite(low: float, high: float) -> RuntimeError:
    return RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")


@kernel
def count_bins(out, values, low, high):
    """Without a range that of the values; False if a bound is not finite."""
    if low == high and values.size:
        low = high = np.float64(values[0])
        for i in range(values.size):
            value = np.float64(values[i])
            low = value if value < low or value != value else low
            high = value if value > high or value != value else high
    if not (abs(low) < np.inf and abs(high) < np.inf):
        return False
    if low == high:
        low, high = low - 1.0, high + 1.0
    counts = np.zeros(out.size, np.int64)
    scale = out.size / (high - low)
    for i in range(values.size):
        value = np.float64(values[i])
        if value >= low and value <= high:
            counts[min(np.int64((value - low) * scale), out.size - 1)] += 1
    for i in range(out.size):
        out[i] = counts[i]
    return True


@planned()
def bin_sums(
    result: TensorSpec,
    points: TensorSpec,
    edges: TensorSpec,
    bins: Sequence[int],
    weights: TensorSpec | None,
) -> LaunchPlan:
    """Write the number of points in each bin, or the sum of their weights.

    Shape: points (N, D), edges those of every coordinate in turn, bins + 1 of each, weights (N).
    """
    count = points.sizes[0]
    views = operand(0, *points.sizes), operand(1, edges.numel), operand(2, count)
    operands = [points, edges, weights]
    return plan_loop(sum_bins, [result], operands, out(0, result.numel), *views, list(bins))


@kernel
def sum_bins(out, points, edges, weights, bins):
    """A bin has its left edge, the last one both; what is outside of them is left out."""
    one = out.dtype.type(1)
    for i in range(out.size):
        out[i] = 0
    for n in range(points.shape[0]):
        place, first, is_inside = 0, 0, True
        for dim in range(bins.size):
            value, count = points[n, dim], bins[dim]
            last = first + count
            if not (value >= edges[first] and value <= edges[last]):
                is_inside = False
                break
            place = place * count + bin_of(value, edges, first, count)
            first = last + 1
        if is_inside:
            out[place] += weights[n] if weights.size else one


@kernel
def bin_of(value, edges, first, count):
    """The bin of a value that is in one: where it is if all are of one width, or by bisection."""
    last = first + count
    width = np.float64(edges[last]) - np.float64(edges[first])
    guess = (np.float64(value) - np.float64(edges[first])) * (count / width)
    if guess >= 0 and guess <= count:  # neither where edges are equal, or infinite
        base = first + min(np.int64(guess), count - 1)
        is_last = base == last - 1
        if edges[np.uint64(base)] <= value and (is_last or value < edges[np.uint64(base + 1)]):
            return base - first
    base, left = first, count
    while left > 1:
        half = left // 2
        base += half if edges[np.uint64(base + half)] <= value else 0
        left -= half
    return base - first
