"""Gradients of pooling's gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def gather_pooled(grad: Tensor, indices: Tensor, count: int) -> Any:
    """The elements that the windows chose."""
    sizes = indices._sizes
    flat = indices.flatten(len(sizes) - count)
    return grad.flatten(len(sizes) - count).gather(-1, flat).view(sizes)


def avg_pool_like(
    grad: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    count: int,
) -> Any:
    """The mean over windows of `count` dims."""
    pool = ops.avg_pool2d if count == 2 else ops.avg_pool3d
    return pool(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def adaptive_avg_pool_like(grad: Tensor, sizes: Sequence[int], count: int) -> Any:
    """The mean over as many windows as the pooled `sizes` say."""
    pool = ops._adaptive_avg_pool2d if count == 2 else ops._adaptive_avg_pool3d
    return pool(grad, sizes[len(sizes) - count :])
