"""Pooling by the p-norm of each window."""

from __future__ import annotations

from collections.abc import Callable
from math import isinf, prod
from typing import Any

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

Pool = Callable[..., Tensor]


def _lp_pool(pool: Pool, input: Tensor, norm_type: float, window: list[int], *rest: Any) -> Tensor:
    """(sum of x^p)^(1/p), from the windows' means of x^p: of odd p, sums may be negative."""
    sums = pool(input.pow(norm_type), window, *rest).mul(prod(window))
    return sums if norm_type == 1 else sums.pow(1.0 / norm_type)


def _at_infinity(
    pool: Pool, input: Tensor, norm_type: float, window: list[int], *rest: Any
) -> Tensor:
    """The norm of order inf, the largest magnitude of each window, or of -inf, the smallest."""
    if norm_type > 0:
        return pool(input.abs(), window, *rest)
    return -pool(-input.abs(), window, *rest)


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: int, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window. Shape: (N, C, L) -> (N, C, L_out)."""
    window = [kernel_size]
    if isinf(norm_type):
        return _at_infinity(ops.max_pool1d, input, norm_type, window, stride, 0, 1, ceil_mode)
    return _lp_pool(ops.avg_pool1d, input, norm_type, window, stride, 0, ceil_mode)


def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window. Shape: (N, C, D, H, W) -> likewise."""
    window = [kernel_size] * 3 if isinstance(kernel_size, int) else list(kernel_size)
    if isinf(norm_type):
        return _at_infinity(ops.max_pool3d, input, norm_type, window, stride, 0, 1, ceil_mode)
    return _lp_pool(ops.avg_pool3d, input, norm_type, window, stride, 0, ceil_mode)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window. Shape: (N, C, H, W) -> (N, C, H_out, W_out)."""
    window = [kernel_size] * 2 if isinstance(kernel_size, int) else list(kernel_size)
    if isinf(norm_type):
        return _at_infinity(ops.max_pool2d, input, norm_type, window, stride, 0, 1, ceil_mode)
    return _lp_pool(ops.avg_pool2d, input, norm_type, window, stride, 0, ceil_mode)
