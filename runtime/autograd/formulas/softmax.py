"""Gradients of softmax's gradient, and of logsumexp."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.autograd.formulas.reduction import restore_reduced_dims
from torchgen_out._runtime.core.tensor import Tensor


def softmax_double_backward(grad: Tensor, grad_output: Tensor, output: Tensor, dim: int) -> Any:
    """The gradient of y * (g - sum(g * y)) with respect to y."""
    inner = (grad_output * output).sum(dim, True)
    outer = (grad * output).sum(dim, True)
    return grad * (grad_output - inner) - grad_output * outer


def logsumexp_backward(grad: Tensor, self: Tensor, result: Tensor, dim: Any, keepdim: bool) -> Any:
    """The softmax times the gradient."""
    sizes = self._sizes
    grad = restore_reduced_dims(grad, sizes, dim, keepdim)
    result = restore_reduced_dims(result, sizes, dim, keepdim)
    weights = (self - result).exp()
    return grad * (weights.conj() if weights.dtype.is_complex else weights)
