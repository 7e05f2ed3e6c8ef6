"""Maximum pooling that always returns where the maxima stand, under PyTorch's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.library.nn.functional.fractional_pooling import (
    fractional_max_pool2d,
    fractional_max_pool3d,
)

Pair = tuple[Tensor, Tensor]


def _both(pool: Callable[..., Any], *args: Any, **windows: Any) -> Pair:
    """The maxima and where they stand."""
    pair: Pair = pool(*args, **windows, return_indices=True)
    return pair


def max_pool1d_with_indices(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Pair:
    """`max_pool1d` with `return_indices`, whatever is said of it."""
    windows = (input, kernel_size, stride, padding, dilation, ceil_mode)
    return _both(ops.max_pool1d, *windows)


def max_pool2d_with_indices(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Pair:
    """`max_pool2d` with `return_indices`, whatever is said of it."""
    windows = (input, kernel_size, stride, padding, dilation, ceil_mode)
    return _both(ops.max_pool2d, *windows)


def max_pool3d_with_indices(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Pair:
    """`max_pool3d` with `return_indices`, whatever is said of it."""
    windows = (input, kernel_size, stride, padding, dilation, ceil_mode)
    return _both(ops.max_pool3d, *windows)


def adaptive_max_pool1d_with_indices(
    input: Any, output_size: Any, return_indices: bool = False
) -> Pair:
    """`adaptive_max_pool1d` with `return_indices`, whatever is said of it."""
    return _both(ops.adaptive_max_pool1d, input, output_size)


def adaptive_max_pool2d_with_indices(
    input: Any, output_size: Any, return_indices: bool = False
) -> Pair:
    """`adaptive_max_pool2d` with `return_indices`, whatever is said of it."""
    return _both(ops.adaptive_max_pool2d, input, output_size)


def adaptive_max_pool3d_with_indices(
    input: Any, output_size: Any, return_indices: bool = False
) -> Pair:
    """`adaptive_max_pool3d` with `return_indices`, whatever is said of it."""
    return _both(ops.adaptive_max_pool3d, input, output_size)


def fractional_max_pool2d_with_indices(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Pair:
    """`fractional_max_pool2d` with `return_indices`, whatever is said of it."""
    sizes = (kernel_size, output_size, output_ratio)
    return _both(fractional_max_pool2d, input, *sizes, _random_samples=_random_samples)


def fractional_max_pool3d_with_indices(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Pair:
    """`fractional_max_pool3d` with `return_indices`, whatever is said of it."""
    sizes = (kernel_size, output_size, output_ratio)
    return _both(fractional_max_pool3d, input, *sizes, _random_samples=_random_samples)
