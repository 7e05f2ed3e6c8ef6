"""Weights whose sticks are broken by normal numbers."""

from __future__ import annotations

from typing import Any, ClassVar

from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.normal import Normal
from torchgen_out._runtime.library.distributions.transformed_distribution import (
    TransformedDistribution,
)
from torchgen_out._runtime.library.distributions.transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """Points of the simplex: `StickBreakingTransform` of normal vectors, one entry longer."""

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Any:
        """The means of the normal numbers."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviations of the normal numbers."""
        return self.base_dist.base_dist.scale
