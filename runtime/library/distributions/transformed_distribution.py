"""The distribution of a function of another distribution's samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.distribution import Distribution
from torchgen_out._runtime.library.distributions.independent import Independent
from torchgen_out._runtime.library.distributions.parameters import sum_rightmost
from torchgen_out._runtime.library.distributions.transforms import ComposeTransform, Transform

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """`base_distribution`, changed by `transforms` one after the other."""

    arg_constraints: ClassVar = {}

    def __init__(
        self, base_distribution: Any, transforms: Any, validate_args: bool | None = None
    ) -> None:
        self.transforms = _as_list(transforms)
        chain = ComposeTransform(self.transforms)
        before = base_distribution.batch_shape + base_distribution.event_shape
        if len(before) < chain.domain.event_dim:
            raise ValueError(
                "base_distribution needs to have shape with size at least "
                f"{chain.domain.event_dim}, but got {before}."
            )
        shape = chain.forward_shape(before)
        self.base_dist = _widened(base_distribution, chain.inverse_shape(shape), chain)
        gained = chain.codomain.event_dim - chain.domain.event_dim
        event_dim = max(chain.codomain.event_dim, len(self.base_dist.event_shape) + gained)
        cut = len(shape) - event_dim
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether the base has gradients of its samples."""
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        missing = len(self.event_shape) - support.event_dim
        return constraints.independent(support, missing) if missing > 0 else support

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        shape = new.batch_shape + self.event_shape
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        own = len(self.base_dist.event_shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - own])
        return new

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with torch.no_grad():
            return self._through(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._through(self.base_dist.rsample(sample_shape))

    def _through(self, value: Any) -> Any:
        for transform in self.transforms:
            value = transform(value)
        return value

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        event_dim, y = len(self.event_shape), value
        result: Any = 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            change = transform.log_abs_det_jacobian(x, y)
            result = result - sum_rightmost(change, event_dim - transform.domain.event_dim)
            y = x
        base = self.base_dist.log_prob(y)
        return result + sum_rightmost(base, event_dim - len(self.base_dist.event_shape))

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._through(self.base_dist.icdf(self._turned(value)))

    def _turned(self, probability: Any) -> Any:
        """1 - p where the transforms turn the order of values."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return probability
        return sign * (probability - 0.5) + 0.5


def _as_list(transforms: Any) -> list[Any]:
    given = [transforms] if isinstance(transforms, Transform) else transforms
    if not isinstance(given, list) or not all(isinstance(each, Transform) for each in given):
        raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
    return given


def _widened(base: Any, shape: Any, chain: Any) -> Any:
    """`base` with batches for `shape`, and with events of as many dims as the chain takes."""
    own = len(base.event_shape)
    if base.batch_shape + base.event_shape != shape:
        base = base.expand(shape[: len(shape) - own])
    missing = chain.domain.event_dim - own
    return Independent(base, missing) if missing > 0 else base
