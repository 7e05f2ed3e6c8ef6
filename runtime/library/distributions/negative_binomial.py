"""Successes before a number of failures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.gamma import Gamma
from torchgen_out._runtime.library.distributions.parameters import broadcast_all, lazy_property
from torchgen_out._runtime.library.distributions.probabilities import ProbsOrLogits
from torchgen_out.nn import functional as F

__all__ = ["NegativeBinomial"]


class NegativeBinomial(ProbsOrLogits):
    """How many successes of probability `probs` come before `total_count` failures."""

    total_count: Tensor

    arg_constraints: ClassVar = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._keep_given(probs, logits)
        count, given = broadcast_all(total_count, self._param)
        self._take(validate_args, **{"total_count": count.to(given), self._given: given})

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new.__dict__.pop("_gamma", None)
        return new

    @property
    def mean(self) -> Tensor:
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.mean / torch.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Gamma:
        """The rates of the Poisson numbers that make the counts."""
        return Gamma(self.total_count, torch.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with torch.no_grad():
            return torch.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        unnormalized = n * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        ways = torch.lgamma(n + value) - torch.lgamma(1 + value) - torch.lgamma(n)
        # No failure to wait for: no success either.
        return unnormalized + ways.masked_fill(n + value == 0, 0)
