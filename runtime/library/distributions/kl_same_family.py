"""Divergences between two distributions of one family."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.distributions.bernoulli import Bernoulli
from torchgen_out._runtime.library.distributions.binomial import Binomial
from torchgen_out._runtime.library.distributions.categorical import Categorical
from torchgen_out._runtime.library.distributions.cauchy import Cauchy
from torchgen_out._runtime.library.distributions.continuous_bernoulli import ContinuousBernoulli
from torchgen_out._runtime.library.distributions.exp_family import ExponentialFamily
from torchgen_out._runtime.library.distributions.exponential import Exponential
from torchgen_out._runtime.library.distributions.geometric import Geometric
from torchgen_out._runtime.library.distributions.gumbel import Gumbel
from torchgen_out._runtime.library.distributions.half_normal import HalfNormal
from torchgen_out._runtime.library.distributions.independent import Independent
from torchgen_out._runtime.library.distributions.kl import kl_divergence, register_kl
from torchgen_out._runtime.library.distributions.laplace import Laplace
from torchgen_out._runtime.library.distributions.normal import Normal
from torchgen_out._runtime.library.distributions.one_hot_categorical import OneHotCategorical
from torchgen_out._runtime.library.distributions.parameters import EULER_CONSTANT, sum_rightmost
from torchgen_out._runtime.library.distributions.pareto import Pareto
from torchgen_out._runtime.library.distributions.poisson import Poisson
from torchgen_out._runtime.library.distributions.transformed_distribution import (
    TransformedDistribution,
)
from torchgen_out._runtime.library.distributions.uniform import Uniform
from torchgen_out.nn import functional as F


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    """An outcome that p never has adds 0; one that q alone never has, infinity."""
    ones = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    ones = ones.masked_fill(q.probs == 0, float("inf")).masked_fill(p.probs == 0, 0)
    zeros = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    zeros = zeros.masked_fill(q.probs == 1, float("inf")).masked_fill(p.probs == 1, 0)
    return ones + zeros


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    impossible = (q.probs == 0).expand_as(terms)
    terms = terms.masked_fill(impossible, float("inf"))
    return terms.masked_fill((p.probs == 0).expand_as(terms), 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    apart = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return apart.log() - (4 * p.scale * q.scale).log()


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    """Of the same number of trials; infinite where p has more, as yet unknown where fewer."""
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count")
    gain = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    result = p.total_count * gain
    return result.masked_fill(p.total_count > q.total_count, float("inf"))


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Any:
    slope = p.mean * (p.logits - q.logits)
    norms = p._log_norm() - q._log_norm()
    return slope + norms + torch.log1p(-p.probs) - torch.log1p(-q.probs)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc) / q.scale
    tail = torch.exp(-apart + torch.lgamma(1 + ratio))
    return apart + tail - ratio.log() + ratio * EULER_CONSTANT - (1 + EULER_CONSTANT)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return result.masked_fill(p.support.lower_bound < q.support.lower_bound, float("inf"))


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * torch.exp(-distance / p.scale) - 1


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    apart = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + apart - 1 - ratio.log())


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return result.masked_fill((q.low > p.low) | (q.high < p.high), float("inf"))


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: Any, q: Any) -> Any:
    """The Bregman divergence of the log normaliser, of any family that has one."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed "
            "using Bregman divergences"
        )
    theta, normalizer, slope = p._log_normalizer_and_slope()
    other = q._natural_params
    batch_ndim = max(len(p.batch_shape), len(q.batch_shape))
    result = q._log_normalizer(*other) - normalizer
    for a, b, g in zip(theta, other, slope, strict=True):
        term = (b - a) * g
        result = result - sum_rightmost(term, term.dim() - batch_ndim)
    return result


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL of Independents that take different numbers of dims")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    """A bijection that both share changes nothing."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("KL of TransformedDistributions of different transforms")
    result = kl_divergence(p.base_dist, q.base_dist)
    extra = len(p.event_shape) - len(p.base_dist.event_shape)
    return sum_rightmost(result, extra) if extra > 0 else result
