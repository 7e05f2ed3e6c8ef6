"""Backward formulas of matrix products, norms and moments.

`formulas.py` shows them to derivatives.yaml. The same rules hold: differentiable operators only.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod
from typing import Any

from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.tensor import Tensor

# -- matrix products ---------------------------------------------------------------------------


def scaled(grad: Tensor, scale: Any) -> Any:
    """The gradient times the conjugate of a number; the gradient itself if that is 1."""
    if scale.__class__ is complex:
        scale = scale.conjugate()
    return grad if scale == 1 else grad * scale


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


# -- norms -------------------------------------------------------------------------------------


def _with_reduced_dims(x: Tensor, sizes: Sequence[int], dim: Any, keepdim: bool) -> Any:
    """The result of a reduction over `dim` (none named: all) with sizes of 1 for the lost dims."""
    if keepdim or not sizes:
        return x
    whole = dim is None or (not isinstance(dim, int) and not len(dim))
    reduced = shapes.normalize_dims(None if whole else dim, len(sizes))
    return x.reshape([1 if i in reduced else size for i, size in enumerate(sizes)])


def vector_norm_backward(
    grad: Tensor, self: Tensor, ord: Any, norm: Tensor, dim: Any, keepdim: bool
) -> Any:
    """The gradient of a p-norm; 0 where the norm is 0, a subgradient."""
    sizes = self._sizes
    grad = _with_reduced_dims(grad, sizes, dim, keepdim)
    norm = _with_reduced_dims(norm, sizes, dim, keepdim)
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


def _share_of_extremes(size: Tensor, ord: Any, norm: Tensor, dim: Any) -> Any:
    """1 / count for the magnitudes that are the extreme one, 0 for the others."""
    if not size._sizes:
        return 1
    dims = list(range(len(size._sizes))) if dim is None else dim
    extreme = size.amax(dims, True) if ord > 0 else size.amin(dims, True)
    chosen = (size == extreme) | (size.isnan() & norm.isnan())
    return chosen.to(size.dtype) / chosen.sum(dims, keepdim=True)


# -- moments -----------------------------------------------------------------------------------


def var_backward(grad: Tensor, self: Tensor, dim: Any, correction: Any, keepdim: bool) -> Any:
    """2 / (count - correction) * grad * (x - mean)."""
    sizes = self._sizes
    dims = _moment_dims(sizes, dim)
    freedom = prod(sizes[d] for d in dims) - (1 if correction is None else correction)
    grad = _with_reduced_dims(grad, sizes, dim, keepdim)
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
    return _with_reduced_dims(grad, sizes, dim, keepdim) / count


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
