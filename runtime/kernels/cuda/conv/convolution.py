"""Convolutions on CUDA by cuDNN; without it, and where it cannot, a kernel here returns False, and
they are windows and products of matrices (`runtime.ops.composite.conv.products`). Kernels of one
tap are products at once.

Every convolution is seen with three spatial dims (depth, height, width); missing ones have size 1.
A transposed convolution is the gradient of a convolution with respect to its input, and its
gradients are convolutions, so that three directions serve all.
"""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime.kernels.common.conv import Geometry, geometry_of
from torchgen_out._runtime.kernels.cuda.conv.conv_plans import (
    FORWARD,
    INPUT,
    RESULT,
    WEIGHT,
    described,
    seen,
)
from torchgen_out._runtime.kernels.cuda.direct import LibraryQueue as Queue
from torchgen_out._runtime.kernels.cuda.direct import direct_in_any_order, turned
from torchgen_out._runtime.kernels.cuda.matmul.matrix_plans import are_multiplied, multiply
from torchgen_out._runtime.kernels.cuda.queue import Array, contiguous


@direct_in_any_order
def convolution(
    queue: Queue,
    out: Array,
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> bool:
    """Write the convolution, or the transposed one, plus the bias of each channel."""
    windows = input.sizes if transposed else out.sizes
    geometry = geometry_of(windows[2:], stride, padding, dilation, groups)
    if _is_matrix_product(out, input, weight, geometry):
        matrix = weight.at(0, (1, *weight.sizes[:2]), (0, *weight.strides[:2]))
        _multiply_places(queue, out, input, turned(matrix) if transposed else matrix, bias)
        return True
    arrays = (out, weight, input) if transposed else (input, weight, out)
    return _by_library(queue, INPUT if transposed else FORWARD, arrays, bias, geometry)


@direct_in_any_order
def convolution_grad_weight(
    queue: Queue,
    out: Array,
    grad_output: Array,
    input: Array,
    sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    groups: int,
) -> bool:
    """Write the gradient of a convolution with respect to its weight."""
    x, y = (grad_output, input) if transposed else (input, grad_output)
    geometry = geometry_of(y.sizes[2:], stride, padding, dilation, groups)
    return _by_library(queue, WEIGHT, (x, out, y), None, geometry)


def _is_matrix_product(out: Array, input: Array, weight: Array, geometry: Geometry) -> bool:
    """Whether a convolution is a product for each image: one tap, nothing skipped, one group, of
    a dtype of the library's; and the result's places can be walked as one dim."""
    return (
        prod(weight.sizes[2:]) == 1
        and geometry == ((1, 1, 1), (0, 0, 0), geometry.dilation, 1)
        and out.sizes[2:] == input.sizes[2:]
        and are_multiplied(out.dtype)
        and seen(out.sizes, out.strides).is_laid
    )


def _multiply_places(
    queue: Queue, out: Array, input: Array, matrix: Array, bias: Array | None
) -> None:
    """out[image] = matrix @ input[image] + bias, all images in one call."""
    result, places = _columns(out), _columns(_laid(queue, input))
    matrices = matrix.expanded((result.sizes[0], *matrix.sizes[1:]))
    if bias is None:
        multiply(queue, result, matrices, places)
        return
    column = bias.at(0, (*bias.sizes, 1), (*bias.strides, 1))
    multiply(queue, result, matrices, places, 1, 1, column.expanded(result.sizes))


def _columns(x: Array) -> Array:
    """Laid images as matrices of channels by places."""
    images, channels, places = *x.sizes[:2], prod(x.sizes[2:])
    strides = (places, 1) if x.is_contiguous else (1, channels)
    return x.at(0, (images, channels, places), (channels * places, *strides))


def _by_library(
    queue: Queue,
    direction: str,
    arrays: tuple[Array, Array, Array],
    bias: Array | None,
    geometry: Geometry,
) -> bool:
    """Have cuDNN compute one of (x, w, y) from the others, if it is there and can.

    A bias is added by the same kernel, or afterwards where none does that: to no gradient.
    """
    library, result = queue.convolutions, RESULT[direction]
    out = arrays[result]
    if not all(each.numel for each in arrays) or not library.takes(out.dtype):
        return False
    made = out if out.is_contiguous else queue.empty(out.sizes, out.dtype)
    x, w, y = laid = [
        _spatial(made) if place == result else _laid(queue, each)
        for place, each in enumerate(arrays)
    ]
    bias = None if bias is None else contiguous(queue, bias)
    is_added = False
    if bias is not None and direction == FORWARD:
        what = described(direction, x, w, y, bias, geometry)
        is_added = library.run(what, (*laid, bias))
    if not is_added:
        if not library.run(described(direction, x, w, y, None, geometry), laid):
            return False
        if bias is not None:
            column = bias.at(0, (bias.numel, 1, 1, 1), (1, 0, 0, 0))
            whole = laid[result]
            queue.apply(added, whole, [whole, column.expanded(whole.sizes)])
    if made is not out:
        queue.copy(out, made)
    return True


def _spatial(x: Array) -> Array:
    """An array with three spatial dims."""
    sizes, strides, _ = seen(x.sizes, x.strides)
    return Array(x.address, x.dtype, sizes, strides)


def _laid(queue: Queue, x: Array) -> Array:
    """An array with three spatial dims: as it lies, its channels before the places or after them,
    or else copied."""
    is_laid = seen(x.sizes, x.strides).is_laid
    return _spatial(x if is_laid else contiguous(queue, x))


def added(x, y):
    """x + y"""
    return x + y
