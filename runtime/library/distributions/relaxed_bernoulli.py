"""Coins that land between 0 and 1, so that there are gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.distribution import Distribution
from torchgen_out._runtime.library.distributions.parameters import broadcast_all, uniform
from torchgen_out._runtime.library.distributions.probabilities import ProbsOrLogits
from torchgen_out._runtime.library.distributions.transformed_distribution import (
    TransformedDistribution,
)
from torchgen_out._runtime.library.distributions.transforms import SigmoidTransform
from torchgen_out.nn import functional as F

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(ProbsOrLogits):
    """The logit of `RelaxedBernoulli`: (logits + logistic noise) / temperature.

    Source: Maddison, Mnih and Teh, The concrete distribution (2017).
    """

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._keep_given(probs, logits)
        (given,) = broadcast_all(self._param)
        setattr(self, self._given, given)
        Distribution.__init__(self, given.shape, validate_args=validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        share = uniform(self._extended_shape(sample_shape), self._param)
        noise = share.log() - (-share).log1p()
        return (noise + self.logits) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        deviation = logits - value * self.temperature
        log_temperature = broadcast_all(self.temperature, logits)[0].log()
        return log_temperature + deviation - 2 * F.softplus(deviation)


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between 0 and 1, closer to the ends the lower the temperature."""

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """How far from the ends the numbers stay."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """Log odds."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """Probabilities."""
        return self.base_dist.probs


public.place_all("distributions.relaxed_bernoulli", globals())
