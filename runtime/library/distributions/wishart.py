"""Scatter matrices of normal vectors: the Wishart distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.distribution import Distribution
from torchgen_out._runtime.library.distributions.exp_family import ExponentialFamily
from torchgen_out._runtime.library.distributions.gamma_draws import standard_gamma
from torchgen_out._runtime.library.distributions.multivariate_normal import factor_of_inverse
from torchgen_out._runtime.library.distributions.parameters import lazy_property, standard_normal

__all__ = ["Wishart"]


class Wishart(ExponentialFamily):
    """The sum of x x^T over `df` normal vectors x of one covariance; df may be a fraction.

    The covariance is given as such, as its inverse, or as its Cholesky factor.
    """

    arg_constraints: ClassVar = {
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
        "df": constraints.greater_than(0),
    }
    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
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
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading "
                             "batch dimensions")  # fmt: skip
        df = torch.as_tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch = torch.broadcast_shapes(matrix.shape[:-2], df.shape)
        self.df = df.expand(batch)
        setattr(self, name, matrix.expand((*batch, *matrix.shape[-2:])))
        if (self.df <= matrix.shape[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = "
                             f"{matrix.shape[-1] - 1}.")  # fmt: skip
        Distribution.__init__(self, batch, matrix.shape[-2:], validate_args=validate_args)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The covariance's Cholesky factor."""
        if "precision_matrix" in self.__dict__:
            return factor_of_inverse(self.precision_matrix)
        return torch.linalg.cholesky(self.covariance_matrix)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return self.scale_tril @ self.scale_tril.mT

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The covariance's inverse."""
        return torch.cholesky_inverse(self.scale_tril)

    def _by_entry(self) -> Any:
        """df, for each entry of a matrix."""
        return self.df[..., None, None]

    @property
    def mean(self) -> Tensor:
        return self._by_entry() * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """nan where there are too few vectors for a greatest density."""
        count = self.df - self.event_shape[-1] - 1
        count = count.masked_fill(count <= 0, float("nan"))
        return count[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        diagonal = self.covariance_matrix.diagonal(dim1=-2, dim2=-1)
        products = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self._by_entry() * (self.covariance_matrix.pow(2) + products)

    def rsample(self, sample_shape: Any = (), max_try_correction: Any = None) -> Any:
        """Bartlett's decomposition: the factor of a sample for the unit covariance is normal
        below the diagonal, and the root of a chi-squared number of df - i on it.
        """
        shape = self._extended_shape(sample_shape)
        step = torch.arange(shape[-1], dtype=self.df.dtype, device=self.df.device)
        halves = (0.5 * (self.df.unsqueeze(-1) - step)).expand(shape[:-1])
        roots = (2 * standard_gamma(halves)).sqrt()
        unit = standard_normal(shape, self.df).tril(-1) + torch.diag_embed(roots)
        factor = self.scale_tril @ unit
        return factor @ factor.mT

    def _half_log_det(self) -> Any:
        return self.scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def _log_norm(self) -> Any:
        """The log of what the density is divided by."""
        n = self.event_shape[-1]
        top = torch.mvlgamma(0.5 * self.df, n)
        return self.df * (self._half_log_det() + 0.5 * n * math.log(2)) + top

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n = self.event_shape[-1]
        solved = torch.cholesky_solve(value, self.scale_tril)
        trace = solved.diagonal(dim1=-2, dim2=-1).sum(-1)
        log_det = torch.linalg.slogdet(value).logabsdet
        return 0.5 * (self.df - n - 1) * log_det - 0.5 * trace - self._log_norm()

    def entropy(self) -> Tensor:
        n = self.event_shape[-1]
        step = torch.arange(n, dtype=self.df.dtype, device=self.df.device)
        slope = torch.digamma(0.5 * (self.df.unsqueeze(-1) - step)).sum(-1)
        mean_log_det = slope + n * math.log(2) + 2 * self._half_log_det()
        return self._log_norm() - 0.5 * (self.df - n - 1) * mean_log_det + 0.5 * n * self.df

    @property
    def _natural_params(self) -> tuple[Any, Any]:
        return -0.5 * self.precision_matrix, 0.5 * (self.df - self.event_shape[-1] - 1)

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        n = self.event_shape[-1]
        half = y + 0.5 * (n + 1)
        return torch.mvlgamma(half, n) - half * torch.linalg.slogdet(-x).logabsdet
