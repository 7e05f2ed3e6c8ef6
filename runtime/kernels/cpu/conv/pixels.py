"""Convolutions of images whose channels lie side by side, as they lie."""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime.kernels.common.conv import geometry_of
from torchgen_out._runtime.kernels.cpu.conv import depthwise
from torchgen_out._runtime.kernels.cpu.matmul.matrix_plans import plan_linear
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec


def plan_pixels(
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
    """The plan for images that are rows of pixels, where it takes them so; else None."""
    given = [each for each in (input, weight, bias) if each is not None]
    if transposed or any(each.dtype != result.dtype for each in given):
        return None
    if not (_is_of_pixels(result) and _is_of_pixels(input)):
        return None
    geometry = geometry_of(result.sizes[2:], stride, padding, dilation, groups)
    is_pointwise = set(weight.sizes[2:]) == {1} and set(geometry.stride) == {1}
    sees_all = result.sizes[2:] == input.sizes[2:] and not any(geometry.padding)
    if is_pointwise and sees_all and groups == 1:
        return _plan_product(result, input, weight, bias)
    if groups == input.sizes[1] and (bias is None or bias.is_contiguous):
        return depthwise.plan_pixels(result, input, weight, bias is not None, geometry[:3])
    return None


def _is_of_pixels(image: TensorSpec) -> bool:
    return image.numel > 0 and image.pixels.is_contiguous


def _plan_product(
    result: TensorSpec, input: TensorSpec, weight: TensorSpec, bias: TensorSpec | None
) -> LaunchPlan | None:
    """Each pixel's channels times a matrix."""
    count = result.sizes[0] * prod(result.sizes[2:])
    (outputs, inputs), steps = weight.sizes[:2], weight.strides[:2]
    matrix = TensorSpec(weight.dtype, (outputs, inputs), steps)
    rows = (TensorSpec(result.dtype, (count, n), (n, 1)) for n in (outputs, inputs))
    return plan_linear(*rows, matrix, bias)
