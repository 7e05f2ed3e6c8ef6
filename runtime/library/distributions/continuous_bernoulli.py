"""Shares whose density is p^x (1 - p)^(1 - x), normalised."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.exp_family import ExponentialFamily
from torchgen_out._runtime.library.distributions.parameters import broadcast_all, clamp_probs
from torchgen_out._runtime.library.distributions.probabilities import ProbsOrLogits
from torchgen_out.nn import functional as F

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """Density in proportion to p^x (1 - p)^(1 - x) on [0, 1].

    Its formulas are 0 / 0 at p = 1/2: between `lims` their series takes over.
    Source: Loaiza-Ganem and Cunningham, The continuous Bernoulli (2019).
    """

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._keep_given(probs, logits)
        self._lims = lims
        self._take(validate_args, **{self._given: self._param})
        if probs is not None:
            self.probs = clamp_probs(self.probs)

    def _is_far(self) -> Any:
        """Whether p is off the limits, where the formulas hold."""
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _far_probs(self) -> Any:
        """p, or a limit where the formulas do not hold: what they give there is not used."""
        return torch.where(self._is_far(), self.probs, self._lims[0])

    def _log_norm(self) -> Any:
        """The log of 2 artanh(1 - 2 p) / (1 - 2 p), which normalises the density."""
        p = self._far_probs()
        exact = ((-p).log1p() - p.log()).abs().log() - (1 - 2 * p).abs().log()
        x = (self.probs - 0.5).pow(2)
        return torch.where(self._is_far(), exact, math.log(2) + (4 / 3 + 104 / 45 * x) * x)

    @property
    def mean(self) -> Tensor:
        p = self._far_probs()
        exact = p / (2 * p - 1) + 1 / ((-p).log1p() - p.log())
        x = self.probs - 0.5
        return torch.where(self._is_far(), exact, 0.5 + (1 / 3 + 16 / 45 * x.pow(2)) * x)

    @property
    def stddev(self) -> Tensor:
        return self.variance.sqrt()

    @property
    def variance(self) -> Tensor:
        p = self._far_probs()
        exact = p * (p - 1) / (1 - 2 * p).pow(2) + 1 / ((-p).log1p() - p.log()).pow(2)
        x = (self.probs - 0.5).pow(2)
        return torch.where(self._is_far(), exact, 1 / 12 - (1 / 15 - 128 / 945 * x) * x)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        loss = F.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return -loss + self._log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        p = self._far_probs()
        exact = (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1)
        return torch.where(self._is_far(), exact, value).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        p = self._far_probs()
        exact = ((-p + value * (2 * p - 1)).log1p() - (-p).log1p()) / (p.log() - (-p).log1p())
        return torch.where(self._is_far(), exact, value)

    def entropy(self) -> Tensor:
        rest, log_p = (-self.probs).log1p(), self.probs.log()
        return self.mean * (rest - log_p) - self._log_norm() - rest

    @property
    def _natural_params(self) -> tuple[Any]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        """log((e^x - 1) / x), and its series around 0."""
        low, high = self._lims
        is_far = (x <= low - 0.5) | (x > high - 0.5)
        far = torch.where(is_far, x, low - 0.5)
        return torch.where(is_far, far.expm1().abs().log() - far.abs().log(), 0.5 * x + x * x / 24)
