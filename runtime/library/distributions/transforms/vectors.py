"""Transforms of vectors and matrices: onto simplices and Cholesky factors."""

from __future__ import annotations

import math
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.parameters import (
    tril_matrix_to_vec,
    vec_to_tril_matrix,
)
from torchgen_out._runtime.library.distributions.transforms.transform import Transform
from torchgen_out.nn import functional as F


class SoftmaxTransform(Transform):
    """y = e^x / sum e^x, over the last dim; no bijection: x + 1 gives the same."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        weights = (x - x.max(-1, keepdim=True)[0]).exp()
        return weights / weights.sum(-1, keepdim=True)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Transform):
    """N - 1 numbers to N weights: each breaks its share off what is left of a stick.

    Offsets make x = 0 the point of equal weights.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Any) -> Any:
        share = torch.sigmoid(x - _log_remaining(x))
        left = (1 - share).cumprod(-1)
        return F.pad(share, [0, 1], value=1) * F.pad(left, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        piece = y[..., :-1]
        left = 1 - piece.cumsum(-1)
        left = left.clamp(min=torch.finfo(y.dtype).tiny)
        return piece.log() - left.log() + _log_remaining(piece)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        moved = x - _log_remaining(x)
        return (-moved + F.logsigmoid(moved) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return (*shape[:-1], shape[-1] - 1)


def _log_remaining(x: Any) -> Any:
    """The log of how many pieces come after each of x's last dim."""
    n = x.shape[-1]
    return torch.arange(n, 0, -1, dtype=x.dtype, device=x.device).log()


class LowerCholeskyTransform(Transform):
    """Square matrices to lower triangular ones; e^x on the diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Square matrices to positive definite ones: L L^T of `LowerCholeskyTransform`'s L."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(torch.linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """N (N - 1) / 2 numbers to the Cholesky factor of an N x N correlation.

    tanh x is a partial correlation. Row by row, each takes its share of the length that the row
    has left; the diagonal takes the rest, so that every row has length 1.
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        eps = torch.finfo(x.dtype).eps
        partial = vec_to_tril_matrix(torch.tanh(x).clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - partial.pow(2)).sqrt().cumprod(-1)
        partial = partial + torch.eye(partial.shape[-1], dtype=x.dtype, device=x.device)
        return partial * F.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        left = 1 - (y * y).cumsum(-1)
        left = F.pad(left[..., :-1], [1, 0], value=1)
        ratio = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return torch.atanh(ratio)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        # dy/dx is triangular: (1 - tanh(x)^2) * the length that the row has left before y.
        left = F.pad((1 - (y * y).cumsum(-1))[..., :-1], [1, 0], value=1)
        from_lengths = 0.5 * tril_matrix_to_vec(left, diag=-1).log().sum(-1)
        return from_lengths + 2 * (math.log(2) - x - F.softplus(-2 * x)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        count = shape[-1]
        n = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], n, n)

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)
