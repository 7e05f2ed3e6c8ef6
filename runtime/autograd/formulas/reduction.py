"""Gradients of reductions: sums, products, extremes, norms, moments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import inf, prod
from typing import Any

from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.autograd.formulas.pointwise import conj
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core import tensor as tensors
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

_BARE = ~(keys.GRAD | keys.ZERO_DIM | keys.OVERRIDES)
"""The bits of a gradient's key that its views keep."""


def restore_reduced_dims(x: Tensor, sizes: Sequence[int], dim: Any, keepdim: bool) -> Tensor:
    """Give the result of a reduction over `dim` (None or empty: all) its lost dims of size 1.

    sizes: of what was reduced. A 0-d result is returned as it is: it broadcasts.
    """
    if keepdim or not x._sizes:
        return x
    reduced = shapes.normalize_dims(dim, len(sizes))
    return x.reshape([1 if i in reduced else size for i, size in enumerate(sizes)])


def sum_backward(grad: Tensor, sizes: Size, dim: Any, keepdim: bool) -> Tensor:
    """The gradient of a sum: every element that was added gets the sum's."""
    if not grad._sizes and not grad_mode.state.enabled:  # expand, without a dispatch
        key = grad._key & _BARE if sizes else grad._key & _BARE | keys.ZERO_DIM
        return tensors.build(key, sizes, (0,) * len(sizes), grad._offset, grad._storage)
    return restore_reduced_dims(grad, sizes, dim, keepdim).expand(sizes)


def mean_backward(grad: Tensor, sizes: Sequence[int], dim: Any, keepdim: bool) -> Tensor:
    """The gradient of a mean: an equal part for every element, in memory of its own each."""
    dims = shapes.normalize_dims(dim, len(sizes)) if sizes else ()
    count = math.prod([sizes[i] for i in dims])
    return restore_reduced_dims(grad, sizes, dim, keepdim).expand(sizes) / count


def prod_backward(
    grad: Tensor, self: Tensor, result: Tensor, dim: int | None, keepdim: bool
) -> Tensor:
    """The gradient of a product: the product of all other elements."""
    if not self._sizes:
        return grad
    grad = restore_reduced_dims(grad, self._sizes, dim, keepdim)
    if bool((self == 0).any()):
        if dim is None:
            return grad * conj(_product_of_others(self.reshape(-1), 0).reshape(self._sizes))
        return grad * conj(_product_of_others(self, dim))
    result = restore_reduced_dims(result, self._sizes, dim, keepdim)
    return grad * conj(result / self)


def _product_of_others(self: Tensor, dim: int) -> Tensor:
    """For each element the product of the others along `dim`, without dividing."""
    size = self._sizes[dim]
    one = self.narrow(dim, 0, min(size, 1)).detach()
    one = ops.ones_like(one)
    before = ops.cat([one, self.narrow(dim, 0, size - 1)], dim).cumprod(dim)
    behind = ops.cat([one, self.narrow(dim, 1, size - 1).flip(dim)], dim).cumprod(dim)
    return before * behind.flip(dim)


def amax_backward(grad: Tensor, self: Tensor, result: Tensor, dim: Any, keepdim: bool) -> Tensor:
    """The gradient of amax and amin: shared equally by all elements that have the value."""
    result = restore_reduced_dims(result, self._sizes, dim, keepdim)
    grad = restore_reduced_dims(grad, self._sizes, dim, keepdim)
    chosen = self == result
    return grad * chosen / chosen.sum(dim, keepdim=True)


def evenly_distribute_backward(grad: Tensor, self: Tensor, value: Tensor) -> Tensor:
    """The gradient of a 0-d `value` chosen from all elements: shared by all that have it."""
    chosen = self == value
    if self.dtype.is_floating_point:
        chosen = chosen.logical_or(self.isnan().logical_and(value.isnan()))
    return chosen * (grad / chosen.sum())


def value_selecting_reduction_backward(
    grad: Tensor, dim: int, indices: Tensor, sizes: Sequence[int], keepdim: bool
) -> Tensor:
    """The gradient of an operator that picks elements along `dim`: it goes where they stood."""
    if sizes and not keepdim:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return grad.new_zeros(sizes).scatter_(dim, indices, grad)


def vector_norm_backward(
    grad: Tensor, self: Tensor, ord: Any, norm: Tensor, dim: Any, keepdim: bool
) -> Any:
    """The gradient of a p-norm; 0 where the norm is 0, a subgradient."""
    sizes = self._sizes
    grad = restore_reduced_dims(grad, sizes, dim, keepdim)
    norm = restore_reduced_dims(norm, sizes, dim, keepdim)
    if ord == 0:
        return None
    if ord == 1:
        return self.sgn() * grad
    if ord == 2:
        return self * (grad / norm).masked_fill(norm == 0, 0)
    size = self.abs()
    if ord in (inf, -inf):
        return self.sgn() * _share_of_extremes(size, ord, norm, dim) * grad
    if ord < 1:
        powers = self.sgn() * size.pow(ord - 1).masked_fill(self == 0, 0)
        return powers * grad * norm.pow(1 - ord)
    if ord < 2:
        powers = self.sgn() * size.pow(ord - 1)
        return powers * (grad / norm.pow(ord - 1)).masked_fill(norm == 0, 0)
    return self * size.pow(ord - 2) * (grad / norm.pow(ord - 1)).masked_fill(norm == 0, 0)


def pair_distances_backward(
    grad: Tensor, self: Tensor, rows: Tensor, columns: Tensor, norm: Tensor
) -> Tensor:
    """The gradient of the lengths of rows' differences; 0 where a length is 0, a subgradient."""
    shares = (grad / norm).masked_fill(norm == 0, 0).unsqueeze(-1)
    shares = (self.index_select(0, rows) - self.index_select(0, columns)) * shares
    found: Tensor = ops.zeros_like(self).index_add(0, rows, shares)
    return found.index_add(0, columns, shares, alpha=-1)


def _share_of_extremes(size: Tensor, ord: Any, norm: Tensor, dim: Any) -> Any:
    """1 / count for the magnitudes that are the extreme one, 0 for the others."""
    if not size._sizes:
        return 1
    dims = list(range(len(size._sizes))) if dim is None else dim
    extreme = size.amax(dims, True) if ord > 0 else size.amin(dims, True)
    chosen = (size == extreme) | (size.isnan() & norm.isnan())
    return chosen.to(size.dtype) / chosen.sum(dims, keepdim=True)


def var_backward(grad: Tensor, self: Tensor, dim: Any, correction: Any, keepdim: bool) -> Any:
    """2 / (count - correction) * grad * (x - mean)."""
    sizes = self._sizes
    dims = _moment_dims(sizes, dim)
    freedom = prod(sizes[d] for d in dims) - (1 if correction is None else correction)
    grad = restore_reduced_dims(grad, sizes, dim, keepdim)
    distance = self - self.mean(list(dims), True) if sizes else self - self
    return distance * (grad * (2.0 / freedom if freedom else inf))


def _moment_dims(sizes: Sequence[int], dim: Any) -> tuple[int, ...]:
    whole = dim is None or (not isinstance(dim, int) and not len(dim))
    return shapes.normalize_dims(None if whole or not sizes else dim, len(sizes))


def std_backward(
    result: Tensor, grad: Tensor, self: Tensor, dim: Any, correction: Any, keepdim: bool
) -> Any:
    """The variance's gradient over twice the result; 0 where that is 0."""
    of_var = (grad / (result * 2)).masked_fill(result == 0, 0)
    return var_backward(of_var, self, dim, correction, keepdim)


def _mean_backward(grad: Tensor, sizes: Sequence[int], dim: Any, keepdim: bool) -> Any:
    """An equal part for every element."""
    count = prod(sizes[d] for d in _moment_dims(sizes, dim))
    return restore_reduced_dims(grad, sizes, dim, keepdim) / count


def var_mean_backward(
    grads: Sequence[Tensor], self: Tensor, dim: Any, correction: Any, keepdim: bool
) -> Any:
    """The gradients through both results."""
    of_mean = _mean_backward(grads[1], self._sizes, dim, keepdim)
    return var_backward(grads[0], self, dim, correction, keepdim) + of_mean


def std_mean_backward(
    grads: Sequence[Tensor], std: Tensor, self: Tensor, dim: Any, correction: Any, keepdim: bool
) -> Any:
    """The gradients through both results."""
    of_mean = _mean_backward(grads[1], self._sizes, dim, keepdim)
    return std_backward(std, grads[0], self, dim, correction, keepdim) + of_mean


def trace_backward(grad: Tensor, sizes: Sequence[int]) -> Tensor:
    """The gradient along the main diagonal of zeros."""
    result: Tensor = ops.diagonal_backward(grad.expand((min(sizes),)), sizes, 0, 0, 1)
    return result


def bin_sums_backward(grad: Tensor, points: Tensor, edges: Tensor, bins: Sequence[int]) -> Any:
    """The gradient of a histogram's weights: that of the bin in which each point lies."""
    places: Any = 0
    inside: Any = True
    for dim, (size, own) in enumerate(zip(bins, edges.split([n + 1 for n in bins]), strict=True)):
        coordinate = points.select(1, dim).contiguous()
        place = ops.searchsorted(own, coordinate, right=True) - 1
        places = places * size + place.clamp(0, size - 1)
        inside = (coordinate >= own[0]) & (coordinate <= own[-1]) & inside
    return grad.reshape((-1,)).index_select(0, places).masked_fill(~inside, 0)
