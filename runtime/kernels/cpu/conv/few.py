"""Convolutions of few elements, whose geometry is worked out once: loops over taps and places."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.common.conv import Geometry, geometry_of
from torchgen_out._runtime.kernels.cpu.loop_plans import (
    View,
    operand,
    out,
    plan_loop,
)
from torchgen_out._runtime.kernels.cpu.small import is_dense
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed, typed_sum

MOST_WORK = 1 << 18
"""Products that a loop adds up, 16 in a nanosecond, while an algorithm is chosen and arrays are
laid out for it."""
PER_PHASES, DELIVERED, WASTED = 150_000, 18, 3
"""Products that take as long, on the way back by the phases of strides, as to begin, as an element
that is delivered to its place, and as one step of a vector's lanes that hold few channels."""
BEGUN = 40
"""Products that take as long as to begin a run of them."""
MOVED = 16
"""Products that take as long as an element that joins a column, or leaves it."""


def plan_few(
    result: TensorSpec,
    input: TensorSpec,
    weight: TensorSpec,
    bias: TensorSpec | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> LaunchPlan | None:
    """Plan `convolution`."""
    image, windows = (result, input) if transposed else (input, result)
    geometry = geometry_of(windows.sizes[2:], stride, padding, dilation, groups)
    phases = prod(geometry.stride) if transposed else 1
    most = MOST_WORK if phases == 1 else _work_by_phases(image, weight, phases)
    if not _are_few(image, windows, weight, bias, most):
        return None
    views = [
        out(0, *(_spatial if transposed else _in_rows)(result.sizes)),
        operand(0, *(_in_rows if transposed else _spatial)(input.sizes)),
        operand(1, *_spatial(weight.sizes)),
        View("in2", (0 if bias is None else bias.numel,)),
    ]
    loop, numbers = convolve_transposed if transposed else convolve, _numbers(geometry, windows)
    return plan_loop(loop, [result], [input, weight, bias], *views, numbers, groups)


def plan_few_weights(
    result: TensorSpec,
    grad_output: TensorSpec,
    input: TensorSpec,
    sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    groups: int,
) -> LaunchPlan | None:
    """Plan `convolution_grad_weight`."""
    image, windows = (grad_output, input) if transposed else (input, grad_output)
    geometry = geometry_of(windows.sizes[2:], stride, padding, dilation, groups)
    if not _are_few(image, windows, result, None, MOST_WORK):
        return None
    views = [
        out(0, *_spatial(result.sizes)),
        operand(int(not transposed), *_spatial(image.sizes)),
        operand(int(transposed), *_in_rows(windows.sizes)),
    ]
    numbers = _numbers(geometry, windows)
    return plan_loop(correlate, [result], [grad_output, input], *views, numbers, groups)


def _work_by_phases(image: TensorSpec, weight: TensorSpec, phases: int) -> int:
    """The products that take as long as `implicit.py` takes for the way back with strides."""
    taps = weight.sizes[0] * prod(weight.sizes[2:]) // phases
    steps = image.sizes[0] * prod(image.sizes[2:]) * taps
    return PER_PHASES + DELIVERED * image.numel + WASTED * steps


def _are_few(
    image: TensorSpec, windows: TensorSpec, weight: TensorSpec, bias: TensorSpec | None, most: int
) -> bool:
    """Whether loops over these dense arrays take no longer than so many products."""
    given = [each for each in (image, windows, weight, bias) if each is not None]
    if not is_dense(image, *given) or len({each.dtype for each in given}) > 1:
        return False
    images, places = image.sizes[0], prod(windows.sizes[2:])
    columns = images * image.sizes[1] * prod(weight.sizes[2:])
    work = images * weight.numel * (places + BEGUN) + columns * places * MOVED
    return image.dtype.kind == "f" and work <= most


def _numbers(geometry: Geometry, windows: TensorSpec) -> list[int]:
    """What the loops are told of how a kernel slides."""
    steps = [each for numbers in geometry[:3] for each in numbers]
    return [*steps, *_spatial(windows.sizes)[2:]]


def _spatial(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Sizes with three spatial dims."""
    return *sizes[:2], *(1,) * (5 - len(sizes)), *sizes[2:]


def _in_rows(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The same, with one dim for all places."""
    return *sizes[:2], prod(sizes[2:])


# Loops. x: images (N, C, D, H, W); y: of their windows, (N, O, places); w: (O, C / groups, KD, KH,
# KW). numbers: stride, padding, dilation, and the places by dim. A column is what one tap of one
# channel sees, place by place: what is outside of the image counts as zero.


@typed
def seen(offset, stride, size, windows):
    """The first window whose element, `offset` from its place, is inside, and behind the last."""
    first = 0 if offset >= 0 else (stride - 1 - offset) // stride
    inside = (size - 1 - offset) // stride + 1 if offset < size else 0
    return first, inside if inside < windows else windows


@typed
def take_column(column, x, z, top, left, stride, places):
    """What the tap at this distance from its window's place sees of a plane."""
    column[:] = T(0)
    front, back = seen(z, stride[0], x.shape[0], places[0])
    first, last = seen(top, stride[1], x.shape[1], places[1])
    low, high = seen(left, stride[2], x.shape[2], places[2])
    for d in range(front, back):
        for row in range(first, last):
            line, at = x[z + d * stride[0], top + row * stride[1]], d * places[1] + row
            for i in range(low, high):
                column[at * places[2] + i] = line[left + i * stride[2]]


@typed
def put_column(x, column, z, top, left, stride, places):
    """The reverse: add a column to what was seen."""
    front, back = seen(z, stride[0], x.shape[0], places[0])
    first, last = seen(top, stride[1], x.shape[1], places[1])
    low, high = seen(left, stride[2], x.shape[2], places[2])
    for d in range(front, back):
        for row in range(first, last):
            line, at = x[z + d * stride[0], top + row * stride[1]], d * places[1] + row
            for i in range(low, high):
                line[left + i * stride[2]] += column[at * places[2] + i]


@typed
def add_scaled(target, source, factor):
    """Elements side by side: a loop over vectors."""
    for i in range(target.size):
        target[i] += factor * source[i]


@typed
def dot(first, second):
    """The sum of the products of elements side by side."""
    total = T(0)
    for i in range(first.size):
        total += first[i] * second[i]
    return total


@typed
def convolve(y, x, w, bias, numbers, groups):
    """y = w * x + bias."""
    stride, padding, dilation, places = numbers[0:3], numbers[3:6], numbers[6:9], numbers[9:12]
    outputs = w.shape[0] // groups
    column = np.empty(y.shape[2], y.dtype)
    for n in range(x.shape[0]):
        for o in range(y.shape[1]):
            y[n, o, :] = bias[o] if bias.size else T(0)
        for channel in range(x.shape[1]):
            group, c = divmod(channel, w.shape[1])
            for k in range(w.shape[2]):
                z = k * dilation[0] - padding[0]
                for i in range(w.shape[3]):
                    top = i * dilation[1] - padding[1]
                    for j in range(w.shape[4]):
                        left = j * dilation[2] - padding[2]
                        take_column(column, x[n, channel], z, top, left, stride, places)
                        for o in range(group * outputs, (group + 1) * outputs):
                            add_scaled(y[n, o], column, w[o, c, k, i, j])


@typed
def convolve_transposed(x, y, w, bias, numbers, groups):
    """x = the gradient that y sends back through w, plus bias."""
    stride, padding, dilation, places = numbers[0:3], numbers[3:6], numbers[6:9], numbers[9:12]
    outputs = w.shape[0] // groups
    column = np.empty(y.shape[2], y.dtype)
    for n in range(x.shape[0]):
        for channel in range(x.shape[1]):
            group, c = divmod(channel, w.shape[1])
            x[n, channel, :, :, :] = bias[channel] if bias.size else T(0)
            for k in range(w.shape[2]):
                z = k * dilation[0] - padding[0]
                for i in range(w.shape[3]):
                    top = i * dilation[1] - padding[1]
                    for j in range(w.shape[4]):
                        left = j * dilation[2] - padding[2]
                        column[:] = T(0)
                        for o in range(group * outputs, (group + 1) * outputs):
                            add_scaled(column, y[n, o], w[o, c, k, i, j])
                        put_column(x[n, channel], column, z, top, left, stride, places)


@typed_sum
def correlate(w, x, y, numbers, groups):
    """w = the sum over images and places of y times what each tap sees of x."""
    stride, padding, dilation, places = numbers[0:3], numbers[3:6], numbers[6:9], numbers[9:12]
    outputs = w.shape[0] // groups
    column = np.empty(y.shape[2], y.dtype)
    w[:, :, :, :, :] = T(0)
    for n in range(x.shape[0]):
        for channel in range(x.shape[1]):
            group, c = divmod(channel, w.shape[1])
            for k in range(w.shape[2]):
                z = k * dilation[0] - padding[0]
                for i in range(w.shape[3]):
                    top = i * dilation[1] - padding[1]
                    for j in range(w.shape[4]):
                        left = j * dilation[2] - padding[2]
                        take_column(column, x[n, channel], z, top, left, stride, places)
                        for o in range(group * outputs, (group + 1) * outputs):
                            w[o, c, k, i, j] += dot(column, y[n, o])
