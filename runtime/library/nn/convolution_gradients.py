"""Gradients of convolutions as functions: `torch.nn.grad`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

__all__ = [
    "conv1d_input",
    "conv1d_weight",
    "conv2d_input",
    "conv2d_weight",
    "conv3d_input",
    "conv3d_weight",
]


def conv1d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The gradient of `conv1d` with respect to an input of the given size."""
    return _of_input(1, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The gradient of `conv1d` with respect to a weight of the given size."""
    return _of_weight(1, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The gradient of `conv2d` with respect to an input of the given size."""
    return _of_input(2, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The gradient of `conv2d` with respect to a weight of the given size."""
    return _of_weight(2, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The gradient of `conv3d` with respect to an input of the given size."""
    return _of_input(3, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The gradient of `conv3d` with respect to a weight of the given size."""
    return _of_weight(3, input, weight_size, grad_output, stride, padding, dilation, groups)


def _of_input(
    dims: int, sizes: Sequence[int], weight: Tensor, grad_output: Tensor, *numbers: Any
) -> Any:
    *each, groups = numbers
    spatial = [_each(value, dims) for value in each]
    sizes = list(sizes)
    conjugate = ops.conj(weight)
    return ops._convolution_grad_input(grad_output, conjugate, sizes, *spatial, False, groups)


def _of_weight(
    dims: int, input: Tensor, sizes: Sequence[int], grad_output: Tensor, *numbers: Any
) -> Any:
    *each, groups = numbers
    spatial = [_each(value, dims) for value in each]
    sizes = list(sizes)
    conjugate = ops.conj(input)
    return ops._convolution_grad_weight(grad_output, conjugate, sizes, *spatial, False, groups)


def _each(value: Any, dims: int) -> list[int]:
    """One number for every spatial dim; a single one stands for all."""
    values = [value] if isinstance(value, int) else list(value)
    return values * dims if len(values) == 1 else values
