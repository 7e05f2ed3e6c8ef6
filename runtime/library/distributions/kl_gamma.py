"""Divergences of gamma, beta and Dirichlet distributions, and to them."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.distributions.beta import Beta
from torchgen_out._runtime.library.distributions.continuous_bernoulli import ContinuousBernoulli
from torchgen_out._runtime.library.distributions.dirichlet import Dirichlet
from torchgen_out._runtime.library.distributions.exponential import Exponential
from torchgen_out._runtime.library.distributions.gamma import Gamma
from torchgen_out._runtime.library.distributions.gumbel import Gumbel
from torchgen_out._runtime.library.distributions.kl import register_kl
from torchgen_out._runtime.library.distributions.parameters import EULER_CONSTANT
from torchgen_out._runtime.library.distributions.pareto import Pareto
from torchgen_out._runtime.library.distributions.uniform import Uniform


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    norms = torch.lgamma(b) - torch.lgamma(a) + b * (p.rate / q.rate).log()
    return norms + (a - b) * torch.digamma(a) + a * (q.rate / p.rate - 1)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    norms = torch.lgamma(total) - torch.lgamma(b.sum(-1))
    norms = norms - (torch.lgamma(a) - torch.lgamma(b)).sum(-1)
    slopes = torch.digamma(a) - torch.digamma(total).unsqueeze(-1)
    return norms + ((a - b) * slopes).sum(-1)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    return _dirichlet(p._dirichlet, q._dirichlet)


def _mean_log(p: Any) -> Any:
    """The mean of log x."""
    if isinstance(p, Beta):
        both = p.concentration1 + p.concentration0
        return torch.digamma(p.concentration1) - torch.digamma(both)
    if isinstance(p, Exponential):
        return -EULER_CONSTANT - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + 1 / p.alpha
    return (_x_log_x(p.high) - _x_log_x(p.low)) / (p.high - p.low) - 1


def _x_log_x(x: Any) -> Any:
    return torch.xlogy(x, x)


@register_kl(Beta, Gamma)
@register_kl(Exponential, Gamma)
@register_kl(Pareto, Gamma)
def _to_gamma(p: Any, q: Any) -> Any:
    a = q.concentration
    norm = torch.lgamma(a) - a * q.rate.log()
    return norm + (1 - a) * _mean_log(p) + q.rate * p.mean - p.entropy()


@register_kl(Uniform, Gamma)
def _uniform_to_gamma(p: Any, q: Any) -> Any:
    return _to_gamma(p, q).masked_fill(p.low < 0, float("inf"))


@register_kl(Gamma, Gumbel)
def _gamma_to_gumbel(p: Any, q: Any) -> Any:
    product = p.rate * q.scale
    tail = torch.exp(q.loc / q.scale - p.concentration * torch.log1p(1 / product))
    return (p.mean - q.loc) / q.scale + tail + q.scale.log() - p.entropy()


@register_kl(Beta, ContinuousBernoulli)
def _beta_to_continuous_bernoulli(p: Any, q: Any) -> Any:
    return -p.entropy() - p.mean * q.logits - torch.log1p(-q.probs) - q._log_norm()


@register_kl(Beta, Uniform)
def _beta_to_uniform(p: Any, q: Any) -> Any:
    result = (q.high - q.low).log() - p.entropy()
    return result.masked_fill((q.low > 0) | (q.high < 1), float("inf"))


@register_kl(Uniform, Beta)
def _uniform_to_beta(p: Any, q: Any) -> Any:
    a, b = q.concentration1, q.concentration0
    rest = (_x_log_x(1 - p.low) - _x_log_x(1 - p.high)) / (p.high - p.low) - 1
    norm = torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(a + b)
    result = norm - (a - 1) * _mean_log(p) - (b - 1) * rest - p.entropy()
    return result.masked_fill((p.high > 1) | (p.low < 0), float("inf"))
