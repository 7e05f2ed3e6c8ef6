"""Divergences between families: KL(p || q) = -H(p) - E_p[log q], where p's mass is within q's."""

from __future__ import annotations

import math
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.distributions.bernoulli import Bernoulli
from torchgen_out._runtime.library.distributions.beta import Beta
from torchgen_out._runtime.library.distributions.binomial import Binomial
from torchgen_out._runtime.library.distributions.continuous_bernoulli import ContinuousBernoulli
from torchgen_out._runtime.library.distributions.exponential import Exponential
from torchgen_out._runtime.library.distributions.gamma import Gamma
from torchgen_out._runtime.library.distributions.gumbel import Gumbel
from torchgen_out._runtime.library.distributions.kl import register_kl
from torchgen_out._runtime.library.distributions.laplace import Laplace
from torchgen_out._runtime.library.distributions.normal import Normal
from torchgen_out._runtime.library.distributions.pareto import Pareto
from torchgen_out._runtime.library.distributions.poisson import Poisson
from torchgen_out._runtime.library.distributions.uniform import Uniform


def _infinite(p: Any, q: Any) -> Any:
    """p has mass where q has none."""
    shape = torch.broadcast_shapes(p.batch_shape, q.batch_shape)
    like = p.mean
    return torch.full(shape, float("inf"), dtype=like.dtype, device=like.device)


OUTSIDE = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}
"""Families with mass outside of others, whatever the parameters."""

for _p, _others in OUTSIDE.items():
    for _q in _others:
        register_kl(_p, _q)(_infinite)


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Pareto, Normal)
@register_kl(Uniform, Normal)
def _to_normal(p: Any, q: Any) -> Any:
    square = (p.variance + (p.mean - q.loc).pow(2)) / q.scale.pow(2)
    return 0.5 * (square + math.log(2 * math.pi)) + q.scale.log() - p.entropy()


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
@register_kl(Pareto, Exponential)
def _to_exponential(p: Any, q: Any) -> Any:
    return q.rate * p.mean - q.rate.log() - p.entropy()


@register_kl(Uniform, Exponential)
def _uniform_to_exponential(p: Any, q: Any) -> Any:
    return _to_exponential(p, q).masked_fill(p.low < 0, float("inf"))


@register_kl(Exponential, Gumbel)
def _exponential_to_gumbel(p: Any, q: Any) -> Any:
    product = p.rate * q.scale
    tail = torch.exp(q.loc / q.scale) * product / (product + 1)
    return (1 / product - q.loc / q.scale) + tail + q.scale.log() - p.entropy()


@register_kl(Normal, Gumbel)
def _normal_to_gumbel(p: Any, q: Any) -> Any:
    mean, spread = (p.loc - q.loc) / q.scale, p.scale / q.scale
    return mean + torch.exp(-mean + 0.5 * spread.pow(2)) + q.scale.log() - p.entropy()


@register_kl(Uniform, Gumbel)
def _uniform_to_gumbel(p: Any, q: Any) -> Any:
    low, high = (p.low - q.loc) / q.scale, (p.high - q.loc) / q.scale
    tail = (torch.exp(-low) - torch.exp(-high)) / (high - low)
    return 0.5 * (low + high) + tail + q.scale.log() - p.entropy()


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_to_uniform(p: Any, q: Any) -> Any:
    # DEVIATION: finite where q covers p's mass; PyTorch returns infinity there.
    result = (q.high - q.low).log() - p.entropy()
    is_outside = (q.low > p.support.lower_bound) | (q.high < p.support.upper_bound)
    return result.masked_fill(is_outside, float("inf"))


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_to_continuous_bernoulli(p: Any, q: Any) -> Any:
    # DEVIATION: finite where p ends at 0 or 1; PyTorch returns infinity there.
    result = -p.mean * q.logits - (-q.probs).log1p() - q._log_norm() - p.entropy()
    is_outside = (p.low < q.support.lower_bound) | (p.high > q.support.upper_bound)
    return result.masked_fill(is_outside, float("inf"))


@register_kl(Uniform, Pareto)
def _uniform_to_pareto(p: Any, q: Any) -> Any:
    log_mean = (torch.xlogy(p.high, p.high) - torch.xlogy(p.low, p.low)) / (p.high - p.low) - 1
    result = log_mean * (q.alpha + 1) - q.alpha.log() - q.alpha * q.scale.log() - p.entropy()
    return result.masked_fill(p.low < q.scale, float("inf"))


@register_kl(Bernoulli, Poisson)
def _bernoulli_to_poisson(p: Any, q: Any) -> Any:
    return q.rate - p.probs * q.rate.log() - p.entropy()


@register_kl(Normal, Laplace)
def _normal_to_laplace(p: Any, q: Any) -> Any:
    apart = (p.loc - q.loc) / (p.scale * math.sqrt(2))
    distance = p.scale * math.sqrt(2 / math.pi) * torch.exp(-apart * apart)
    distance = distance + (p.loc - q.loc) * torch.erf(apart)
    return distance / q.scale + (2 * q.scale).log() - p.entropy()
