"""Distributions that are given by probabilities or by logits; each follows from the other."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions.distribution import Distribution
from torchgen_out._runtime.library.distributions.parameters import (
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)


class ProbsOrLogits(Distribution):
    """A distribution of exactly one of `probs` and `logits`, kept as given."""

    _is_binary = True
    """Whether a probability is of a binary variable, and its logit the log odds."""

    def _keep_given(self, probs: Any, logits: Any) -> None:
        """Set the one that is given.

        Raises: ValueError if none is, or both.
        """
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        self._given = "probs" if logits is None else "logits"
        setattr(self, self._given, probs if logits is None else logits)

    @property
    def _param(self) -> Any:
        """The one that was given."""
        return getattr(self, self._given)

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities."""
        return logits_to_probs(self.logits, self._is_binary)

    @lazy_property
    def logits(self) -> Tensor:
        """Log odds, or normalised log probabilities."""
        return probs_to_logits(self.probs, self._is_binary)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.size()
