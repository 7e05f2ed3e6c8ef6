"""Normal vectors whose covariance is a few columns and a diagonal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.distribution import Distribution
from torchgen_out._runtime.library.distributions.multivariate_normal import squared_lengths
from torchgen_out._runtime.library.distributions.parameters import lazy_property, standard_normal

__all__ = ["LowRankMultivariateNormal"]


def capacitance_factor(columns: Any, diagonal: Any) -> Any:
    """The Cholesky factor of I + W^T D^-1 W."""
    scaled = columns.mT / diagonal.unsqueeze(-2)
    identity = torch.eye(columns.shape[-1], dtype=columns.dtype, device=columns.device)
    return torch.linalg.cholesky(identity + scaled @ columns)


def log_determinant(columns: Any, diagonal: Any, factor: Any) -> Any:
    """The log determinant of W W^T + D: that of the capacitance and of D."""
    return 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1) + diagonal.log().sum(-1)


def distances(columns: Any, diagonal: Any, deviation: Any, factor: Any) -> Any:
    """Squared Mahalanobis distances of W W^T + D, by Woodbury's identity."""
    scaled = columns.mT / diagonal.unsqueeze(-2)
    within = (scaled @ deviation.unsqueeze(-1)).squeeze(-1)
    return (deviation.pow(2) / diagonal).sum(-1) - squared_lengths(factor, within)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors of mean `loc` and covariance W W^T + D.

    W is `cov_factor`, of shape (*B, N, rank), D the diagonal matrix of `cov_diag`. Nothing but
    systems of `rank` equations is solved.
    """

    arg_constraints: ClassVar = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading "
                             "batch dimensions")  # fmt: skip
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        shapes = (loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        batch = torch.broadcast_shapes(*shapes)
        self.loc = loc.expand((*batch, *event))
        self.cov_factor = cov_factor.expand((*batch, *cov_factor.shape[-2:]))
        self.cov_diag = cov_diag.expand((*batch, *event))
        self._given = cov_factor, cov_diag
        self._capacitance = capacitance_factor(cov_factor, cov_diag)
        super().__init__(batch, event, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        for name in ("variance", "scale_tril", "covariance_matrix", "precision_matrix"):
            new.__dict__.pop(name, None)
        return new

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """The sum of the columns' squares, and the diagonal."""
        columns, diagonal = self._given
        both = columns.pow(2).sum(-1) + diagonal
        return both.expand(self.batch_shape + self.event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The covariance's Cholesky factor, from the matrix without its diagonal D."""
        columns, diagonal = self._given
        root = diagonal.sqrt().unsqueeze(-1)
        scaled = columns / root
        identity = torch.eye(self.event_shape[0], dtype=columns.dtype, device=columns.device)
        return self._matrix(root * torch.linalg.cholesky(scaled @ scaled.mT + identity))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        columns, diagonal = self._given
        return self._matrix(columns @ columns.mT + torch.diag_embed(diagonal))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The covariance's inverse, by Woodbury's identity."""
        columns, diagonal = self._given
        scaled = columns.mT / diagonal.unsqueeze(-2)
        root = torch.linalg.solve_triangular(self._capacitance, scaled, upper=False)
        return self._matrix(torch.diag_embed(diagonal.reciprocal()) - root.mT @ root)

    def _matrix(self, matrix: Any) -> Any:
        n = self.event_shape[0]
        return matrix.expand((*self.batch_shape, n, n))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        columns, diagonal = self._given
        shape = self._extended_shape(sample_shape)
        within = standard_normal((*shape[:-1], columns.shape[-1], 1), self.loc)
        along = standard_normal(shape, self.loc)
        return self.loc + (columns @ within).squeeze(-1) + diagonal.sqrt() * along

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        lengths = distances(*self._given, value - self.loc, self._capacitance)
        log_det = log_determinant(*self._given, self._capacitance)
        return -0.5 * (self.event_shape[0] * math.log(2 * math.pi) + log_det + lengths)

    def entropy(self) -> Tensor:
        log_det = log_determinant(*self._given, self._capacitance)
        constant = self.event_shape[0] * (1 + math.log(2 * math.pi))
        return (0.5 * (constant + log_det)).expand(self.batch_shape)
