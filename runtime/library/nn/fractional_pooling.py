"""Layers of fractional max pooling."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.library.nn.module import Module
from torchgen_out.nn import functional as F


class _FractionalMaxPool(Module):
    """The sizes of windows and results, or the ratio of these to the input's."""

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if output_size is None and output_ratio is None:
            name = type(self).__name__
            raise ValueError(
                f"{name} requires specifying either an output size, or a pooling ratio"
            )
        ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,)
        if output_ratio is not None and not all(0 < ratio < 1 for ratio in ratios):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")
        self.kernel_size, self.output_size = kernel_size, output_size
        self.output_ratio, self.return_indices = output_ratio, return_indices
        self.register_buffer("_random_samples", _random_samples)

    def _arguments(self) -> tuple[Any, ...]:
        sizes = self.kernel_size, self.output_size, self.output_ratio
        return (*sizes, self.return_indices, self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPool):
    """Maxima over windows at random places. Shape: (N, C, H, W) or (C, H, W) -> likewise."""

    def forward(self, input: Any) -> Any:
        return F.fractional_max_pool2d(input, *self._arguments())


class FractionalMaxPool3d(_FractionalMaxPool):
    """Maxima over windows at random places. Shape: (N, C, T, H, W) or (C, T, H, W) -> likewise."""

    def forward(self, input: Any) -> Any:
        return F.fractional_max_pool3d(input, *self._arguments())
