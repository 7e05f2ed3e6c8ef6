"""The greatest of many numbers: Gumbel's extreme values."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.parameters import EULER_CONSTANT, broadcast_all
from torchgen_out._runtime.library.distributions.transformed_distribution import (
    TransformedDistribution,
)
from torchgen_out._runtime.library.distributions.transforms import AffineTransform, ExpTransform
from torchgen_out._runtime.library.distributions.uniform import Uniform

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """Gumbel of mode `loc`: loc - scale * log(-log(uniform))."""

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = torch.finfo(self.loc.dtype)
        low = torch.full_like(self.loc, limits.tiny)
        base = Uniform(low, torch.full_like(low, 1 - limits.eps), validate_args=validate_args)
        minus_log = [ExpTransform().inv, AffineTransform(0, -torch.ones_like(low))]
        chain = [*minus_log, ExpTransform().inv, AffineTransform(self.loc, -self.scale)]
        super().__init__(base, chain, validate_args=validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * EULER_CONSTANT

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + EULER_CONSTANT)
