"""Counts of categories among a number of draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.binomial import Binomial
from torchgen_out._runtime.library.distributions.categorical import Categorical
from torchgen_out._runtime.library.distributions.distribution import Distribution

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """How often each category comes in `total_count` draws, an int that the batch shares."""

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    total_count: int

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        self._binomial = Binomial(total_count, self.probs)
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._categorical = self._categorical.expand(batch_shape)
        new._binomial = self._binomial.expand((*batch_shape, *self.event_shape))
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def probs(self) -> Any:
        """The probabilities of the categories."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """The logs of the probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with torch.no_grad():
            draws = self._categorical.sample((*sample_shape, self.total_count))
            drawn = draws.movedim(len(sample_shape), -1)
            counts = torch.zeros(self._extended_shape(sample_shape), dtype=self.probs.dtype,
                                 device=self.probs.device)  # fmt: skip
            return counts.scatter_add_(-1, drawn, torch.ones_like(drawn, dtype=counts.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = torch.broadcast_tensors(self.logits, value)
        ways = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        # A category that is impossible and was not drawn adds 0, not 0 * -inf.
        absent = (value == 0) & (logits == -float("inf"))
        return ways + (logits.masked_fill(absent, 0) * value).sum(-1)

    def entropy(self) -> Tensor:
        """-log n! + n H(category) + the mean of the sum of log x!, by the binomial margins."""
        n = torch.tensor(self.total_count)
        counts = self._binomial.enumerate_support(expand=False)[1:]
        weights = torch.exp(self._binomial.log_prob(counts))
        repeats = (weights * torch.lgamma(counts + 1)).sum((0, -1))
        return n * self._categorical.entropy() - torch.lgamma(n + 1) + repeats
