"""Padding, resizing and shuffling layers."""

from __future__ import annotations

from typing import Any

from runtime.nn.module import Module
from torchgen_out.nn import functional as F


class _Pad(Module):
    """Pads the last `ndim` dims; one number pads both sides of all of them."""

    ndim: int
    mode = "constant"

    def __init__(self, padding: Any) -> None:
        super().__init__()
        sides = 2 * self.ndim
        self.padding = (padding,) * sides if isinstance(padding, int) else tuple(padding)

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    """Pads with one value."""

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """Pads the last dim with a value."""

    ndim = 1


class ConstantPad2d(_ConstantPad):
    """Pads the last two dims with a value."""

    ndim = 2


class ConstantPad3d(_ConstantPad):
    """Pads the last three dims with a value."""

    ndim = 3


class _ZeroPad(_ConstantPad):
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


class ReplicationPad1d(_Pad):
    """Pads the last dim with its edge."""

    ndim, mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """Pads the last two dims with their edge."""

    ndim, mode = 2, "replicate"


class CircularPad1d(_Pad):
    """Pads the last dim with its other end."""

    ndim, mode = 1, "circular"


class CircularPad2d(_Pad):
    """Pads the last two dims with their other end."""

    ndim, mode = 2, "circular"


class Upsample(Module):
    """Resizes the dims after the channels, to `size` or by `scale_factor`."""

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.size, self.mode, self.align_corners = size, mode, align_corners
        self.recompute_scale_factor = recompute_scale_factor
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None

    def forward(self, input: Any) -> Any:
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"
        return f"size={self.size!r}, mode={self.mode!r}"


class PixelShuffle(Module):
    """(*, C r^2, H, W) -> (*, C, H r, W r)."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Any:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """(*, C, H r, W r) -> (*, C r^2, H, W)."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Any) -> Any:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"
