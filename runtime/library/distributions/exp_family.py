"""Families p(x) = h(x) exp(<t(x), theta> - F(theta)): entropies follow from F."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions.distribution import Distribution
from torchgen_out._runtime.library.distributions.parameters import sum_rightmost

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A family that says its natural parameters and the log of its normaliser."""

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        """theta: one tensor per statistic, its first dims the batch's."""
        raise NotImplementedError(f"{type(self).__name__} has no natural parameters")

    def _log_normalizer(self, *natural_params: Any) -> Any:
        """F(theta), of the batch's shape."""
        raise NotImplementedError(f"{type(self).__name__} has no log normaliser")

    @property
    def _mean_carrier_measure(self) -> float:
        """The mean of log h(x)."""
        raise NotImplementedError(f"{type(self).__name__} has no carrier measure")

    def _log_normalizer_and_slope(self) -> tuple[list[Any], Any, tuple[Any, ...]]:
        """theta, F(theta) and its gradient, which can itself be differentiated."""
        with torch.enable_grad():
            theta = [p.detach().requires_grad_() for p in self._natural_params]
            normalizer = self._log_normalizer(*theta)
            slope = torch.autograd.grad(normalizer.sum(), theta, create_graph=True)
        return theta, normalizer, slope

    def entropy(self) -> Tensor:
        """F(theta) - <theta, F'(theta)> - E[log h(x)]."""
        theta, normalizer, slope = self._log_normalizer_and_slope()
        result = normalizer - self._mean_carrier_measure
        for p, g in zip(theta, slope, strict=True):
            term = p * g
            result = result - sum_rightmost(term, term.dim() - len(self.batch_shape))
        return result
