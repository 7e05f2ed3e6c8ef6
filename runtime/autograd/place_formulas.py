"""Backward formulas of operators that move elements: joining, indexing, scatter, scans.

`formulas.py` shows them to derivatives.yaml. The same rules hold: differentiable operators only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.finfo import finfo
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

# -- joining and rearranging ------------------------------------------------------------------


def cat_backward(grad: Any, sizes: Sequence[Sequence[int]], dim: int) -> list[Tensor]:
    """Each tensor gets its part of the gradient; one of shape (0,) nothing."""
    pieces, start = [], 0
    for each in sizes:
        if tuple(each) == (0,):
            pieces.append(grad.new_zeros((0,)))
            continue
        pieces.append(grad.narrow(dim, start, each[dim]))
        start += each[dim]
    return pieces


def roll_backward(grad: Any, shifts: Any, dims: Any) -> Tensor:
    """Roll back."""
    back = [-shift for shift in shifts] if isinstance(shifts, (tuple, list)) else -shifts
    return grad.roll(back, dims)  # type: ignore[no-any-return]


def repeat_backward(grad: Any, repeats: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """Add up the copies."""
    if 0 in repeats:
        return grad.new_zeros(sizes)  # type: ignore[no-any-return]
    missing = len(repeats) - len(sizes)
    padded = (1,) * missing + tuple(sizes)
    apart = [n for pair in zip(repeats, padded, strict=True) for n in pair]
    copies = list(range(0, len(apart), 2))
    summed = grad.reshape(apart).sum(copies) if copies else grad
    return summed.reshape(sizes)  # type: ignore[no-any-return]


def repeat_interleave_backward(
    grad: Any, sizes: Sequence[int], repeats: int, dim: int | None
) -> Tensor:
    """Add up the neighbours that are copies of one element."""
    at = len(sizes) if dim is None else dim % max(len(sizes), 1) + 1
    apart = grad.reshape((*sizes[:at], repeats, *sizes[at:]))
    return apart.sum(at)  # type: ignore[no-any-return]


# -- indexing ---------------------------------------------------------------------------------


def masked_select_backward(grad: Any, self: Tensor, mask: Tensor) -> Tensor:
    """Put the gradient where the elements stood; the engine sums over broadcast dims."""
    sizes = shapes.broadcast_shapes(self.shape, mask.shape)
    return grad.new_zeros(sizes).masked_scatter(mask, grad)  # type: ignore[no-any-return]


def masked_scatter_backward(grad: Any, mask: Any, sizes: Sequence[int]) -> Tensor:
    """Collect the gradient of what was written; the rest of the source had no influence."""
    taken = grad.masked_select(mask)
    left = math.prod(sizes) - taken.numel()
    if left:
        taken = ops.cat([taken, taken.new_zeros((left,))])
    return taken.reshape(sizes)  # type: ignore[no-any-return]


def embedding_dense_double_backward(
    grad: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool
) -> Tensor:
    """Look up the rows, as the forward does; none for the padding."""
    flat = indices.reshape((-1,))
    rows = grad.index_select(0, flat)
    if scale_grad_by_freq:
        rows = rows / ops.bincount(flat).index_select(0, flat).unsqueeze(-1)
    rows = rows.masked_fill((flat == padding_idx).unsqueeze(-1), 0)
    return rows.reshape((*indices.shape, grad.shape[-1]))  # type: ignore[no-any-return]


def index_fill_value_backward(grad: Any, dim: int, index: Any) -> Tensor:
    """Add up the gradient of all places filled; a place named twice was filled once."""
    filled = ops.zeros_like(grad, dtype=dtypes.bool).index_fill(dim, index, True)
    return grad.masked_fill(filled.logical_not(), 0).sum()  # type: ignore[no-any-return]


def scatter_source_backward(grad: Any, dim: int, index: Any, sizes: Sequence[int]) -> Tensor:
    """Gather; what `index` does not cover of the source had no influence."""
    return _grow(grad.gather(dim, index), sizes)


def _grow(grad: Any, sizes: Sequence[int]) -> Tensor:
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
    return grad  # type: ignore[no-any-return]


def _cut(tensor: Any, sizes: Sequence[int]) -> Any:
    if tensor.ndim < len(sizes):
        tensor = tensor.reshape((1,) * len(sizes))  # one number, beside an index of one or none
    for dim, size in enumerate(sizes):
        if tensor.shape[dim] != size:
            tensor = tensor.narrow(dim, 0, size)
    return tensor


def scatter_reduce_backward(
    grad: Any,
    self: Any,
    dim: int,
    index: Any,
    src: Any,
    reduce: str,
    include_self: bool,
    result: Any,
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


def _mean_parts(grad: Any, dim: int, index: Any, src: Any, include_self: bool) -> Any:
    counts = grad.new_ones(grad.shape) if include_self else grad.new_zeros(grad.shape)
    counts = counts.scatter_add(dim, index, counts.new_ones(src.shape))
    part = grad / counts.masked_fill(counts == 0, 1)
    return part, part.gather(dim, index)


def _prod_parts(
    grad: Any, self: Any, dim: int, index: Any, src: Any, include_self: bool, result: Any
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
    grad: Any, self: Any, dim: int, index: Any, src: Any, include_self: bool, result: Any
) -> Any:
    """amax and amin: shared equally by all that have the value."""
    from_self = (self == result).to(grad.dtype)
    from_src = (src == result.gather(dim, index)).to(grad.dtype)
    counts = from_self if include_self else from_self.scatter(dim, index, 0)
    counts = counts.scatter_add(dim, index, from_src)
    part = grad / counts.masked_fill(counts == 0, 1)
    return part * from_self, part.gather(dim, index) * from_src


def index_reduce_backward(
    grad: Any,
    self: Any,
    dim: int,
    index: Any,
    source: Any,
    reduce: str,
    include_self: bool,
    result: Any,
) -> tuple[Tensor, Tensor]:
    """As `scatter_reduce`, with one index for a whole slice."""
    if source.ndim:
        extent = [1] * source.ndim
        extent[dim] = -1
        index = index.reshape(extent).expand(source.shape)
    return scatter_reduce_backward(grad, self, dim, index, source, reduce, include_self, result)


# -- scans ------------------------------------------------------------------------------------


def cumsum_backward(grad: Any, dim: int) -> Tensor:
    """Sum up from the end."""
    if grad.numel() <= 1 or grad.shape[dim] == 1:
        return grad  # type: ignore[no-any-return]
    return grad.flip((dim,)).cumsum(dim).flip((dim,))  # type: ignore[no-any-return]


def cumprod_backward(grad: Any, self: Any, dim: int, result: Any) -> Tensor:
    """Element k gets the sum over i >= k of grad[i] times the product of the others up to i."""
    if not self.shape:
        return grad  # type: ignore[no-any-return]
    if self.dtype.is_complex:
        self, result = self.conj(), result.conj()
    is_zero = self == 0
    if not bool(is_zero.any()):
        return cumsum_backward(grad * result, dim) / self
    if grad_mode.is_enabled():
        return _cumprod_backward_by_element(grad, self, dim)
    # What stands behind the first zero has a zero factor; the first zero itself gets the products
    # with a one in its place.
    zeros_so_far = is_zero.cumsum(dim)
    first = is_zero.logical_and(zeros_so_far == 1)
    without = self.masked_fill(first, 1).cumprod(dim)
    before = cumsum_backward(grad * result, dim) / self.masked_fill(is_zero, 1)
    at_first = cumsum_backward(grad * without, dim)
    return ops.where(first, at_first, before.masked_fill(zeros_so_far > 0, 0))  # type: ignore[no-any-return]


def _cumprod_backward_by_element(grad: Any, self: Any, dim: int) -> Tensor:
    """The definition, element by element: right to every order at zeros, but quadratic."""
    size = self.shape[dim]
    parts = []
    for k in range(size):
        ahead = self.narrow(dim, 0, k).prod(dim, keepdim=True)
        behind = self.narrow(dim, k + 1, size - k - 1).cumprod(dim)
        others = ops.cat([ahead, ahead * behind], dim)
        parts.append((grad.narrow(dim, k, size - k) * others).sum(dim, keepdim=True))
    return ops.cat(parts, dim)  # type: ignore[no-any-return]


def logcumsumexp_backward(grad: Any, self: Any, result: Any, dim: int) -> Tensor:
    """Element k gets the sum over i >= k of grad[i] * exp(self[k] - result[i]).

    Summed as logarithms, positive and negative gradients apart, so that nothing overflows.
    """
    if not self.shape:
        return grad  # type: ignore[no-any-return]
    if grad.dtype.is_complex:
        weights = (grad.log() - result.conj()).flip((dim,)).logcumsumexp(dim).flip((dim,))
        return (weights + self.conj()).exp()  # type: ignore[no-any-return]
    lowest = finfo(grad.dtype).min
    logarithm = grad.abs().log()

    def part(chosen: Any) -> Any:
        weights = ops.where(chosen, logarithm, lowest) - result
        sums = weights.flip((dim,)).logcumsumexp(dim).flip((dim,))
        return (sums + self).exp()

    return part(grad > 0) - part(grad < 0)  # type: ignore[no-any-return]
