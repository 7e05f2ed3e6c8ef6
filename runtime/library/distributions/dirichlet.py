"""Weights that sum to 1: Dirichlet distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.distribution import Distribution
from torchgen_out._runtime.library.distributions.exp_family import ExponentialFamily
from torchgen_out._runtime.library.distributions.gamma_draws import standard_gamma

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Points of the simplex: gamma numbers of `concentration`, divided by their sum."""

    arg_constraints: ClassVar = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        Distribution.__init__(self, shape[:-1], shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        drawn = standard_gamma(self.concentration.expand(self._extended_shape(sample_shape)))
        return drawn / drawn.sum(-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return (torch.xlogy(a - 1, value) - torch.lgamma(a)).sum(-1) + torch.lgamma(a.sum(-1))

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def mode(self) -> Tensor:
        """The corner of the greatest weight, where no concentration is above 1."""
        above = (self.concentration - 1).clamp(min=0)
        mode = above / above.sum(-1, keepdim=True)
        corner = torch.nn.functional.one_hot(mode.argmax(-1), mode.shape[-1]).to(mode)
        is_corner = (self.concentration < 1).all(-1, keepdim=True)
        return torch.where(is_corner, corner, mode)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Tensor:
        a, n = self.concentration, self.event_shape[0]
        total = a.sum(-1)
        spread = (n - total) * torch.digamma(total) + ((a - 1) * torch.digamma(a)).sum(-1)
        return torch.lgamma(a).sum(-1) - torch.lgamma(total) - spread

    @property
    def _natural_params(self) -> tuple[Any]:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:
        return x.lgamma().sum(-1) - torch.lgamma(x.sum(-1))
