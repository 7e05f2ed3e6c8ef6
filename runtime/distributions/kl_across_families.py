"""Divergences between families: KL(p || q) = -H(p) - E_p[log q], where p's mass is within q's."""

from __future__ import annotations

import math
from typing import Any

import torchgen_out as torch
from runtime.distributions.exponential import Exponential
from runtime.distributions.kl import register_kl
from runtime.distributions.laplace import Laplace
from runtime.distributions.normal import Normal
from runtime.distributions.uniform import Uniform


def _infinite(p: Any, q: Any) -> Any:
    """p has mass where q has none."""
    shape = torch.broadcast_shapes(p.batch_shape, q.batch_shape)
    like = p.entropy()
    return torch.full(shape, float("inf"), dtype=like.dtype, device=like.device)


OUTSIDE = {
    Exponential: (Uniform,),
    Laplace: (Exponential, Uniform),
    Normal: (Exponential, Uniform),
}
"""Families with mass outside of others, whatever the parameters."""

for _p, _others in OUTSIDE.items():
    for _q in _others:
        register_kl(_p, _q)(_infinite)


@register_kl(Exponential, Normal)
@register_kl(Laplace, Normal)
@register_kl(Uniform, Normal)
def _to_normal(p: Any, q: Any) -> Any:
    square = (p.variance + (p.mean - q.loc).pow(2)) / q.scale.pow(2)
    return 0.5 * (square + math.log(2 * math.pi)) + q.scale.log() - p.entropy()


@register_kl(Uniform, Exponential)
def _to_exponential(p: Any, q: Any) -> Any:
    result = q.rate * p.mean - q.rate.log() - p.entropy()
    return result.masked_fill(p.support.lower_bound < 0, float("inf"))


@register_kl(Normal, Laplace)
def _normal_to_laplace(p: Any, q: Any) -> Any:
    apart = (p.loc - q.loc) / (p.scale * math.sqrt(2))
    distance = p.scale * math.sqrt(2 / math.pi) * torch.exp(-apart * apart)
    distance = distance + (p.loc - q.loc) * torch.erf(apart)
    return distance / q.scale + (2 * q.scale).log() - p.entropy()
