"""Numbers whose reciprocals are gamma."""

from __future__ import annotations

from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.gamma import Gamma
from torchgen_out._runtime.library.distributions.transformed_distribution import (
    TransformedDistribution,
)
from torchgen_out._runtime.library.distributions.transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """1 / x for a gamma x of `concentration` and `rate`."""

    arg_constraints: ClassVar = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        chain = [PowerTransform(-torch.ones_like(base.rate))]
        super().__init__(base, chain, validate_args=validate_args)

    @property
    def concentration(self) -> Any:
        """The shape of the gamma distribution."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        """The rate of the gamma distribution."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        """Infinite up to concentration 1."""
        mean = self.rate / (self.concentration - 1)
        return mean.masked_fill(self.concentration <= 1, float("inf"))

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        """Infinite up to concentration 2."""
        a = self.concentration
        variance = self.rate.square() / ((a - 1).square() * (a - 2))
        return variance.masked_fill(a <= 2, float("inf"))

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
