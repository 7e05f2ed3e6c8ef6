"""Convolutions on the CPU: three products, and the choice of the algorithm for each.

Every convolution is seen with three spatial dims (depth, height, width); missing ones have size 1.
A transposed convolution is the gradient of a convolution with respect to its input, and its
gradients are convolutions, so that three products serve all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.core.shape import contiguous_strides
from torchgen_out._runtime.kernels.common.conv import Geometry, geometry_of
from torchgen_out._runtime.kernels.cpu import folding
from torchgen_out._runtime.kernels.cpu.conv import (
    choice,
    columns,
    dense,
    depthwise,
    direct,
    flat,
    implicit,
    patches,
    pointwise,
    winograd,
)
from torchgen_out._runtime.kernels.cpu.conv.few import plan_few, plan_few_weights
from torchgen_out._runtime.kernels.cpu.conv.pixels import plan_pixels
from torchgen_out._runtime.kernels.cpu.conv.planes import lay_out
from torchgen_out._runtime.kernels.cpu.folding import contiguous
from torchgen_out._runtime.kernels.cpu.planned import made_apart, or_arrays
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any
Triple = tuple[int, int, int]
quiet = np.errstate(all="ignore")


FEWEST = 1 << 11
"""Products up to which one loop over taps and places takes less than vectors of places."""


def plan_forward(
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
    """Plan `convolution` of few elements, or to few outputs; None for others."""
    sliding = stride, padding, dilation
    if not result.is_contiguous:
        dense = result._replace(strides=contiguous_strides(result.sizes))
        given = input, weight, bias, *sliding, transposed, output_padding, groups
        if pixels := plan_pixels(result, *given):
            return pixels
        plan = plan_forward(dense, *given)
        return plan and made_apart(plan, result)
    given = [each for each in (result, input, weight, bias) if each is not None]
    is_dense = all(each.is_contiguous and each.dtype == result.dtype for each in given)
    products = result.numel * prod(weight.sizes[1:])
    if is_dense and not transposed and products > FEWEST:
        geometry = geometry_of(result.sizes[2:], *sliding, groups)
        wide = [spatial_sizes(each.sizes) for each in given[:3]]
        if run := _launch(wide, result.dtype, bias is not None, geometry):
            return LaunchPlan(run, None)
    return plan_few(result, input, weight, bias, *sliding, transposed, output_padding, groups)


def _launch(
    sizes: Sequence[tuple[int, ...]], dtype: Any, has_bias: bool, geometry: Geometry
) -> Callable[..., None] | None:
    """run(y, x, w, [bias], *where each begins but y, params) over flat memory, where the way that
    suits has one."""
    way, given = choice.way_forward(*sizes, dtype, geometry), (*sizes, dtype, has_bias)
    if way == "pointwise" and dtype.kind == "f":
        return pointwise.launch(*given)
    if way == "flat":
        return flat.launch(*given, geometry[:3], geometry.groups)
    return implicit.launch(*given, geometry[:3], geometry.groups) if way == "implicit" else None


def plan_weight(result: TensorSpec, *given: Any) -> LaunchPlan | None:
    """Plan `convolution_grad_weight` of few elements; None for others."""
    if result.is_contiguous:
        return plan_few_weights(result, *given)
    plan = plan_few_weights(result._replace(strides=contiguous_strides(result.sizes)), *given)
    return plan and made_apart(plan, result)


@or_arrays(plan_forward, any_order=True)
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
    result = folding.buffer_of(out)
    y, x, w = spatial(result), spatial(input), spatial(weight)
    if transposed:
        product_transposed(y, x, w, bias, geometry)
    else:
        product(y, x, w, bias, geometry)
    folding.settle(out, result)


@or_arrays(plan_weight, any_order=True)
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
    return array.reshape(spatial_sizes(array.shape))


def spatial_sizes(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Sizes with three spatial dims."""
    return *sizes[:2], *(1,) * (5 - len(sizes)), *sizes[2:]


# The three products, each the way that suits. x: (N, C, D, H, W); w: (O, C / groups, KD, KH, KW);
# y: (N, O, OD, OH, OW).


def product(y: Array, x: Array, w: Array, bias: Array | None, geometry: Geometry) -> None:
    """y = w * x + bias."""
    if not y.size:
        return
    if not w.size:
        y[...] = 0 if bias is None else bias.reshape(-1, 1, 1, 1)
        return
    x, w = contiguous(x), contiguous(w)
    sliding, groups = geometry[:3], geometry.groups
    way = choice.way_forward(y.shape, x.shape, w.shape, y.dtype, geometry)
    if way == "winograd" and winograd.convolve(y, x, w, bias, sliding, groups):
        return
    if way == "dense":
        dense.convolve(y, x, w, bias)
    elif way == "pointwise":
        pointwise.convolve(y, x, w, bias, groups)
    elif way == "depthwise":
        depthwise.convolve(y, x, w, bias, sliding)
    elif way == "flat":
        flat.convolve(y, x, w, bias, sliding, groups)
    elif way in PLANES:
        planes = lay_out(x.shape[2:], w.shape[2:], y.shape[2:], *sliding)
        PLANES[way].convolve(y, x, w, bias, planes, groups)
    else:
        implicit.convolve(y, x, w, bias, sliding, groups)


def product_transposed(
    x: Array, y: Array, w: Array, bias: Array | None, geometry: Geometry
) -> None:
    """x = the gradient that y sends back through w, plus bias; with stride 1, a convolution."""
    if not x.size:
        return
    if not y.size or not w.size:
        x[...] = 0 if bias is None else bias.reshape(-1, 1, 1, 1)
        return
    sliding, groups = geometry[:3], geometry.groups
    way = choice.way_back(x.shape, y.shape, w.shape, y.dtype, geometry)
    if way == "flipped":
        product(x, y, flip(w, groups), bias, choice.flipped(geometry, w.shape))
        return
    y, w = contiguous(y), contiguous(w)
    if way == "depthwise":
        depthwise.convolve_transposed(x, y, w, bias, sliding)
        return
    if way == "implicit":
        implicit.convolve_transposed(x, y, w, bias, sliding, groups)
        return
    if way == "dense":
        dense.convolve_transposed(x, y, w)
    elif way == "pointwise":
        pointwise.convolve_transposed(x, y, w, groups)
    elif way == "patches":
        patches.convolve_transposed(x, y, w, groups)
    else:
        planes = lay_out(x.shape[2:], w.shape[2:], y.shape[2:], *sliding)
        columns.convolve_transposed(x, y, w, planes, groups)
    if bias is not None:
        x += bias.reshape(-1, 1, 1, 1)


def product_weight(w: Array, y: Array, x: Array, geometry: Geometry) -> None:
    """w = the sum over images and places of y times what each tap sees of x."""
    if not y.size or not w.size:
        w.fill(0)
        return
    y, x = contiguous(y), contiguous(x)
    sliding, groups = geometry[:3], geometry.groups
    way = choice.way_of_weight(w.shape, y.shape, x.shape, y.dtype, geometry)
    if way == "winograd" and winograd.correlate(w, y, x, sliding, groups):
        return
    if way == "dense":
        dense.correlate(w, y, x)
    elif way == "pointwise":
        pointwise.correlate(w, y, x, groups)
    elif way == "depthwise":
        depthwise.correlate(w, y, x, sliding)
    elif way in PLANES:
        planes = lay_out(x.shape[2:], w.shape[2:], y.shape[2:], *sliding)
        PLANES[way].correlate(w, y, x, planes, groups)
    else:
        implicit.correlate(w, y, x, sliding, groups)


PLANES = {"direct": direct, "columns": columns}
"""The ways over padded planes."""


def flip(w: Array, groups: int) -> Array:
    """The kernel of the transpose: taps reversed, inputs and outputs exchanged."""
    reversed_taps = w[:, :, ::-1, ::-1, ::-1]
    grouped = reversed_taps.reshape(groups, w.shape[0] // groups, *w.shape[1:])
    return grouped.swapaxes(1, 2).reshape(choice.flipped_shape(w.shape, groups))
