"""Gradients of products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from torchgen_out._runtime.core.tensor import Tensor


def mm_grad_self(grad: Tensor, mat2: Tensor, sizes: Sequence[int], strides: Sequence[int]) -> Any:
    """grad @ mat2^H, in the layout of the operand that it belongs to."""
    factor = mat2.conj() if mat2.dtype.is_complex else mat2
    if _is_transposed(sizes, strides):
        return factor.mm(grad.t()).t()
    return grad.mm(factor.t())


def mm_grad_mat2(grad: Tensor, self: Tensor, sizes: Sequence[int], strides: Sequence[int]) -> Any:
    """self^H @ grad, in the layout of the operand that it belongs to."""
    factor = self.conj() if self.dtype.is_complex else self
    if _is_transposed(sizes, strides):
        return grad.t().mm(factor).t()
    return factor.t().mm(grad)


def _is_transposed(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether columns lie one after the other. A leaf keeps such a gradient without a copy."""
    rows, columns = sizes
    return tuple(strides) == (1, rows) and rows > 1 and columns > 1


def linear_grad_input(grad: Tensor, weight: Tensor) -> Any:
    """grad @ weight, all rows in one product; the weight may be a vector."""
    factor = weight.conj() if weight.dtype.is_complex else weight
    if len(weight._sizes) == 1:
        return grad.unsqueeze(-1) * factor
    return grad.mm(factor) if len(grad._sizes) == 2 else grad.matmul(factor)


def linear_grad_weight(grad: Tensor, input: Tensor) -> Any:
    """grad.T @ input over all rows; a weight that is a vector has a gradient with one dim less."""
    if input.dtype.is_complex:
        input = input.conj()
    sizes = input._sizes
    if len(grad._sizes) < len(sizes):
        return grad.unsqueeze(-1) * input
    if len(sizes) != 2:
        rows = prod(sizes[:-1])
        input = input.reshape((rows, sizes[-1]))
        grad = grad.reshape((rows, grad._sizes[-1]))
    return grad.t().mm(input)
