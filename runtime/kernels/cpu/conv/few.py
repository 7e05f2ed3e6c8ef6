"""Convolutions of few elements, whose geometry is worked out once: a loop over taps and places."""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime.kernels.common.conv import geometry_of
from torchgen_out._runtime.kernels.cpu.loop_plans import (
    View,
    are_small_alike,
    operand,
    out,
    plan_loop,
)
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed

MOST_PRODUCTS = 1 << 14
"""Products of elements up to which the loop takes less than the choice of an algorithm."""


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
    """Plan `convolution` that is not transposed."""
    products = result.numel * prod(weight.sizes[1:])
    if transposed or not 0 < products <= MOST_PRODUCTS or not result.is_contiguous:
        return None
    if not are_small_alike(result, input, weight, bias):
        return None
    geometry = geometry_of(result.sizes[2:], stride, padding, dilation, groups)
    is_pointwise = prod(weight.sizes[2:]) == 1 and geometry[:2] == ((1, 1, 1), (0, 0, 0))
    sees_all = result.sizes[2:] == input.sizes[2:]
    shape = _in_one_row if is_pointwise and sees_all else _spatial
    views = [
        out(0, *shape(result.sizes)),
        operand(0, *shape(input.sizes)),
        operand(1, *_spatial(weight.sizes)),
        View("in2", (0 if bias is None else bias.numel,)),
    ]
    numbers = [*geometry.stride, *geometry.padding, *geometry.dilation]
    return plan_loop(convolve, [result], [input, weight, bias], *views, numbers, groups)


def _spatial(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Sizes with three spatial dims."""
    return *sizes[:2], *(1,) * (5 - len(sizes)), *sizes[2:]


def _in_one_row(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The same, where every place is a window."""
    return *sizes[:2], 1, 1, prod(sizes[2:])


@typed
def first_inside(offset, stride):
    """The first window whose element, `offset` from its place, is inside."""
    return 0 if offset >= 0 else (stride - 1 - offset) // stride


@typed
def last_inside(offset, stride, size, windows):
    """Behind the last such window."""
    inside = (size - 1 - offset) // stride + 1 if offset < size else 0
    return inside if inside < windows else windows


@typed
def add_scaled(target, source, factor):
    """Elements side by side: a loop over vectors."""
    for i in range(target.size):
        target[i] += factor * source[i]


@typed
def add_tap(plane, image, tap, stride, z, y, at):
    """Add what one element of a kernel, at this distance from its window's place, sees."""
    top, left = first_inside(y, stride[1]), first_inside(at, stride[2])
    bottom = last_inside(y, stride[1], image.shape[1], plane.shape[1])
    right = last_inside(at, stride[2], image.shape[2], plane.shape[2])
    for d in range(plane.shape[0]):
        depth = z + d * stride[0]
        if not 0 <= depth < image.shape[0]:
            continue
        for row in range(top, bottom):
            source, target = image[depth, y + row * stride[1]], plane[d, row, left:right]
            if stride[2] == 1:
                add_scaled(target, source[at + left :], tap)
            else:
                for column in range(target.size):
                    target[column] += tap * source[at + (left + column) * stride[2]]


@typed
def convolve(out, x, w, bias, numbers, groups):
    """Tap by tap; what is outside the image counts as zero."""
    stride, padding, dilation = numbers[0:3], numbers[3:6], numbers[6:9]
    per_group = w.shape[0] // groups
    for n in range(x.shape[0]):
        for o in range(w.shape[0]):
            plane, first = out[n, o], o // per_group * w.shape[1]
            plane[:, :, :] = bias[o] if bias.size else T(0)
            for c in range(w.shape[1]):
                image, taps = x[n, first + c], w[o, c]
                for k in range(taps.shape[0]):
                    z = k * dilation[0] - padding[0]
                    for i in range(taps.shape[1]):
                        y = i * dilation[1] - padding[1]
                        for j in range(taps.shape[2]):
                            at = j * dilation[2] - padding[2]
                            add_tap(plane, image, taps[k, i, j], stride, z, y, at)
