"""Shapes of discrete Fourier transforms over dims that the callers have checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def _fft_r2c(self: Any, dim: Sequence[int], normalization: int, onesided: bool) -> Any:
    """Shape: as the input; if onesided, the last of `dim` has n // 2 + 1. dtype: complex."""
    sizes = list(self.shape)
    if onesided:
        sizes[dim[-1]] = sizes[dim[-1]] // 2 + 1
    return tuple(sizes), self.dtype.to_complex()


def _fft_c2r(self: Any, dim: Sequence[int], normalization: int, last_dim_size: int) -> Any:
    """Shape: as the input, with last_dim_size in the last of `dim`. dtype: real."""
    sizes = list(self.shape)
    sizes[dim[-1]] = last_dim_size
    return tuple(sizes), self.dtype.to_real()


def _fft_c2c(self: Any, dim: Sequence[int], normalization: int, forward: bool) -> Any:
    """Shape: as the input."""
    return self.shape, self.dtype
