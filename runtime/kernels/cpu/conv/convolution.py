"""Convolutions on the CPU: three products, and the choice of the algorithm for each.

Every convolution is seen with three spatial dims (depth, height, width); missing ones have size 1.
A transposed convolution is the gradient of a convolution with respect to its input, and its
gradients are convolutions, so that three products serve all.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

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
from torchgen_out._runtime.kernels.cpu.conv.launches import Run, Sizes, run_on_arrays
from torchgen_out._runtime.kernels.cpu.conv.pixels import plan_pixels
from torchgen_out._runtime.kernels.cpu.conv.planes import lay_out
from torchgen_out._runtime.kernels.cpu.folding import contiguous
from torchgen_out._runtime.kernels.cpu.planned import made_apart, on_copies, or_arrays
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
        given = input, weight, bias, *sliding, transposed, output_padding, groups
        if pixels := plan_pixels(result, *given):
            return pixels
        plan = plan_forward(result.dense, *given)
        return plan and made_apart(plan, result)
    operands = [each for each in (input, weight, bias) if each is not None]
    if _are_copied(operands):
        given = [each and each.dense for each in (input, weight, bias)]
        plan = plan_forward(result, *given, *sliding, transposed, output_padding, groups)
        return plan and on_copies(plan, 1, operands)
    given = result, input, weight, bias, *sliding, transposed
    is_narrow = transposed and not choice.suits_offsets(result.dtype, weight.sizes[1])
    if is_narrow and (few := plan_few(*given, output_padding, groups)):
        return few  # a stride's phases would fill few lanes each
    run = _launch_dense(*given, groups)
    return LaunchPlan(run, None) if run else plan_few(*given, output_padding, groups)


def _launch_dense(
    result: TensorSpec,
    input: TensorSpec,
    weight: TensorSpec,
    bias: TensorSpec | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    groups: int,
) -> Run | None:
    """The launch of the way that suits contiguous operands, where it has one."""
    windows = input if transposed else result
    products = windows.numel * prod(weight.sizes[1:])
    given = [each for each in (result, input, weight, bias) if each is not None]
    if not _are_dense(given):
        return None
    geometry = geometry_of(windows.sizes[2:], stride, padding, dilation, groups)
    sizes, dtype, has_bias = _sizes(given[:3]), result.dtype, bias is not None
    find, make = (
        (choice.way_back, launch_transposed) if transposed else (choice.way_forward, launch)
    )
    way = find(*sizes, dtype, geometry)
    if products <= FEWEST and way != "dense":
        return None
    return make(way, *sizes, dtype, has_bias, geometry)


def _are_copied(operands: Sequence[TensorSpec]) -> bool:
    """Whether some operands have gaps, and so few elements that loops copy them."""
    gaps = [each for each in operands if not each.is_contiguous]
    return bool(gaps) and all(each.numel <= folding.TURNED for each in gaps)


def _are_dense(given: Sequence[TensorSpec]) -> bool:
    """Whether tensors are contiguous, not empty, and of one dtype."""
    dtype = given[0].dtype
    return all(each.is_contiguous and each.numel and each.dtype == dtype for each in given)


def _sizes(given: Sequence[TensorSpec]) -> list[Sizes]:
    return [spatial_sizes(each.sizes) for each in given]


def plan_weight(
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
    """Plan `convolution_grad_weight` of few elements; None for others."""
    how = sizes, stride, padding, dilation, transposed, groups
    if not result.is_contiguous:
        plan = plan_weight(result.dense, grad_output, input, *how)
        return plan and made_apart(plan, result)
    operands = grad_output, input
    if _are_copied(operands):
        plan = plan_weight(result, grad_output.dense, input.dense, *how)
        return plan and on_copies(plan, 1, operands)
    x, y = (grad_output, input) if transposed else (input, grad_output)
    products = y.numel * prod(result.sizes[1:])
    if _are_dense([result, y, x]):
        geometry = geometry_of(y.sizes[2:], stride, padding, dilation, groups)
        given = *_sizes([result, y, x]), result.dtype, geometry
        way = choice.way_of_weight(*given)
        run = launch_weight(way, *given) if products > FEWEST or way == "dense" else None
        if run:
            return LaunchPlan(_exchanged(run) if transposed else run, None)
    return plan_few_weights(result, grad_output, input, *how)


def _exchanged(run: Run) -> Run:
    """The launch whose operands come in the other order."""

    def run_exchanged(out: Array, x: Array, y: Array, at_x: int, at_y: int, params: Any) -> None:
        run(out, y, x, at_y, at_x, params)

    return run_exchanged


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
    result = folding.buffer_of(out)
    dw, dy, x = spatial(result), spatial(grad_output), spatial(input)
    if transposed:
        dy, x = x, dy
    product_weight(dw, dy, x, geometry)
    folding.settle(out, result)


def spatial(array: Array) -> Array:
    """The array with three spatial dims."""
    return array.reshape(spatial_sizes(array.shape))


def spatial_sizes(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Sizes with three spatial dims."""
    return *sizes[:2], *(1,) * (5 - len(sizes)), *sizes[2:]


# Launches over flat memory, planned once per geometry: of the ways that have one (`launches`).


def launch(
    way: str, y: Sizes, x: Sizes, w: Sizes, dtype: Any, has_bias: bool, geometry: Geometry
) -> Run | None:
    """run(y, x, w, [bias], ...) for the way forward."""
    given, groups = (y, x, w, dtype, has_bias), geometry.groups
    if way == "dense":
        return dense.launch(*given)
    if way == "pointwise" and dtype.kind == "f":
        return pointwise.launch(*given, groups)
    if way == "flat":
        return flat.launch(*given, geometry[:3], groups)
    return implicit.launch(*given, geometry[:3], groups) if way == "implicit" else None


def launch_transposed(
    way: str, x: Sizes, y: Sizes, w: Sizes, dtype: Any, has_bias: bool, geometry: Geometry
) -> Run | None:
    """run(x, y, w, [bias], ...) for the way back."""
    given, groups = (x, y, w, dtype, has_bias), geometry.groups
    if way == "dense":
        return dense.launch_transposed(*given)
    if way == "pointwise" and dtype.kind == "f":
        return pointwise.launch_transposed(*given, groups)
    if way == "implicit":
        return implicit.launch_transposed(*given, geometry[:3], groups)
    return _launch_flipped(*given, geometry) if way == "flipped" else None


def _launch_flipped(
    x: Sizes, y: Sizes, w: Sizes, dtype: Any, has_bias: bool, geometry: Geometry
) -> Run | None:
    """The convolution by the weights turned round."""
    sizes, turned = (x, y, choice.flipped_shape(w, geometry.groups)), choice.flipped(geometry, w)
    run = launch(choice.way_forward(*sizes, dtype, turned), *sizes, dtype, has_bias, turned)
    if run is None:
        return None
    shape, numel, groups = w, prod(w), geometry.groups

    def run_flipped(x: Array, y: Array, w: Array, *rest: Any) -> None:
        *bias, at_y, at_w = rest[: 2 + has_bias]
        kernel = contiguous(flip(w[at_w : at_w + numel].reshape(shape), groups))
        run(x, y, kernel.reshape(-1), *bias, at_y, 0, *rest[2 + has_bias :])

    return run_flipped


def launch_weight(
    way: str, w: Sizes, y: Sizes, x: Sizes, dtype: Any, geometry: Geometry
) -> Run | None:
    """run(w, y, x, ...) for the gradient of the weight."""
    if way == "dense":
        return dense.launch_correlate(w, y, x, dtype)
    if way == "pointwise" and dtype.kind == "f":
        return pointwise.launch_correlate(w, y, x, dtype, geometry.groups)
    if way == "implicit":
        return implicit.launch_correlate(w, y, x, dtype, geometry[:3], geometry.groups)
    return None


# The three products, each the way that suits; results are contiguous. x: (N, C, D, H, W);
# w: (O, C / groups, KD, KH, KW); y: (N, O, OD, OH, OW).


def product(y: Array, x: Array, w: Array, bias: Array | None, geometry: Geometry) -> None:
    """y = w * x + bias."""
    if not y.size:
        return
    if not w.size:
        y[...] = 0 if bias is None else bias.reshape(-1, 1, 1, 1)
        return
    x, w, bias = contiguous(x), contiguous(w), None if bias is None else contiguous(bias)
    sliding, groups = geometry[:3], geometry.groups
    way = choice.way_forward(y.shape, x.shape, w.shape, y.dtype, geometry)
    if way == "winograd":
        if winograd.convolve(y, x, w, bias, sliding, groups):
            return
        way = "implicit"
    if run := launch(way, y.shape, x.shape, w.shape, y.dtype, bias is not None, geometry):
        run_on_arrays(run, y, x, w, bias)
    elif way == "dense":
        dense.convolve(y, x, w, bias)
    elif way == "pointwise":
        pointwise.convolve(y, x, w, bias, groups)
    elif way == "depthwise":
        depthwise.convolve(y, x, w, bias, sliding)
    else:
        planes = lay_out(x.shape[2:], w.shape[2:], y.shape[2:], *sliding)
        PLANES[way].convolve(y, x, w, bias, planes, groups)


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
    if run := launch_transposed(
        way, x.shape, y.shape, w.shape, y.dtype, bias is not None, geometry
    ):
        run_on_arrays(run, x, y, w, bias)
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
    if way == "winograd":
        if winograd.correlate(w, y, x, sliding, groups):
            return
        way = "implicit"
    if run := launch_weight(way, w.shape, y.shape, x.shape, y.dtype, geometry):
        run_on_arrays(run, w, y, x, None)
    elif way == "dense":
        dense.correlate(w, y, x)
    elif way == "pointwise":
        pointwise.correlate(w, y, x, groups)
    elif way == "depthwise":
        depthwise.correlate(w, y, x, sliding)
    else:
        planes = lay_out(x.shape[2:], w.shape[2:], y.shape[2:], *sliding)
        PLANES[way].correlate(w, y, x, planes, groups)


PLANES = {"direct": direct, "columns": columns}
"""The ways over padded planes."""


def flip(w: Array, groups: int) -> Array:
    """The kernel of the transpose: taps reversed, inputs and outputs exchanged."""
    reversed_taps = w[:, :, ::-1, ::-1, ::-1]
    grouped = reversed_taps.reshape(groups, w.shape[0] // groups, *w.shape[1:])
    return grouped.swapaxes(1, 2).reshape(choice.flipped_shape(w.shape, groups))
