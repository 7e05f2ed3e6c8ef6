"""Divergences between normal vectors, of full and of low-rank covariances."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.distributions.kl import register_kl
from torchgen_out._runtime.library.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    distances,
    log_determinant,
)
from torchgen_out._runtime.library.distributions.multivariate_normal import (
    MultivariateNormal,
    squared_lengths,
)


def _columns(p: Any) -> list[Any]:
    """Matrices whose products with themselves, transposed, sum to the covariance."""
    if isinstance(p, LowRankMultivariateNormal):
        return [p._given[0], torch.diag_embed(p._given[1].sqrt())]
    return [p._factor]


def _log_det(p: Any) -> Any:
    if isinstance(p, LowRankMultivariateNormal):
        return log_determinant(*p._given, p._capacitance)
    return 2 * p._half_log_det()


def _lengths(q: Any, vectors: Any) -> Any:
    """Squared Mahalanobis distances by q's covariance, of (*S, *B, N)."""
    if isinstance(q, LowRankMultivariateNormal):
        return distances(*q._given, vectors, q._capacitance)
    return squared_lengths(q._factor, vectors)


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _normal_vectors(p: Any, q: Any) -> Any:
    """The trace of q^-1 p is the sum of the lengths, by q, of p's columns."""
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two normal vectors with different event shapes "
                         "cannot be computed")  # fmt: skip
    batch = torch.broadcast_shapes(p.batch_shape, q.batch_shape)
    columns = [each.expand((*batch, *each.shape[-2:])) for each in _columns(p)]
    trace = sum(_lengths(q, each.movedim(-1, 0)).sum(0) for each in columns)
    apart = _lengths(q, p.loc - q.loc)
    return 0.5 * (_log_det(q) - _log_det(p) + trace + apart - p.event_shape[0])
