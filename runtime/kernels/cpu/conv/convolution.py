"""Convolutions on the CPU: three products, and the choice of the algorithm for each.

Every convolution is seen with three spatial dims (depth, height, width); missing ones have size 1.
A transposed convolution is the gradient of a convolution with respect to its input, and its
gradients are convolutions, so that three products serve all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.common.conv import Geometry, geometry_of
from torchgen_out._runtime.kernels.cpu.conv import (
    columns,
    dense,
    depthwise,
    direct,
    flat,
    implicit,
    pointwise,
    winograd,
)
from torchgen_out._runtime.kernels.cpu.conv.few import plan_few
from torchgen_out._runtime.kernels.cpu.conv.planes import lay_out
from torchgen_out._runtime.kernels.cpu.planned import or_arrays

Array = Any
Triple = tuple[int, int, int]
FEW_OUTPUTS = 12  # per group: fewer leave too much of a vector of outputs empty
FEW_PLACES = 32  # of an image
NARROW = 4  # outputs of a group, for which elements are not worth being packed
quiet = np.errstate(all="ignore")


@or_arrays(plan_few)
@quiet
def convolution(
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
) -> None:
    """Write the convolution, or the transposed one, plus the bias of each channel."""
    windows = input.shape if transposed else out.shape
    geometry = geometry_of(windows[2:], stride, padding, dilation, groups)
    y, x, w = spatial(out), spatial(input), spatial(weight)
    if not transposed:
        product(y, x, w, bias, geometry)
        return
    product_transposed(y, x, w, bias, geometry)


@quiet
def convolution_grad_weight(
    out: Array,
    grad_output: Array,
    input: Array,
    sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    groups: int,
) -> None:
    """Write the gradient of a convolution with respect to its weight."""
    windows = input.shape if transposed else grad_output.shape
    geometry = geometry_of(windows[2:], stride, padding, dilation, groups)
    dw, dy, x = spatial(out), spatial(grad_output), spatial(input)
    if transposed:
        dy, x = x, dy
    product_weight(dw, dy, x, geometry)


def spatial(array: Array) -> Array:
    """The array with three spatial dims."""
    sizes = array.shape
    return array.reshape(sizes[:2] + (1,) * (5 - len(sizes)) + sizes[2:])


# The three products, by the algorithm that suits. x: (N, C, D, H, W); w: (O, C / groups, KD, KH,
# KW); y: (N, O, OD, OH, OW).


def product(y: Array, x: Array, w: Array, bias: Array | None, geometry: Geometry) -> None:
    """y = w * x + bias."""
    if not y.size:
        return
    if not w.size:
        y[...] = 0 if bias is None else bias.reshape(-1, 1, 1, 1)
        return
    x, w = np.ascontiguousarray(x), np.ascontiguousarray(w)
    sliding, groups = geometry[:3], geometry.groups
    if dense.suits(y, x, w, sliding, groups):
        dense.convolve(y, x, w, bias)
        return
    is_narrow = y.dtype.kind == "f" and w.shape[0] // groups <= NARROW
    if is_pointwise(y, w, geometry) and not (is_narrow and flat.suits(y, x, w, sliding, groups)):
        pointwise.convolve(y, x, w, bias, groups)
        return
    is_tiled = winograd.suits(y, x, w, sliding, groups)
    if is_tiled and winograd.convolve(y, x, w, bias, sliding, groups):
        return
    if suits_offsets(y.dtype, w.shape[0] // groups):
        implicit.convolve(y, x, w, bias, sliding, groups)
    elif depthwise.suits(y, x, w, sliding, groups):
        depthwise.convolve(y, x, w, bias, sliding)
    elif y.dtype.kind == "f" and flat.suits(y, x, w, sliding, groups):
        flat.convolve(y, x, w, bias, sliding, groups)
    else:
        planes = lay_out(x.shape[2:], w.shape[2:], y.shape[2:], *sliding)
        algorithm = direct if y.dtype.kind == "f" else columns
        algorithm.convolve(y, x, w, bias, planes, groups)


def product_transposed(
    x: Array, y: Array, w: Array, bias: Array | None, geometry: Geometry
) -> None:
    """x = the gradient that y sends back through w, plus bias; with stride 1, a convolution."""
    if not x.size:
        return
    if not y.size or not w.size:
        x[...] = 0 if bias is None else bias.reshape(-1, 1, 1, 1)
        return
    y, w = np.ascontiguousarray(y), np.ascontiguousarray(w)
    reach = [d * (k - 1) for d, k in zip(geometry.dilation, w.shape[2:], strict=True)]
    padding = tuple(r - p for r, p in zip(reach, geometry.padding, strict=True))
    has_stride = geometry.stride != (1, 1, 1)
    flipped = Geometry(geometry.stride, padding, geometry.dilation, geometry.groups)
    if not has_stride and min(padding) >= 0:
        seen = flip(w, geometry.groups)
        if winograd.suits(x, y, seen, flipped[:3], geometry.groups):
            seen = np.ascontiguousarray(seen)
            if winograd.convolve(x, y, seen, bias, flipped[:3], geometry.groups):
                return
    if depthwise.suits(x, y, w, geometry[:3], geometry.groups):
        depthwise.convolve_transposed(x, y, w, bias, geometry[:3])
        return
    if dense.suits(y, x, w, geometry[:3], geometry.groups):
        dense.convolve_transposed(x, y, w)
    elif is_pointwise(y, w, geometry):
        pointwise.convolve_transposed(x, y, w, geometry.groups)
    elif suits_offsets(y.dtype, w.shape[1]) or (has_stride and y.dtype.kind == "f"):
        implicit.convolve_transposed(x, y, w, bias, geometry[:3], geometry.groups)
        return
    elif not has_stride and min(padding) >= 0:
        product(x, y, flip(w, geometry.groups), bias, flipped)
        return
    else:
        planes = lay_out(x.shape[2:], w.shape[2:], y.shape[2:], *geometry[:3])
        columns.convolve_transposed(x, y, w, planes, geometry.groups)
    if bias is not None:
        x += bias.reshape(-1, 1, 1, 1)


def product_weight(w: Array, y: Array, x: Array, geometry: Geometry) -> None:
    """w = the sum over images and places of y times what each tap sees of x."""
    if not y.size or not w.size:
        w.fill(0)
        return
    y, x = np.ascontiguousarray(y), np.ascontiguousarray(x)
    sliding, groups = geometry[:3], geometry.groups
    if dense.suits(y, x, w, sliding, groups):
        dense.correlate(w, y, x)
        return
    if is_pointwise(y, w, geometry):
        pointwise.correlate(w, y, x, groups)
        return
    is_tiled = winograd.suits(y, x, w, sliding, groups)
    if is_tiled and winograd.correlate(w, y, x, sliding, groups):
        return
    if suits_offsets(y.dtype, w.shape[0] // groups):
        implicit.correlate(w, y, x, sliding, groups)
        return
    if depthwise.suits(y, x, w, sliding, groups):
        depthwise.correlate(w, y, x, sliding)
        return
    planes = lay_out(x.shape[2:], w.shape[2:], y.shape[2:], *sliding)
    algorithm = direct if y.dtype.kind == "f" else columns
    algorithm.correlate(w, y, x, planes, groups)


def suits_offsets(dtype: Any, outputs: int) -> bool:
    """Whether there are results enough to fill vectors with those of one place."""
    return dtype.kind == "f" and outputs >= FEW_OUTPUTS


def flip(w: Array, groups: int) -> Array:
    """The kernel of the transpose: taps reversed, inputs and outputs exchanged."""
    reversed_taps = w[:, :, ::-1, ::-1, ::-1]
    grouped = reversed_taps.reshape(groups, w.shape[0] // groups, *w.shape[1:])
    return grouped.swapaxes(1, 2).reshape(groups * w.shape[1], w.shape[0] // groups, *w.shape[2:])


def is_pointwise(y: Array, w: Array, geometry: Geometry) -> bool:
    """Whether every result sees one place of the input, each place is seen, and they are many.

    A few places of an image leave a tile's vectors empty, where other ways join those of images.
    """
    if w.shape[2:] != (1, 1, 1) or geometry.stride != (1, 1, 1) or geometry.padding != (0, 0, 0):
        return False
    if y[0, 0].size < FEW_PLACES:
        return not suits_offsets(y.dtype, w.shape[0] // geometry.groups)
    return True
