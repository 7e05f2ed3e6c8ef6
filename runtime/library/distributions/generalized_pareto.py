"""What exceeds a high threshold: the generalized Pareto distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.distribution import Distribution

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Above `loc`, with a tail that a positive concentration thickens and a negative one ends."""

    concentration: Tensor
    loc: Tensor
    scale: Tensor

    arg_constraints: ClassVar = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(
        self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self._take(validate_args, loc=loc, scale=scale, concentration=concentration)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        end = self.loc - self.scale / self.concentration
        end = end.masked_fill(self.concentration >= 0, math.inf)
        return constraints.interval(self.loc, end)

    def _parts(self) -> tuple[Any, Any]:
        """Whether the tail is exponential, and a concentration by which one may divide."""
        is_plain = self.concentration == 0
        return is_plain, self.concentration.masked_fill(is_plain, 1)

    def _log_survival(self, value: Any) -> Any:
        """log P(X > value)."""
        is_plain, k = self._parts()
        z = (value - self.loc) / self.scale
        return torch.where(is_plain, -z, -torch.log1p(k * z) / k)

    @property
    def mean(self) -> Tensor:
        mean = self.loc + self.scale / (1 - self.concentration)
        return mean.masked_fill(self.concentration >= 1, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        k = self.concentration
        variance = self.scale.pow(2) / ((1 - k).pow(2) * (1 - 2 * k))
        return variance.masked_fill(k >= 0.5, math.nan)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return (1 + self.concentration) * self._log_survival(value) - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return -torch.expm1(self._log_survival(value))

    def icdf(self, value: Tensor) -> Tensor:
        is_plain, k = self._parts()
        rest = torch.log1p(-value)
        return self.loc + self.scale * torch.where(is_plain, -rest, torch.expm1(-k * rest) / k)

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1
