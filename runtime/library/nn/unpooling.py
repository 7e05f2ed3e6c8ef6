"""Layers that put maxima back to where they came from."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.library.nn.module import Module
from torchgen_out.nn import functional as F


class _MaxUnpoolNd(Module):
    """Zeros, and at the places that max pooling returned, its results."""

    dims = 1

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = self._each(kernel_size)
        self.stride = self.kernel_size if stride is None else self._each(stride)
        self.padding = self._each(padding)

    def _each(self, value: Any) -> tuple[int, ...]:
        return (value,) * self.dims if isinstance(value, int) else tuple(value)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """The inverse of MaxPool1d but for what it lost. Shape: (N, C, L) -> (N, C, L_in)."""

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        window = self.kernel_size, self.stride, self.padding
        return F.max_unpool1d(input, indices, *window, output_size)


class MaxUnpool2d(_MaxUnpoolNd):
    """The inverse of MaxPool2d but for what it lost. Shape: (N, C, H, W) -> likewise."""

    dims = 2

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        window = self.kernel_size, self.stride, self.padding
        return F.max_unpool2d(input, indices, *window, output_size)


class MaxUnpool3d(_MaxUnpoolNd):
    """The inverse of MaxPool3d but for what it lost. Shape: (N, C, D, H, W) -> likewise."""

    dims = 3

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        window = self.kernel_size, self.stride, self.padding
        return F.max_unpool3d(input, indices, *window, output_size)
