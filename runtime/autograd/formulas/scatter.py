"""Gradients of writing to positions that an index tensor or a mask names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def masked_scatter_backward(grad: Tensor, mask: Tensor, sizes: Sequence[int]) -> Tensor:
    """Collect the gradient of what was written; the rest of the source had no influence."""
    taken = grad.masked_select(mask)
    left = math.prod(sizes) - taken.numel()
    if left:
        taken = ops.cat([taken, taken.new_zeros((left,))])
    return taken.reshape(sizes)


def index_fill_value_backward(grad: Tensor, dim: int, index: Tensor) -> Tensor:
    """Add up the gradient of all places filled; a place named twice was filled once."""
    filled = ops.zeros_like(grad, dtype=dtypes.bool).index_fill(dim, index, True)
    return grad.masked_fill(filled.logical_not(), 0).sum()


def scatter_source_backward(grad: Tensor, dim: int, index: Tensor, sizes: Sequence[int]) -> Tensor:
    """Gather; what `index` does not cover of the source had no influence."""
    return _grow(grad.gather(dim, index), sizes)


def _grow(grad: Tensor, sizes: Sequence[int]) -> Tensor:
    """Fill up with zeros behind, in every dim; one number may have other dims than sizes."""
    if grad.ndim != len(sizes):
        one = grad if grad.numel() else grad.new_zeros(1)
        grad = one.reshape((1,) * len(sizes))
    for dim, size in enumerate(sizes):
        missing = size - grad.shape[dim]
        if missing:
            zeros = list(grad.shape)
            zeros[dim] = missing
            grad = ops.cat([grad, grad.new_zeros(zeros)], dim)
    return grad


def _cut(tensor: Tensor, sizes: Sequence[int]) -> Any:
    if tensor.ndim < len(sizes):
        tensor = tensor.reshape((1,) * len(sizes))  # one number, beside an index of one or none
    for dim, size in enumerate(sizes):
        if tensor.shape[dim] != size:
            tensor = tensor.narrow(dim, 0, size)
    return tensor


def scatter_reduce_backward(
    grad: Tensor,
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    include_self: bool,
    result: Tensor,
) -> tuple[Tensor, Tensor]:
    """The gradients of self and of the source."""
    used = _cut(src, index.shape)
    if reduce == "sum":
        of_self, of_src = grad, grad.gather(dim, index)
    elif reduce == "mean":
        of_self, of_src = _mean_parts(grad, dim, index, used, include_self)
    elif reduce == "prod":
        of_self, of_src = _prod_parts(grad, self, dim, index, used, include_self, result)
    else:
        of_self, of_src = _chosen_parts(grad, self, dim, index, used, include_self, result)
    if not include_self:
        of_self = of_self.scatter(dim, index, 0)
    return of_self, _grow(of_src, src.shape)


def _mean_parts(grad: Tensor, dim: int, index: Tensor, src: Tensor, include_self: bool) -> Any:
    counts = grad.new_ones(grad.shape) if include_self else grad.new_zeros(grad.shape)
    counts = counts.scatter_add(dim, index, counts.new_ones(src.shape))
    part = grad / counts.masked_fill(counts == 0, 1)
    return part, part.gather(dim, index)


def _prod_parts(
    grad: Tensor,
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    include_self: bool,
    result: Tensor,
) -> Any:
    """Each factor gets the product of the others.

    Where it is not zero that is the result divided by it; a factor that is zero is replaced by
    one. Of several zero sources in one place, each is multiplied by another zero.
    """
    one_for_zero = self.masked_fill(self == 0, 1)
    others = one_for_zero.scatter_reduce(dim, index, src, "prod", include_self=include_self)
    of_self = grad * others / one_for_zero
    is_zero = src == 0
    zeros = self.new_zeros(self.shape).scatter_add(dim, index, is_zero.to(self.dtype))
    lone = is_zero.logical_and(zeros.gather(dim, index) == 1)
    without = src.masked_fill(lone, 1)
    replaced = self.scatter_reduce(dim, index, without, "prod", include_self=include_self)
    quotient = (grad * result).gather(dim, index) / src.masked_fill(is_zero, 1)
    of_src = ops.where(lone, (grad * replaced).gather(dim, index), quotient)
    return of_self, of_src


def _chosen_parts(
    grad: Tensor,
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    include_self: bool,
    result: Tensor,
) -> Any:
    """amax and amin: shared equally by all that have the value."""
    from_self = (self == result).to(grad.dtype)
    from_src = (src == result.gather(dim, index)).to(grad.dtype)
    counts = from_self if include_self else from_self.scatter(dim, index, 0)
    counts = counts.scatter_add(dim, index, from_src)
    part = grad / counts.masked_fill(counts == 0, 1)
    return part * from_self, part.gather(dim, index) * from_src


def index_reduce_backward(
    grad: Tensor,
    self: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    include_self: bool,
    result: Tensor,
) -> tuple[Tensor, Tensor]:
    """As `scatter_reduce`, with one index for a whole slice."""
    if source.ndim:
        extent = [1] * source.ndim
        extent[dim] = -1
        index = index.reshape(extent).expand(source.shape)
    return scatter_reduce_backward(grad, self, dim, index, source, reduce, include_self, result)
