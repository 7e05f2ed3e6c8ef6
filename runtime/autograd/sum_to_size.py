"""Bringing a gradient to the shape, dtype and device of the tensor that it is the gradient of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd.node import Edge
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

_DEVICE = keys.DEVICE_MASK << keys.DEVICE_SHIFT


def fit(grad: Tensor, edge: Edge, node: Any) -> Tensor:
    """Sum over what was broadcast, cast, and drop the imaginary part for a real tensor.

    node: what made the gradient, None for a root's.
    Raises: RuntimeError if the gradient's shape is no broadcast of the tensor's, or its device
    another one.
    """
    _, _, sizes, key, _ = edge
    if grad._sizes != sizes:
        dims = summed_dims(grad._sizes, sizes)
        if dims is None:
            raise errors.invalid_gradient(*_origin(edge, node), grad._sizes, sizes)
        grad = sum_over(grad, dims, sizes)
    if (grad._key ^ key) & keys.DTYPE_MASK:
        dtype = dtypes.BY_INDEX[key & keys.DTYPE_MASK]
        if grad.dtype.is_complex and not dtype.is_complex:
            grad = ops.real(grad)
        grad = grad.to(dtype)
    if (grad._key ^ key) & _DEVICE:
        if grad._sizes:
            raise errors.gradient_device(*_origin(edge, node), grad.device)
        grad = grad.to(edge[0].device)
    return grad


def _origin(edge: Edge, node: Any) -> tuple[str, int]:
    """The name of the node which made a gradient, and its place among its results."""
    if node is None:
        return "of the roots", 0
    place = next(place for place, other in enumerate(node.edges) if other is edge)
    return node.name(), place


@lru_cache(maxsize=1024)
def summed_dims(wide: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The dims of `wide` that broadcasting `sizes` made; None if it is no broadcast of it."""
    leading = len(wide) - len(sizes)
    if leading < 0:
        return None
    dims = list(range(leading))
    for dim, (big, small) in enumerate(zip(wide[leading:], sizes, strict=True), leading):
        if big != small:
            if small != 1:
                return None
            dims.append(dim)
    return tuple(dims)


def sum_over(grad: Tensor, dims: tuple[int, ...], sizes: Sequence[int]) -> Tensor:
    """The sum over `dims` with shape `sizes`."""
    leading = len(grad._sizes) - len(sizes)
    if len(dims) == leading:
        return grad.sum(dims)
    total = grad.sum(dims, keepdim=True)
    return total.reshape(sizes) if leading else total
