"""Shares like Beta's, with a cdf that can be inverted."""

from __future__ import annotations

from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.parameters import EULER_CONSTANT, broadcast_all
from torchgen_out._runtime.library.distributions.transformed_distribution import (
    TransformedDistribution,
)
from torchgen_out._runtime.library.distributions.transforms import AffineTransform, PowerTransform
from torchgen_out._runtime.library.distributions.uniform import Uniform

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """The distribution of cdf 1 - (1 - x^a)^b, a and b being the concentrations 1 and 0."""

    arg_constraints: ClassVar = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        a, b = broadcast_all(concentration1, concentration0)
        self.concentration1, self.concentration0 = a, b
        base = Uniform(torch.zeros_like(a), torch.ones_like(a), validate_args=validate_args)
        turned = AffineTransform(loc=1, scale=-1)
        chain = [PowerTransform(b.reciprocal()), turned, PowerTransform(a.reciprocal())]
        super().__init__(base, chain, validate_args=validate_args)

    def _moment(self, order: int) -> Any:
        """The mean of value^order: b B(1 + order / a, b)."""
        a, b = self.concentration1, self.concentration0
        c = 1 + order / a
        return (b.log() + torch.lgamma(c) + torch.lgamma(b) - torch.lgamma(c + b)).exp()

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        """nan where the density is greatest at an end, or the same everywhere."""
        # DEVIATION: PyTorch's is nan always.
        a, b = self.concentration1, self.concentration0
        log_mode = ((a - 1).log() - (a * b - 1).log()) / a
        is_open = (a < 1) | (b < 1) | ((a == 1) & (b == 1))
        return log_mode.exp().masked_fill(is_open, float("nan"))

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self.mean.pow(2)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = torch.digamma(b + 1) + EULER_CONSTANT
        return (1 - 1 / b) + (1 - 1 / a) * harmonic - a.log() - b.log()
