"""The absolute value of a normal number of mean 0."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.normal import Normal
from torchgen_out._runtime.library.distributions.transformed_distribution import (
    TransformedDistribution,
)
from torchgen_out._runtime.library.distributions.transforms import AbsTransform

__all__ = ["HalfNormal"]


class HalfNormal(TransformedDistribution):
    """|x| for a normal x of mean 0 and standard deviation `scale`."""

    arg_constraints: ClassVar = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Any:
        """The standard deviation before the sign is dropped."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Tensor:
        return torch.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        doubled = self.base_dist.log_prob(value) + math.log(2)
        return torch.where(value >= 0, doubled, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Tensor) -> Tensor:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
