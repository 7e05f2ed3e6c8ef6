"""Padding layers."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.nn.module import Module
from torchgen_out.nn import functional as F


class _Pad(Module):
    """Pads the last `ndim` dims; one number pads both sides of all of them."""

    ndim: int
    mode = "constant"

    def __init__(self, padding: Any) -> None:
        super().__init__()
        sides = 2 * self.ndim
        self.padding = (padding,) * sides if isinstance(padding, int) else tuple(padding)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return F.pad(input, self.padding, self.mode)

    def _check_input_dim(self, input: Any) -> None:
        """What padding with a constant leaves open: any number of dims."""

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _CircularPadNd(_Pad):
    """Pads with the other end; a batch or none, and channels, come before the padded dims."""

    mode = "circular"

    def _check_input_dim(self, input: Any) -> None:
        dims = (self.ndim + 1, self.ndim + 2)
        if input.dim() not in dims:
            raise ValueError(f"expected {dims[0]}D or {dims[1]}D input (got {input.dim()}D input)")


class _ConstantPadNd(_Pad):
    """Pads with one value."""

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Pads the last dim with a value."""

    ndim = 1


class ConstantPad2d(_ConstantPadNd):
    """Pads the last two dims with a value."""

    ndim = 2


class ConstantPad3d(_ConstantPadNd):
    """Pads the last three dims with a value."""

    ndim = 3


class _ZeroPad(_ConstantPadNd):
    """Pads with zeros."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad):
    """Pads the last dim with zeros."""

    ndim = 1


class ZeroPad2d(_ZeroPad):
    """Pads the last two dims with zeros."""

    ndim = 2


class ZeroPad3d(_ZeroPad):
    """Pads the last three dims with zeros."""

    ndim = 3


class ReflectionPad1d(_Pad):
    """Pads the last dim with its reflection."""

    ndim, mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """Pads the last two dims with their reflection."""

    ndim, mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """Pads the last three dims with their reflection."""

    ndim, mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """Pads the last dim with its edge."""

    ndim, mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """Pads the last two dims with their edge."""

    ndim, mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """Pads the last three dims with their edge."""

    ndim, mode = 3, "replicate"


class CircularPad1d(_CircularPadNd):
    """Pads the last dim with its other end."""

    ndim = 1


class CircularPad2d(_CircularPadNd):
    """Pads the last two dims with their other end."""

    ndim = 2


class CircularPad3d(_CircularPadNd):
    """Pads the last three dims with their other end."""

    ndim = 3
