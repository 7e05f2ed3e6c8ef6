"""Shapes and checks of convolutions and of sliding blocks."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from torchgen_out._runtime import errors

Sizes = tuple[int, ...]


def convolution(
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> tuple[Sizes, Any]:
    """Shape: (N, C, *S) with weight (O, C / groups, *K) -> (N, O, *places).

    Transposed, the weight is (C, O / groups, *K).
    """
    count = weight.ndim - 2
    numbers = {
        "stride": expand_parameter("stride", stride, count),
        "padding": expand_parameter("padding", padding, count),
        "dilation": expand_parameter("dilation", dilation, count),
    }
    extra = expand_parameter("output_padding", output_padding, count)
    _check_numbers(numbers, groups)
    _check_dtypes(input, weight, bias)
    _check_channels(input, weight, bias, transposed, groups)
    if transposed:
        places = _transposed_places(input.shape[2:], weight.shape[2:], numbers, extra)
        return (input.shape[0], weight.shape[1] * groups, *places), input.dtype
    places = _places(input.shape[2:], weight.shape[2:], numbers)
    if 0 in input.shape[2:] and input.numel() == 0 and input.shape[0] and input.shape[1]:
        raise RuntimeError(
            "Only zero batch or zero channel inputs are supported, "
            f"but got input shape: {list(input.shape)}"
        )
    return (input.shape[0], weight.shape[0], *places), input.dtype


def expand_parameter(name: str, value: Any, count: int) -> Sizes:
    """One number per spatial dim; a single one stands for all."""
    values = (value,) if isinstance(value, int) else tuple(value)
    if len(values) == 1:
        return values * count
    if len(values) != count:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {count} values to match "
            f"the convolution dimensions, but got {name}={list(values)}"
        )
    return values


def _check_numbers(numbers: dict[str, Sizes], groups: int) -> None:
    if min(numbers["padding"], default=0) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(numbers["stride"], default=1) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(numbers["dilation"], default=1) <= 0:
        raise errors.dilation_not_positive(numbers["dilation"])
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")


def _check_dtypes(input: Any, weight: Any, bias: Any) -> None:
    if input.dtype is not weight.dtype:
        raise errors.scalar_type_mismatch(input.dtype, weight.dtype)
    if bias is not None and bias.dtype is not input.dtype:
        raise RuntimeError(
            f"Input type ({errors.c_name(input.dtype)}) and bias type "
            f"({errors.c_name(bias.dtype)}) should be the same"
        )


def _check_channels(input: Any, weight: Any, bias: Any, transposed: bool, groups: int) -> None:
    sizes, got = list(weight.shape), list(input.shape)
    if input.ndim != weight.ndim:
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight "
            f"{sizes}, but got {input.ndim}-dimensional input of size {got} instead"
        )
    if sizes[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, "
            f"but got weight of size {sizes} instead"
        )
    if sizes[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size [{sizes}] instead"
        )
    given = "transposed=1" if transposed else f"groups={groups}"
    channels = sizes[0] if transposed else sizes[1] * groups
    if got[1] != channels:
        raise RuntimeError(
            f"Given {given}, weight of size {sizes}, expected input{got} to have {channels} "
            f"channels, but got {got[1]} channels instead"
        )
    outputs = sizes[1] * groups if transposed else sizes[0]
    if bias is not None and tuple(bias.shape) != (outputs,):
        start = "Given transposed=1, weight" if transposed else "Given weight"
        raise RuntimeError(
            f"{start} of size {sizes}, expected bias to be 1-dimensional with {outputs} "
            f"elements, but got bias of size {list(bias.shape)} instead"
        )


def _check_kernel(kernel: Sizes) -> None:
    if 0 in kernel:
        raise RuntimeError(f"kernel size should be greater than zero, but got {list(kernel)}")


def _places(sizes: Sizes, kernel: Sizes, numbers: dict[str, Sizes]) -> Sizes:
    """How many places the kernel has along each spatial dim."""
    stride, padding, dilation = numbers["stride"], numbers["padding"], numbers["dilation"]
    _check_kernel(kernel)
    padded = [size + 2 * p for size, p in zip(sizes, padding, strict=True)]
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    if any(r > p for r, p in zip(reach, padded, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({by(padded)}). Kernel size: "
            f"({by(reach)}). Kernel size can't be greater than actual input size"
        )
    return tuple([(p - r) // s + 1 for p, r, s in zip(padded, reach, stride, strict=True)])


def by(sizes: Sequence[int]) -> str:
    """Sizes as messages write them: 3 x 4."""
    return " x ".join(str(size) for size in sizes)


def _transposed_places(
    sizes: Sizes, kernel: Sizes, numbers: dict[str, Sizes], extra: Sizes
) -> Sizes:
    stride, padding, dilation = numbers["stride"], numbers["padding"], numbers["dilation"]
    _check_kernel(kernel)
    for more, s, d in zip(extra, stride, dilation, strict=True):
        if more < 0:
            raise RuntimeError("negative output_padding is not supported")
        if more >= s and more >= d:
            raise RuntimeError(
                "output padding must be smaller than either stride or dilation, but got "
                f"output_padding: {list(extra)} stride: {list(stride)} dilation: {list(dilation)}"
            )
    places = tuple(
        [
            (size - 1) * s - 2 * p + d * (k - 1) + more + 1
            for size, k, s, p, d, more in zip(
                sizes, kernel, stride, padding, dilation, extra, strict=True
            )
        ]
    )
    if min(places, default=0) < 0:
        raise RuntimeError(
            f"Given input size per channel: ({by(sizes)}). Calculated output size per channel: "
            f"({by(places)}). Output size is too small"
        )
    return places


def convolution_grad_input(
    grad_output: Any, weight: Any, sizes: Sequence[int], *parameters: Any
) -> tuple[Sizes, Any]:
    """Shape: the input's, `sizes`."""
    return tuple(sizes), grad_output.dtype


def convolution_grad_weight(
    grad_output: Any, input: Any, sizes: Sequence[int], *parameters: Any
) -> tuple[Sizes, Any]:
    """Shape: the weight's, `sizes`."""
    return tuple(sizes), grad_output.dtype


# What convolutions are made of where no kernel computes them; the caller has checked all.


def convolution_windows(
    self: Any, kernel_size: Sizes, places: Sizes, *steps: Any
) -> tuple[Sizes, Any]:
    """Shape: (..., N, D, H, W) -> (..., *kernel_size, N, *places)."""
    *batch, images = self.shape[:-3]
    return (*batch, *kernel_size, images, *places), self.dtype


def convolution_fold(self: Any, sizes: Sizes, *steps: Any) -> tuple[Sizes, Any]:
    """Shape: (..., KD, KH, KW, OD, OH, OW) -> (..., *sizes)."""
    return (*self.shape[:-6], *sizes), self.dtype


def convolution_taps(
    input: Any, weight: Any, bias: Any, places: Sizes, *steps: Any
) -> tuple[Sizes, Any]:
    """Shape: (N, G, C, D, H, W) with weight (G, O, C, KD, KH, KW) -> (N, G, O, *places)."""
    return (input.shape[0], *weight.shape[:2], *places), input.dtype


def convolution_taps_grad_input(
    grad_output: Any, weight: Any, sizes: Sizes, *steps: Any
) -> tuple[Sizes, Any]:
    """Shape: (N, G, O, OD, OH, OW) with weight (G, O, C, KD, KH, KW) -> (N, G, C, *sizes)."""
    return (*grad_output.shape[:2], weight.shape[2], *sizes), grad_output.dtype


def convolution_taps_grad_weight(
    grad_output: Any, input: Any, kernel_size: Sizes, *steps: Any
) -> tuple[Sizes, Any]:
    """Shape: (N, G, O, OD, OH, OW) and (N, G, C, D, H, W) -> (G, O, C, *kernel_size)."""
    return (*grad_output.shape[1:3], input.shape[2], *kernel_size), grad_output.dtype


# Sliding blocks.


def pair(name: str, value: Any) -> tuple[int, int]:
    """Two numbers, of one or two."""
    values = (value,) if isinstance(value, int) else tuple(value)
    if len(values) not in (1, 2):
        raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(values)}")
    return (values[0], values[-1])


def _block_parameters(
    kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> list[tuple[int, int]]:
    named = {
        "kernel_size": kernel_size,
        "dilation": dilation,
        "padding": padding,
        "stride": stride,
    }
    pairs = [pair(name, value) for name, value in named.items()]
    for name, (height, width) in zip(named, pairs, strict=True):
        least, word = (0, "non-negative") if name == "padding" else (1, "greater than zero")
        if height < least or width < least:
            shown = name.removesuffix("_size")
            raise RuntimeError(
                f"{name.replace('_', ' ')} should be {word}, but got {shown}_height: {height} "
                f"{shown}_width: {width}"
            )
    return pairs


def _count_blocks(sizes: Sequence[int], pairs: list[tuple[int, int]]) -> tuple[int, int]:
    kernel, dilation, padding, stride = pairs
    height, width = (
        (size + 2 * p - d * (k - 1) - 1) // s + 1
        for size, k, d, p, s in zip(sizes, kernel, dilation, padding, stride, strict=True)
    )
    if height < 1 or width < 1:
        raise RuntimeError(
            f"Given input with spatial size ({sizes[0]}, {sizes[1]}), kernel_size={kernel}, "
            f"dilation={dilation}, padding={padding}, calculated shape of the array of sliding "
            f"blocks as ({height}, {width}), but its components must be at least one."
        )
    return height, width


def im2col(
    self: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> tuple[Sizes, Any]:
    """Shape: (N, C, H, W) -> (N, C * KH * KW, OH * OW); the batch dim may be missing."""
    pairs = _block_parameters(kernel_size, dilation, padding, stride)
    if self.ndim not in (3, 4) or 0 in self.shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other "
            f"non-zero dimensions for input, but got: {list(self.shape)}"
        )
    height, width = _count_blocks(self.shape[-2:], pairs)
    columns = (self.shape[-3] * prod(pairs[0]), height * width)
    return (*self.shape[:-3], *columns), self.dtype


def col2im(
    self: Any, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> tuple[Sizes, Any]:
    """Shape: (N, C * KH * KW, L) -> (N, C, *output_size); the batch dim may be missing."""
    size = pair("output_size", output_size)
    pairs = _block_parameters(kernel_size, dilation, padding, stride)
    if self.ndim not in (2, 3) or 0 in self.shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(self.shape)}"
        )
    area = prod(pairs[0])
    dim = self.ndim - 2
    if self.shape[-2] % area:
        raise RuntimeError(
            f"Expected size of input's dimension {dim} to be divisible by the product of "
            f"kernel_size, but got input.size({dim})={self.shape[-2]} and kernel_size={pairs[0]}."
        )
    height, width = _count_blocks(size, pairs)
    if self.shape[-1] != height * width:
        raise RuntimeError(
            f"Given output_size={size}, kernel_size={pairs[0]}, dilation={pairs[1]}, "
            f"padding={pairs[2]}, stride={pairs[3]}, expected size of input's dimension {dim + 1} "
            f"to match the calculated number of sliding blocks {height} * {width} = "
            f"{height * width}, but got input.size({dim + 1})={self.shape[-1]}."
        )
    return (*self.shape[:-2], self.shape[-2] // area, *size), self.dtype
