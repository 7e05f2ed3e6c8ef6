"""Ratios of mean squares: the F distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.distribution import Distribution
from torchgen_out._runtime.library.distributions.gamma import Gamma

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """The mean of `df1` squares of normal numbers, divided by that of `df2`."""

    df1: Tensor
    df2: Tensor

    arg_constraints: ClassVar = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, df1=df1, df2=df2)

    @property
    def mean(self) -> Tensor:
        """nan up to 2 degrees of freedom below."""
        return (self.df2 / (self.df2 - 2)).masked_fill(self.df2 <= 2, float("nan"))

    @property
    def mode(self) -> Tensor:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, float("nan"))

    @property
    def variance(self) -> Tensor:
        """nan up to 4 degrees of freedom below."""
        a, b = self.df1, self.df2
        variance = 2 * b.pow(2) * (a + b - 2) / (a * (b - 2).pow(2) * (b - 4))
        return variance.masked_fill(b <= 4, float("nan"))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        above, below = (
            Gamma(df / 2, df / 2, validate_args=False).rsample(sample_shape)
            for df in (self.df1, self.df2)
        )
        return above / below

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        a, b = self.df1 / 2, self.df2 / 2
        ratio = self.df1 / self.df2
        norm = torch.lgamma(a + b) - torch.lgamma(a) - torch.lgamma(b) + a * ratio.log()
        return norm + (a - 1) * value.log() - (a + b) * torch.log1p(ratio * value)
