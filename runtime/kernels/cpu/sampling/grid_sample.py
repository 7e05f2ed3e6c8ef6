"""Images read at the points of a grid, by interpolation, and the gradients of that.

A point has *taps*, elements of the image whose weighted sum is the result: 2 per dim, 1 for
nearest, 4 for bicubic. They are worked out for CHUNK points at a time, once for all channels; a tap
in a padding of zeros has place -1. A point's first coordinate goes along the last dim of the image.
The statements of these operators say the same, and run on CUDA.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.common.sampling import (
    BICUBIC,
    BORDER,
    NEAREST,
    REFLECTION,
    SHARPNESS,
    taps_per_dim,
)
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING, View, operand, out, plan_ranges
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import TypedKernel, typed

CHUNK = 256
"""Points whose taps are kept at a time."""
FEW_POINTS = 24
"""Points of an image up to which each is made by itself."""


@planned()
def grid_sampler(
    result: TensorSpec, input: TensorSpec, grid: TensorSpec, mode: int, padding: int, align: bool
) -> LaunchPlan:
    """Write the image's values at the points."""
    views = _planes(out, 0, result), _planes(operand, 0, input), _points(operand, 1, grid)
    arrays, modes = ([result], [input, grid], *views), (mode, padding, align)
    if prod(grid.sizes[1:-1]) <= FEW_POINTS and mode != BICUBIC:
        return _plan(sample_few, grid.sizes[0], result.numel, arrays, input.sizes, modes)
    return _plan(sample, _chunks(grid), result.numel, arrays, input.sizes, modes)


@planned(results=2)
def grid_sampler_backward(
    of_input: TensorSpec,
    of_grid: TensorSpec,
    grad_output: TensorSpec,
    input: TensorSpec,
    grid: TensorSpec,
    mode: int,
    padding: int,
    align: bool,
    output_mask: Sequence[bool],
) -> LaunchPlan:
    """Write the gradients of images and points that are wanted."""
    modes = mode, padding, align
    wants_input, wants_grid = output_mask
    into = _into_taps(of_input, grad_output, grid, modes) if wants_input else NOTHING
    along = _along_points(of_grid, grad_output, input, grid, modes) if wants_grid else NOTHING

    def run(*args: Any) -> None:
        images, points, grad, x, at, grad_start, x_start, start, _ = args
        into.run(images, grad, at, grad_start, start, into.params)
        along.run(points, grad, x, at, grad_start, x_start, start, along.params)

    return LaunchPlan(run, None)


def _into_taps(
    result: TensorSpec, grad_output: TensorSpec, grid: TensorSpec, modes: tuple[int, int, bool]
) -> LaunchPlan:
    """Add each gradient to the taps of its point, by their weights."""
    views = _planes(out, 0, result), _planes(operand, 0, grad_output), _points(operand, 1, grid)
    arrays = ([result], [grad_output, grid], *views)
    return _plan(spread, result.sizes[0], grad_output.numel, arrays, result.sizes, modes)


def _along_points(
    result: TensorSpec,
    grad_output: TensorSpec,
    input: TensorSpec,
    grid: TensorSpec,
    modes: tuple[int, int, bool],
) -> LaunchPlan:
    """Write how the sum of gradient times value changes with the points; not at all if it is of
    the nearest elements."""
    if modes[0] == NEAREST:
        numel = result.numel
        return LaunchPlan(lambda out, *_: out[:numel].fill(0), None)
    images = _planes(operand, 0, grad_output), _planes(operand, 1, input)
    views = _points(out, 0, result), *images, _points(operand, 2, grid)
    arrays = ([result], [grad_output, input, grid], *views)
    return _plan(change, _chunks(grid), grad_output.numel, arrays, input.sizes, modes)


def _planes(view: Callable[..., View], number: int, image: TensorSpec) -> View:
    """Shape: (N, C, *S) -> (N, C, product of S)."""
    return view(number, *image.sizes[:2], prod(image.sizes[2:]))


def _points(view: Callable[..., View], number: int, grid: TensorSpec) -> View:
    """Shape: (N, *P, dims) -> (N, product of P, dims)."""
    return view(number, grid.sizes[0], prod(grid.sizes[1:-1]), grid.sizes[-1])


def _chunks(grid: TensorSpec) -> int:
    return -(-prod(grid.sizes[1:-1]) // CHUNK) * grid.sizes[0]


def _plan(
    loop: TypedKernel, items: int, count: int, arrays: Any, sizes: Sequence[int], modes: Any
) -> LaunchPlan:
    """Run a loop over parts of its items. arrays: results, operands, and the views of them."""
    (result,), operands, *views = arrays
    if not result.numel:
        return NOTHING
    per_dim, lengths = taps_per_dim(modes[0]), list(sizes[:1:-1])
    work = count * per_dim ** len(lengths)
    return plan_ranges(loop, items, work, [result], operands, *views, lengths, per_dim, *modes)


# -- taps ---------------------------------------------------------------------------------------


@typed
def reflected(x, factor, low, high):
    """Fold a coordinate back at the borders low / 2 and high / 2: a fold turns the slope round."""
    start, span = T(low) * T(0.5), T(high - low) * T(0.5)
    away = abs(x - start)
    turned = factor if x >= start else -factor
    folds = floor(away / span) if span > T(0) else T(0)
    rest = away - folds * span
    is_even = folds - T(2) * floor(folds * T(0.5)) == T(0)
    return (rest if is_even else span - rest) + start, turned if is_even else -turned


@typed
def bordered(x, factor, last):
    """A coordinate moved into the image, where the slope is 0; no number moves to the first."""
    inside = x if x > T(0) else T(0)
    return inside if inside < last else last, factor if T(0) < x < last else T(0)


@typed
def pad(x, factors, length, padding, align):
    """Move coordinates into the image, where the padding says so."""
    if padding == REFLECTION:
        low, high = 0 if align else -1, 2 * (length - 1) if align else 2 * length - 1
        for i in range(x.size):
            at, factor = reflected(x[i], factors[i], low, high)
            x[i], factors[i] = at, factor
    if padding in (BORDER, REFLECTION):
        last = T(length - 1)
        for i in range(x.size):
            at, factor = bordered(x[i], factors[i], last)
            x[i], factors[i] = at, factor


@typed
def placed(x):
    """A coordinate as a whole number can hold it: what is no place of the image is far outside."""
    return x if abs(x) < T(2147483520.0) else T(-100)


@typed
def fill_coordinates(x, factors, points, dim, length, mode, padding, align):
    """Places along a dim between elements: -1 and 1 are the outermost ones (align), or their outer
    edges."""
    scale = T(length - 1 if align else length) * T(0.5)
    middle = T(length - 1) * T(0.5)
    for i in range(x.size):
        x[i] = points[i, dim] * scale + middle
        factors[i] = scale
    if mode != BICUBIC:
        pad(x, factors, length, padding, align)
    for i in range(x.size):
        x[i] = placed(x[i])


@typed
def cubic(d, is_outer):
    """The weight of an element at distance d, up to 1, or outer, up to 2, and its slope.

    Source: R. Keys, "Cubic convolution interpolation for digital image processing" (1981).
    """
    a = T(SHARPNESS)
    if is_outer:
        weight = ((a * d - T(5) * a) * d + T(8) * a) * d - T(4) * a
        return weight, (T(3) * a * d - T(10) * a) * d + T(8) * a
    weight = ((a + T(2)) * d - (a + T(3))) * d * d + T(1)
    return weight, (T(3) * (a + T(2)) * d - T(2) * (a + T(3))) * d


@typed
def linear(x, k):
    """Of the tap below a coordinate (k = 0) or above it: its place and its weight."""
    start = floor(x)
    rest = x - start
    return np.int64(start) + k, rest if k == 1 else T(1) - rest


@typed
def fill_dim(index, parts, slopes, x, factors, places, unused, k, length, mode, padding, align):
    """Of tap k along a dim: its place or -1, its weight, and the slope of that. places, unused:
    room for as many numbers."""
    if mode == NEAREST:
        for i in range(x.size):
            index[i], parts[i], slopes[i] = np.int64(round(x[i])), T(1), T(0)
    elif mode == BICUBIC:
        is_outer, side = k == 0 or k == 3, T(1) if k >= 2 else T(-1)
        for i in range(x.size):
            start = floor(x[i])
            weight, slope = cubic(side * (start - T(1) + T(k) - x[i]), is_outer)
            parts[i], slopes[i] = weight, -side * slope * factors[i]
            places[i], unused[i] = start - T(1) + T(k), T(0)
        pad(places, unused, length, padding, align)
        for i in range(x.size):
            index[i] = np.int64(places[i])
    else:
        for i in range(x.size):
            place, part = linear(x[i], k)
            parts[i], slopes[i] = part, factors[i] if k == 1 else -factors[i]
            index[i] = place
    for i in range(x.size):
        index[i] = index[i] if 0 <= index[i] < length else np.int64(-1)


@typed
def fill_taps(
    places, weights, slopes, points, lengths, per_dim, mode, padding, align, lines, index, parts
):
    """Shape: places, weights (taps, count), slopes (taps, dims, count) or empty, points (count,
    dims). lines, index, parts: room, see `sample`."""
    count, dims = points.shape
    x, factors = lines[0, :count], lines[1, :count]
    for dim in range(dims):
        length = lengths[dim]
        fill_coordinates(x, factors, points, dim, length, mode, padding, align)
        for k in range(per_dim):
            row = dim * per_dim + k
            of_tap = index[row, :count], parts[0, row, :count], parts[1, row, :count]
            room = lines[2, :count], lines[3, :count]
            fill_dim(*of_tap, x, factors, *room, k, length, mode, padding, align)
    for tap in range(places.shape[0]):
        place, weight = places[tap, :count], weights[tap, :count]
        place[:], weight[:] = np.int64(0), T(1)
        digit, step = tap, np.int64(1)
        for dim in range(dims):
            row = dim * per_dim + digit % per_dim
            join(place, weight, index[row], parts[0, row], step)
            digit //= per_dim
            step *= lengths[dim]
            for other in range(dims if slopes.size else 0):
                factor = parts[1 if other == dim else 0, row]
                slope = slopes[tap, other]
                for i in range(count):
                    slope[i] = factor[i] if dim == 0 else slope[i] * factor[i]


@typed
def join(place, weight, index, part, step):
    """Add a dim to the places, -1 if one is, and to the weights."""
    for i in range(place.size):
        is_outside = (place[i] | index[i]) < 0  # no branch, or the loop is no vectors
        place[i] = np.int64(-1) if is_outside else place[i] + index[i] * step
        weight[i] *= part[i]


# -- loops --------------------------------------------------------------------------------------


@typed
def sample(first, last, out, x, grid, lengths, per_dim, mode, padding, align):
    """out[n, c, i] = the sum over the taps k of point i: weights[k] * x[n, c, places[k]]."""
    count, taps = grid.shape[1], per_dim ** grid.shape[2]
    chunks = (count + CHUNK - 1) // CHUNK
    places, weights = np.empty((taps, CHUNK), np.int64), np.empty((taps, CHUNK), x.dtype)
    slopes, rows = np.empty((0, 0, 0), x.dtype), grid.shape[2] * per_dim
    lines, index = np.empty((4, CHUNK), x.dtype), np.empty((rows, CHUNK), np.int64)
    parts = np.empty((2, rows, CHUNK), x.dtype)  # weights along each dim, and their slopes
    for item in range(first, last):
        n, start = item // chunks, item % chunks * CHUNK
        end = min(start + CHUNK, count)
        points = grid[n, start:end]
        ways = per_dim, mode, padding, align, lines, index, parts
        fill_taps(places, weights, slopes, points, lengths, *ways)
        for c in range(x.shape[1]):
            add_taps(out[n, c, start:end], x[n, c], places, weights)


@typed
def sample_few(first, last, out, x, grid, lengths, per_dim, mode, padding, align):
    """`sample` of images with a few points each, one after the other; not bicubic.

    The same sums in the same order. A loop over a few points costs more than the points do.
    """
    count, dims = grid.shape[1], grid.shape[2]
    rows, taps = dims * per_dim, per_dim**dims
    index, places = np.empty(rows, np.int64), np.empty(taps, np.int64)
    parts, weights = np.empty(rows, x.dtype), np.empty(taps, x.dtype)
    for n in range(first, last):
        for i in range(count):
            for dim in range(dims):
                length = lengths[dim]
                at = coordinate(grid[n, i, dim], length, padding, align)
                for k in range(per_dim):
                    place, part = np.int64(round(at)), T(1)
                    if mode != NEAREST:
                        place, part = linear(at, k)
                    index[dim * per_dim + k] = place if 0 <= place < length else np.int64(-1)
                    parts[dim * per_dim + k] = part
            for tap in range(taps):
                place, weight, digit, step = np.int64(0), T(1), tap, np.int64(1)
                for dim in range(dims):
                    row = dim * per_dim + (digit & (per_dim - 1))
                    is_outside = place < 0 or index[row] < 0
                    place = np.int64(-1) if is_outside else place + index[row] * step
                    weight *= parts[row]
                    digit >>= per_dim >> 1
                    step *= lengths[dim]
                places[tap], weights[tap] = place, weight
            for c in range(x.shape[1]):
                total = T(0)
                for tap in range(taps):
                    if places[tap] >= 0:
                        total += weights[tap] * x[n, c, places[tap]]
                out[n, c, i] = total


@typed
def coordinate(point, length, padding, align):
    """`fill_coordinates` of one point."""
    scale = T(length - 1 if align else length) * T(0.5)
    x, factor = point * scale + T(length - 1) * T(0.5), scale
    if padding == REFLECTION:
        low, high = 0 if align else -1, 2 * (length - 1) if align else 2 * length - 1
        x, factor = reflected(x, factor, low, high)
    if padding in (BORDER, REFLECTION):
        x, factor = bordered(x, factor, T(length - 1))
    return placed(x)


@typed
def read(plane, place, weight):
    """A tap's part of the sum: 0 outside, of whatever lies there. No branch, or it is no vector."""
    found = plane[np.uint64(place if place >= 0 else 0)]
    return weight * (found if place >= 0 else T(0))


@typed
def add_taps(row, plane, places, weights):
    """row[i] = the sum of weights[k, i] * plane[places[k, i]]."""
    row[:], taps = T(0), places.shape[0]
    for k in range(0, taps - 3, 4):
        for i in range(row.size):
            total = row[i]
            for tap in range(k, k + 4):
                total += read(plane, places[tap, i], weights[tap, i])
            row[i] = total
    for k in range(taps // 4 * 4, taps):
        for i in range(row.size):
            row[i] += read(plane, places[k, i], weights[k, i])


@typed
def spread(first, last, out, grad, grid, lengths, per_dim, mode, padding, align):
    """out[n, c, places[k]] += weights[k] * grad[n, c, i], for the taps k of all points i."""
    count, taps = grid.shape[1], per_dim ** grid.shape[2]
    places, weights = np.empty((taps, CHUNK), np.int64), np.empty((taps, CHUNK), grad.dtype)
    slopes, rows = np.empty((0, 0, 0), grad.dtype), grid.shape[2] * per_dim
    lines, index = np.empty((4, CHUNK), grad.dtype), np.empty((rows, CHUNK), np.int64)
    parts = np.empty((2, rows, CHUNK), grad.dtype)
    for n in range(first, last):
        out[n] = T(0)
        for start in range(0, count, CHUNK):
            points = grid[n, start : min(start + CHUNK, count)]
            ways = per_dim, mode, padding, align, lines, index, parts
            fill_taps(places, weights, slopes, points, lengths, *ways)
            for c in range(out.shape[1]):
                plane, row = out[n, c], grad[n, c, start:]
                for k in range(taps):
                    place, weight = places[k], weights[k]
                    for i in range(points.shape[0]):
                        if place[i] >= 0:
                            plane[np.uint64(place[i])] += weight[i] * row[i]


@typed
def change(first, last, out, grad, x, grid, lengths, per_dim, mode, padding, align):
    """out[n, i, dim] = the sum over channels and taps: grad * x[places[k]] * slopes[k, dim]."""
    count, dims, taps = grid.shape[1], grid.shape[2], per_dim ** grid.shape[2]
    chunks = (count + CHUNK - 1) // CHUNK
    places, weights = np.empty((taps, CHUNK), np.int64), np.empty((taps, CHUNK), x.dtype)
    slopes, products = np.empty((taps, dims, CHUNK), x.dtype), np.empty((taps, CHUNK), x.dtype)
    lines, index = np.empty((4, CHUNK), x.dtype), np.empty((dims * per_dim, CHUNK), np.int64)
    parts = np.empty((2, dims * per_dim, CHUNK), x.dtype)
    for item in range(first, last):
        n, start = item // chunks, item % chunks * CHUNK
        points = grid[n, start : min(start + CHUNK, count)]
        ways = per_dim, mode, padding, align, lines, index, parts
        fill_taps(places, weights, slopes, points, lengths, *ways)
        products[:] = T(0)
        for c in range(x.shape[1]):
            plane, row = x[n, c], grad[n, c, start:]
            for k in range(taps):
                for i in range(points.shape[0]):
                    place = places[k, i]
                    products[k, i] += row[i] * plane[place] if place >= 0 else T(0)
        for i in range(points.shape[0]):
            for dim in range(dims):
                total = T(0)
                for k in range(taps):
                    total += products[k, i] * slopes[k, dim, i]
                out[n, start + i, dim] = total
