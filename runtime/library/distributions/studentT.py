"""Normal numbers of an uncertain scale: Student's t."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.chi2 import Chi2
from torchgen_out._runtime.library.distributions.distribution import Distribution
from torchgen_out._runtime.library.distributions.parameters import standard_normal

__all__ = ["StudentT"]


class StudentT(Distribution):
    """loc + scale * t, of `df` degrees of freedom."""

    df: Tensor
    loc: Tensor
    scale: Tensor

    arg_constraints: ClassVar = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        self._take(validate_args, df=df, loc=loc, scale=scale)

    @property
    def mean(self) -> Tensor:
        return self.loc.masked_fill(self.df <= 1, float("nan"))

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """Infinite up to 2 degrees of freedom, and without meaning up to 1."""
        square = self.scale.pow(2) * self.df / (self.df - 2)
        square = square.masked_fill(self.df <= 2, float("inf"))
        return square.masked_fill(self.df <= 1, float("nan"))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        normal = standard_normal(self._extended_shape(sample_shape), self.df)
        square = Chi2(self.df, validate_args=False).rsample(sample_shape)
        return self.loc + self.scale * normal * torch.rsqrt(square / self.df)

    def _log_norm(self) -> Any:
        """The log of the density's denominator, with scale 1."""
        halves = torch.lgamma(0.5 * self.df) - torch.lgamma(0.5 * (self.df + 1))
        return 0.5 * self.df.log() + 0.5 * math.log(math.pi) + halves

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        square = ((value - self.loc) / self.scale).pow(2)
        tail = -0.5 * (self.df + 1) * torch.log1p(square / self.df)
        return tail - self._log_norm() - self.scale.log()

    def entropy(self) -> Tensor:
        steps = torch.digamma(0.5 * (self.df + 1)) - torch.digamma(0.5 * self.df)
        return self.scale.log() + 0.5 * (self.df + 1) * steps + self._log_norm()
