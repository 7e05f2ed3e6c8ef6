"""The absolute value of a Cauchy number of median 0."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.cauchy import Cauchy
from torchgen_out._runtime.library.distributions.transformed_distribution import (
    TransformedDistribution,
)
from torchgen_out._runtime.library.distributions.transforms import AbsTransform

__all__ = ["HalfCauchy"]


class HalfCauchy(TransformedDistribution):
    """|x| for a Cauchy x of median 0 and width `scale`."""

    arg_constraints: ClassVar = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = Cauchy(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Any:
        """The width before the sign is dropped, which is the median after."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return torch.full_like(self.scale, math.inf)

    @property
    def mode(self) -> Tensor:
        return torch.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

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
