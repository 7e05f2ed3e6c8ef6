"""Times to failure whose rate is a power of time."""

from __future__ import annotations

from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.exponential import Exponential
from torchgen_out._runtime.library.distributions.parameters import EULER_CONSTANT, broadcast_all
from torchgen_out._runtime.library.distributions.transformed_distribution import (
    TransformedDistribution,
)
from torchgen_out._runtime.library.distributions.transforms import AffineTransform, PowerTransform

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """scale * x^(1 / concentration) for an exponential x of rate 1."""

    arg_constraints: ClassVar = {
        "scale": constraints.positive,
        "concentration": constraints.positive,
    }
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(torch.ones_like(self.scale), validate_args=validate_args)
        power = PowerTransform(exponent=self.concentration.reciprocal())
        chain = [power, AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, chain, validate_args=validate_args)

    def _moment(self, order: int) -> Any:
        """The mean of value^order."""
        return self.scale.pow(order) * torch.lgamma(1 + order / self.concentration).exp()

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        # DEVIATION: 0 where the rate of failure falls; PyTorch returns scale for some of these.
        k = self.concentration
        return self.scale * ((k - 1) / k).clamp(min=0).pow(1 / k)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self._moment(1).pow(2)

    def entropy(self) -> Tensor:
        inverse = self.concentration.reciprocal()
        return EULER_CONSTANT * (1 - inverse) + (self.scale * inverse).log() + 1
