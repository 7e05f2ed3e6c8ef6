"""Images read at the points of a grid, by interpolation, and the gradients of that.

The taps of all points are worked out first, then read for every channel. Gradients of an image are
summed tap by tap in order, so equal calls give equal bits. The formulas are the CPU's.
"""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.common.sampling import (
    BICUBIC,
    NEAREST,
    REFLECTION,
    SHARPNESS,
    taps_per_dim,
)
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    device_function,
    device_kernel,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, in_opmath, permuted
from torchgen_out._runtime.kernels.cuda.scan.scan import plus
from torchgen_out._runtime.kernels.cuda.scatter.combining import combine_at_places


def grid_sampler(
    queue: Queue,
    out: Array,
    input: Array,
    grid: Array,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> None:
    """Write the image's values at the points."""
    modes = interpolation_mode, padding_mode, align_corners
    in_opmath(queue, _sample, [out], [input, grid], modes)


def _sample(queue: Queue, out: Array, x: Array, grid: Array, modes: Any) -> None:
    places, weights, _ = _taps(queue, grid, x.sizes, modes)
    numbers = (out.numel, grid.numel // grid.sizes[-1], x.sizes[1], *_counts(out, x.sizes, places))
    run_elements(queue, sample, out.numel, out, x, places, weights, *numbers)


def input_backward(
    queue: Queue,
    out: Array,
    grad_output: Array,
    sizes: Any,
    grid: Array,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> None:
    """Add each gradient to the taps of its point, by their weights."""
    modes = interpolation_mode, padding_mode, align_corners
    in_opmath(queue, _spread, [out], [grad_output, grid], modes)


def _spread(queue: Queue, out: Array, grad: Array, grid: Array, modes: Any) -> None:
    """The image's gradient, summed with the channels outermost: their taps are the same."""
    queue.fill(out, 0)
    if not grad.numel:
        return
    places, weights, _ = _taps(queue, grid, out.sizes, modes)
    points, channels = places.sizes[1], out.sizes[1]
    image = prod(out.sizes[2:])
    values = queue.empty((channels, places.numel), out.dtype)
    numbers = (values.numel, points, channels, prod(grad.sizes[2:]), image, places.sizes[0])
    run_elements(queue, spread, values.numel, values, grad, places, weights, *numbers)
    rows = out.sizes[0] * image
    total = queue.empty((channels, rows), out.dtype)
    queue.fill(total, 0)
    flat = places.reshaped(places.numel)
    run_elements(queue, count_images, flat.numel, flat, flat.numel, points, numbers[3], image)
    combine_at_places(queue, total, flat, values, Folded(channels, rows, 1), plus)
    by_image = total.reshaped(channels, out.sizes[0], image)
    queue.copy(out.reshaped(out.sizes[0], channels, image), permuted(by_image, (1, 0, 2)))


def grid_backward(
    queue: Queue,
    out: Array,
    grad_output: Array,
    input: Array,
    grid: Array,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> None:
    """Write how the sum of gradient times value changes with the points."""
    modes = interpolation_mode, padding_mode, align_corners
    in_opmath(queue, _change, [out], [grad_output, input, grid], modes)


def _change(queue: Queue, out: Array, grad: Array, x: Array, grid: Array, modes: Any) -> None:
    places, _, slopes = _taps(queue, grid, x.sizes, modes)
    counts = (grid.numel // grid.sizes[-1], x.sizes[1], *_counts(grad, x.sizes, places))
    numbers = (out.numel, *counts, grid.sizes[-1])
    run_elements(queue, change, out.numel, out, grad, x, places, slopes, *numbers)


def _counts(values: Array, sizes: Any, places: Array) -> tuple[int, int, int]:
    """Points of an image, elements of it, and taps."""
    return prod(values.sizes[2:]), prod(sizes[2:]), places.sizes[0]


def _taps(queue: Queue, grid: Array, sizes: Any, modes: Any) -> tuple[Array, Array, Array]:
    """Places and weights (taps, points), slopes (taps, dims, points), of the points of all images.

    modes: interpolation, padding, align.
    """
    dims, per_dim = grid.sizes[-1], taps_per_dim(modes[0])
    points, taps = grid.numel // dims, per_dim**dims
    places = queue.empty((taps, points), dtypes.int64)
    weights = queue.empty((taps, points), grid.dtype)
    slopes = queue.empty((taps, dims, points), grid.dtype)
    lengths = (*sizes[2:][::-1], 1)[:3]
    numbers = (places.numel, points, dims, per_dim, *lengths)
    given = {"MODE": modes[0], "PADDING": modes[1], "ALIGN": bool(modes[2])}
    run_elements(queue, fill_taps, places.numel, weights, grid, slopes, places, *numbers, **given)
    return places, weights, slopes


# -- taps ---------------------------------------------------------------------------------------


@device_function
def reflected(x, factor, low, high):
    """A coordinate folded back at the borders low / 2 and high / 2, and its slope."""
    if low == high:
        return T(0), T(0)
    start, span = T(T(low) / T(2)), T(T(high - low) / T(2))
    away = T(x - start)
    if away < T(0):
        away, factor = T(-away), T(-factor)
    folds = floor(T(away / span))
    rest = T(away - folds * span)
    if T(folds - T(2) * floor(T(folds / T(2)))) == T(0):
        return T(rest + start), T(factor)
    return T(span - rest + start), T(-factor)


@device_function
def padded(x, factor, length):
    """A coordinate inside the image, where the padding says so, and its slope; nan lies at 0."""
    if PADDING == REFLECTION:
        low = 0 if ALIGN else -1
        x, factor = reflected(x, factor, low, 2 * length - 2 if ALIGN else 2 * length - 1)
    if PADDING != 0:
        if not x > T(0):
            return T(0), T(0)
        if x >= T(length - 1):
            return T(length - 1), T(0)
    return T(x), T(factor)


@device_function
def cubic(t, k):
    """The weight of tap k of 4, and its slope, for a point that is t behind the second."""
    a = T(SHARPNESS)
    side = T(1) if k >= 2 else T(-1)
    d = abs(T(t + T(1) - T(k)))
    if k == 1 or k == 2:
        weight = T(((a + T(2)) * d - (a + T(3))) * d * d + T(1))
        slope = T((T(3) * (a + T(2)) * d - T(2) * (a + T(3))) * d)
    else:
        weight = T(((a * d - T(5) * a) * d + T(8) * a) * d - T(4) * a)
        slope = T((T(3) * a * d - T(10) * a) * d + T(8) * a)
    return weight, T(-side * slope)


@device_function
def nearest_integer(x):
    """The nearest whole number; of two the even one."""
    down = floor(x)
    rest = T(x - down)
    is_odd = T(down - T(2) * floor(T(down / T(2)))) != T(0)
    return T(down + T(1)) if (rest > T(0.5)) | ((rest == T(0.5)) & is_odd) else down


@device_function
def tap(g, length, k):
    """Of tap k along a dim: its place or -1, its weight, and the slope of that at coordinate g."""
    x = T((g + T(1)) * T(0.5) * T(length - 1))
    factor = T(T(length - 1) * T(0.5))
    if not ALIGN:
        x = T(((g + T(1)) * T(length) - T(1)) * T(0.5))
        factor = T(T(length) * T(0.5))
    if MODE != BICUBIC:
        x, factor = padded(x, factor, length)
    if not ((x > T(-2147483648.0)) & (x < T(2147483520.0))):
        x = T(-100)
    weight, slope = T(1), T(0)
    if MODE == NEAREST:
        place = np.int64(nearest_integer(x))
    else:
        start = floor(x)
        if MODE == BICUBIC:
            weight, slope = cubic(T(x - start), k)
            inside, _ = padded(T(start - T(1) + T(k)), factor, length)
            place = np.int64(inside)
        else:
            weight = T(x - start) if k == 1 else T(start + T(1) - x)
            slope = T(1) if k == 1 else T(-1)
            place = np.int64(np.int64(start) + k)
    if (place < 0) | (place >= length):
        place = np.int64(-1)
    return place, weight, T(slope * factor)


@device_kernel("X* X* X* int64*", "I I I I I I I")
def fill_taps(weights, grid, slopes, places, n, points, dims, per_dim, width, height, depth):
    """A thread owns taps of points at the distance of the grid."""
    item = I(cuda.grid(1))
    while item < n:
        k = divided(item, points)
        i = I(item - k * points)
        digit, step = k, np.int64(1)
        place, weight, is_inside = np.int64(0), T(1), True
        for dim in range(dims):
            length = I(width if dim == 0 else (height if dim == 1 else depth))
            higher = divided(digit, per_dim)
            found, w, slope = tap(load_X(grid[i * dims + dim]), length, I(digit - higher * per_dim))
            digit = higher
            is_inside = is_inside & (found >= 0)
            place = np.int64(place + found * step)
            step = np.int64(step * length)
            for other in range(dim):
                at = I((k * dims + other) * points + i)
                slopes[at] = store_X(T(load_X(slopes[at]) * w))
            slopes[I((k * dims + dim) * points + i)] = store_X(T(weight * slope))
            weight = T(weight * w)
        places[item] = place if is_inside else np.int64(-1)
        weights[item] = store_X(weight)
        item = I(item + cuda.gridsize(1))


# -- sums ---------------------------------------------------------------------------------------


@device_kernel("X* X* int64* X*", "I I I I I I")
def sample(out, x, places, weights, n, points, channels, per_image, image, taps):
    """A thread owns results at the distance of the grid: the weighted sum of its point's taps."""
    item = I(cuda.grid(1))
    while item < n:
        plane = divided(item, per_image)
        i = I(divided(plane, channels) * per_image + (item - plane * per_image))
        total = T(0)
        for k in range(taps):
            place = places[I(k * points + i)]
            if place >= 0:
                weight = load_X(weights[I(k * points + i)])
                total = T(total + weight * load_X(x[I(plane * image + I(place))]))
        out[item] = store_X(total)
        item = I(item + cuda.gridsize(1))


@device_kernel("X* X* int64* X*", "I I I I I I")
def spread(values, grad, places, weights, n, points, channels, per_image, image, taps):
    """A thread owns what taps add, at the distance of the grid: (channel, tap, point)."""
    item = I(cuda.grid(1))
    while item < n:
        row = divided(item, points)
        i = I(item - row * points)
        c = divided(row, taps)
        k = I(row - c * taps)
        of_image = divided(i, per_image)
        at = I((of_image * channels + c) * per_image + (i - of_image * per_image))
        weight = load_X(weights[I(k * points + i)])
        values[item] = store_X(T(weight * load_X(grad[at])))
        item = I(item + cuda.gridsize(1))


@device_kernel("int64*", "I I I I")
def count_images(places, n, points, per_image, image):
    """A thread owns taps at the distance of the grid: their places among those of all images."""
    item = I(cuda.grid(1))
    while item < n:
        i = I(item - divided(item, points) * points)
        if places[item] >= 0:
            places[item] = np.int64(places[item] + np.int64(divided(i, per_image)) * image)
        item = I(item + cuda.gridsize(1))


@device_kernel("X* X* X* int64* X*", "I I I I I I I")
def change(out, grad, x, places, slopes, n, points, channels, per_image, image, taps, dims):
    """A thread owns coordinates of points at the distance of the grid."""
    item = I(cuda.grid(1))
    while item < n:
        i = divided(item, dims)
        dim = I(item - i * dims)
        of_image = divided(i, per_image)
        total = T(0)
        for k in range(taps):
            place = places[I(k * points + i)]
            if place >= 0:
                product = T(0)
                for c in range(channels):
                    plane = I(of_image * channels + c)
                    upstream = load_X(grad[I(plane * per_image + (i - of_image * per_image))])
                    product = T(product + upstream * load_X(x[I(plane * image + I(place))]))
                total = T(total + product * load_X(slopes[I((k * dims + dim) * points + i)]))
        out[item] = store_X(total)
        item = I(item + cuda.gridsize(1))
