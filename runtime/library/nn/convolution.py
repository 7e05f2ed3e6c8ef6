"""Convolution layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.nn import init
from torchgen_out._runtime.library.nn.module import Module
from torchgen_out._runtime.library.nn.parameter import Parameter
from torchgen_out._runtime.library.nn.per_dim import _ntuple, _single
from torchgen_out.nn import functional as F

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all convolutions share: arguments, weights, printing."""

    ndim: int
    transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        output_padding: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any,
        dtype: Any,
    ) -> None:
        super().__init__()
        _check(in_channels, out_channels, groups, padding, padding_mode, stride)
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        per_dim = _ntuple(self.ndim)
        self.kernel_size, self.output_padding = per_dim(kernel_size), per_dim(output_padding)
        self.stride, self.dilation = per_dim(stride), per_dim(dilation)
        self.padding = padding if isinstance(padding, str) else per_dim(padding)
        self.padding_mode = padding_mode
        first, second = out_channels, in_channels // groups
        if self.transposed:
            first, second = in_channels, out_channels // groups
        shape = (first, second, *self.kernel_size)
        self.weight = Parameter(torch.empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def _both_sides(self) -> list[int]:
        """The padding before and after each dim, last dim first, as `F.pad` wants it."""
        if self.padding == "valid":
            return [0] * (2 * self.ndim)
        sides = []
        for dim in range(self.ndim - 1, -1, -1):
            if self.padding == "same":
                total = self.dilation[dim] * (self.kernel_size[dim] - 1)
                sides += [total // 2, total - total // 2]
            else:
                sides += [self.padding[dim]] * 2
        return sides

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        zeros, ones = (0,) * self.ndim, (1,) * self.ndim
        if self.padding != zeros:
            text += f", padding={self.padding}"
        if self.dilation != ones:
            text += f", dilation={self.dilation}"
        if self.output_padding != zeros:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


def _check(
    in_channels: int, out_channels: int, groups: int, padding: Any, mode: str, stride: Any
) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(
                f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}"
            )
        if padding == "same" and any(step != 1 for step in _single(stride)):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if mode not in _PADDING_MODES:
        raise ValueError(
            f"padding_mode must be one of {set(_PADDING_MODES)}, but got padding_mode='{mode}'"
        )


class _Forward(_ConvNd):
    """A convolution in the usual direction."""

    convolve: Callable[..., Tensor]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            0,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._both_sides(), mode=self.padding_mode)
            padding = (0,) * self.ndim
        return self.convolve(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )


class Conv1d(_Forward):
    """Convolution over one dim. Shape: (N, C_in, L) -> (N, C_out, L_out)."""

    ndim = 1

    def convolve(self, *args: Any) -> Tensor:
        return F.conv1d(*args)


class Conv2d(_Forward):
    """Convolution over two dims. Shape: (N, C_in, H, W) -> (N, C_out, H_out, W_out)."""

    ndim = 2

    def convolve(self, *args: Any) -> Tensor:
        return F.conv2d(*args)


class Conv3d(_Forward):
    """Convolution over three dims. Shape: (N, C_in, D, H, W) -> (N, C_out, D_out, H_out, W_out)."""

    ndim = 3

    def convolve(self, *args: Any) -> Tensor:
        return F.conv3d(*args)


class _ConvTransposeNd(_ConvNd):
    """The gradient of a convolution with respect to its input, as a layer."""

    transposed = True
    convolve: Callable[..., Tensor]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            output_padding,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Any, output_size: Any = None) -> Any:
        """Convolve; `output_size` chooses among the sizes that the stride leaves open."""
        extra = self.output_padding
        if output_size is not None:
            extra = self._output_padding_for(input, list(output_size))
        return self.convolve(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            extra,
            self.groups,
            self.dilation,
        )

    def _output_padding_for(self, input: Any, wanted: list[int]) -> tuple[int, ...]:
        missing = input.dim() - self.ndim
        if len(wanted) == input.dim():
            wanted = wanted[missing:]
        if len(wanted) != self.ndim:
            raise ValueError(
                f"ConvTranspose{self.ndim}D: for {input.dim()}D input, output_size must have "
                f"{self.ndim} or {input.dim()} elements (got {len(wanted)})"
            )
        least = [
            (input.size(missing + dim) - 1) * self.stride[dim]
            - 2 * self.padding[dim]
            + self.dilation[dim] * (self.kernel_size[dim] - 1)
            + 1
            for dim in range(self.ndim)
        ]
        most = [low + step - 1 for low, step in zip(least, self.stride, strict=True)]
        if any(
            not low <= size <= high for low, size, high in zip(least, wanted, most, strict=True)
        ):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {least} to "
                f"{most} (for an input of {list(input.shape)[2:]})"
            )
        return tuple(size - low for size, low in zip(wanted, least, strict=True))


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution over one dim. Shape: (N, C_in, L) -> (N, C_out, L_out)."""

    ndim = 1

    def convolve(self, *args: Any) -> Tensor:
        return F.conv_transpose1d(*args)


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed convolution over two dims. Shape: (N, C_in, H, W) -> (N, C_out, H_out, W_out)."""

    ndim = 2

    def convolve(self, *args: Any) -> Tensor:
        return F.conv_transpose2d(*args)


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed convolution over three dims."""

    ndim = 3

    def convolve(self, *args: Any) -> Tensor:
        return F.conv_transpose3d(*args)
