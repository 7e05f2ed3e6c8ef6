"""Normal vectors of any covariance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.distribution import Distribution
from torchgen_out._runtime.library.distributions.parameters import lazy_property, standard_normal

__all__ = ["MultivariateNormal"]


def squared_lengths(factor: Any, deviation: Any) -> Any:
    """|factor^-1 deviation|^2, of a lower triangular factor: Mahalanobis distances.

    Shape: (*B, N, N), (*S, *B, N) -> (*S, *B). The samples are the columns of one system for each
    factor, so that no factor is repeated.
    """
    batch = factor.shape[:-2]
    extra = deviation.dim() - 1 - len(batch)
    if extra <= 0 or deviation.shape[extra:-1] != batch:
        solved = torch.linalg.solve_triangular(factor, deviation.unsqueeze(-1), upper=False)
        return solved.squeeze(-1).pow(2).sum(-1)
    columns = deviation.reshape((-1, *batch, deviation.shape[-1])).movedim(0, -1)
    solved = torch.linalg.solve_triangular(factor, columns, upper=False)
    return solved.pow(2).sum(-2).movedim(-1, 0).reshape(deviation.shape[:-1])


def factor_of_inverse(precision: Any) -> Any:
    """The lower Cholesky factor of a positive definite matrix's inverse.

    Cholesky's factor of the matrix with rows and columns turned round, turned back, is upper
    triangular; its inverse transposed is the factor.
    """
    flipped = torch.linalg.cholesky(precision.flip((-2, -1)))
    upper = flipped.flip((-2, -1)).mT
    identity = torch.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return torch.linalg.solve_triangular(upper, identity.expand_as(upper), upper=False)


class MultivariateNormal(Distribution):
    """Normal vectors of mean `loc` and one of: covariance, its inverse, its Cholesky factor."""

    arg_constraints: ClassVar = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        matrices = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = [name for name, matrix in matrices.items() if matrix is not None]
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril "
                             "may be specified.")  # fmt: skip
        (name,) = given
        matrix = matrices[name]
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading "
                             "batch dimensions")  # fmt: skip
        batch = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch, *matrix.shape[-2:])))
        self.loc = loc.expand((*batch, loc.shape[-1]))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        self._factor = _FACTORS[name](matrix)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The covariance's Cholesky factor."""
        return self._expand_matrix(self._factor)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return self._expand_matrix(self._factor @ self._factor.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The covariance's inverse."""
        return self._expand_matrix(torch.cholesky_inverse(self._factor))

    def _expand_matrix(self, matrix: Any) -> Any:
        n = self.event_shape[0]
        return matrix.expand((*self.batch_shape, n, n))

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._factor.pow(2).sum(-1).expand(self.batch_shape + self.event_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        noise = standard_normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + (self._factor @ noise.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self) -> Any:
        """Half of the log of the covariance's determinant."""
        return self._factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        lengths = squared_lengths(self._factor, value - self.loc)
        constant = self.event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + lengths) - self._half_log_det()

    def entropy(self) -> Tensor:
        constant = 0.5 * self.event_shape[0] * (1 + math.log(2 * math.pi))
        return (constant + self._half_log_det()).expand(self.batch_shape)


_FACTORS: dict[str, Callable[[Tensor], Tensor]] = {
    "covariance_matrix": torch.linalg.cholesky,
    "precision_matrix": factor_of_inverse,
    "scale_tril": lambda matrix: matrix,
}
"""How the covariance's Cholesky factor comes from each parameter, before it is broadcast."""
