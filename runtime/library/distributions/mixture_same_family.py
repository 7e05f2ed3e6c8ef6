"""A choice between components of one family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.categorical import Categorical
from torchgen_out._runtime.library.distributions.distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """Events of a component that `mixture_distribution` chooses.

    The components are the last batch dim of `component_distribution`.
    """

    arg_constraints: ClassVar = {}

    def __init__(
        self,
        mixture_distribution: Any,
        component_distribution: Any,
        validate_args: bool | None = None,
    ) -> None:
        _check_parts(mixture_distribution, component_distribution)
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = component_distribution.batch_shape[-1]
        event = component_distribution.event_shape
        self._event_ndims = len(event)
        super().__init__(component_distribution.batch_shape[:-1], event, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._component_distribution = self._component_distribution.expand(
            (*batch_shape, self._num_component)
        )
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """The choice of a component."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components."""
        return self._component_distribution

    def _weighted(self, value: Any) -> Any:
        """The mean over the components of something of each."""
        probs = self._mixture_distribution.probs
        weights = probs.reshape(probs.shape + (1,) * self._event_ndims)
        return (weights * value).sum(-1 - self._event_ndims)

    @property
    def mean(self) -> Tensor:
        return self._weighted(self._component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        """Within the components and between them."""
        component = self._component_distribution
        between = component.mean - self._pad(self.mean)
        return self._weighted(component.variance) + self._weighted(between.pow(2))

    def cdf(self, x: Tensor) -> Tensor:
        each = self._component_distribution.cdf(self._pad(x))
        return (each * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(x)
        each = self._component_distribution.log_prob(self._pad(x))
        weights = torch.log_softmax(self._mixture_distribution.logits, dim=-1)
        return torch.logsumexp(each + weights, dim=-1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with torch.no_grad():
            chosen = self._mixture_distribution.sample(sample_shape)
            drawn = self._component_distribution.sample(sample_shape)
            dim = drawn.dim() - 1 - self._event_ndims
            index = chosen.reshape(chosen.shape + (1,) * (self._event_ndims + 1))
            index = index.expand((*chosen.shape, 1, *self.event_shape))
            return drawn.gather(dim, index).squeeze(dim)

    def _pad(self, value: Any) -> Any:
        """With the components' dim, of size 1."""
        return value.unsqueeze(-1 - self._event_ndims)

    def __repr__(self) -> str:
        parts = f"{self._mixture_distribution},\n  {self._component_distribution}"
        return f"MixtureSameFamily(\n  {parts})"


def _check_parts(mixture: Any, component: Any) -> None:
    """Raise ValueError unless these are a choice and as many components, batch by batch."""
    if not isinstance(mixture, Categorical):
        raise ValueError(" The Mixture distribution needs to be an  instance of "
                         "torch.distributions.Categorical")  # fmt: skip
    if not isinstance(component, Distribution):
        raise ValueError("The Component distribution need to be an instance of "
                         "torch.distributions.Distribution")  # fmt: skip
    batch = component.batch_shape[:-1]
    for a, b in zip(reversed(mixture.batch_shape), reversed(batch), strict=False):
        if 1 not in (a, b) and a != b:
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({mixture.batch_shape}) is not compatible "
                f"with `component_distribution.batch_shape`({batch})"
            )
    if mixture.param_shape[-1] != component.batch_shape[-1]:
        raise ValueError(
            f"`mixture_distribution component` ({mixture.param_shape[-1]}) does not equal "
            f"`component_distribution.batch_shape[-1]` ({component.batch_shape[-1]})"
        )
