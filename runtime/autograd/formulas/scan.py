"""Gradients of cumulative sums and products."""

from __future__ import annotations

from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.core.finfo import finfo
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def cumsum_backward(grad: Tensor, dim: int) -> Tensor:
    """Sum up from the end."""
    if grad.numel() <= 1 or grad.shape[dim] == 1:
        return grad
    return grad.flip((dim,)).cumsum(dim).flip((dim,))


def cumprod_backward(grad: Tensor, self: Tensor, dim: int, result: Tensor) -> Tensor:
    """Element k gets the sum over i >= k of grad[i] times the product of the others up to i."""
    if not self.shape:
        return grad
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
    return ops.where(first, at_first, before.masked_fill(zeros_so_far > 0, 0))


def _cumprod_backward_by_element(grad: Tensor, self: Tensor, dim: int) -> Tensor:
    """The definition, element by element: right to every order at zeros, but quadratic."""
    size = self.shape[dim]
    parts = []
    for k in range(size):
        ahead = self.narrow(dim, 0, k).prod(dim, keepdim=True)
        behind = self.narrow(dim, k + 1, size - k - 1).cumprod(dim)
        others = ops.cat([ahead, ahead * behind], dim)
        parts.append((grad.narrow(dim, k, size - k) * others).sum(dim, keepdim=True))
    return ops.cat(parts, dim)


def logcumsumexp_backward(grad: Tensor, self: Tensor, result: Tensor, dim: int) -> Tensor:
    """Element k gets the sum over i >= k of grad[i] * exp(self[k] - result[i]).

    Summed as logarithms, positive and negative gradients apart, so that nothing overflows.
    """
    if not self.shape:
        return grad
    if grad.dtype.is_complex:
        weights = (grad.log() - result.conj()).flip((dim,)).logcumsumexp(dim).flip((dim,))
        return (weights + self.conj()).exp()
    lowest = finfo(grad.dtype).min
    logarithm = grad.abs().log()

    def part(chosen: Tensor) -> Tensor:
        weights = ops.where(chosen, logarithm, lowest) - result
        sums = weights.flip((dim,)).logcumsumexp(dim).flip((dim,))
        return (sums + self).exp()

    return part(grad > 0) - part(grad < 0)
