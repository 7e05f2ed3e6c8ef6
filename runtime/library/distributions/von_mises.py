"""Angles around a direction: the von Mises distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.distribution import Distribution

__all__ = ["VonMises"]


class VonMises(Distribution):
    """Angles in [-pi, pi), of density in proportion to e^(concentration * cos(angle - loc))."""

    concentration: Tensor
    loc: Tensor

    arg_constraints: ClassVar = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, loc=loc, concentration=concentration)

    @property
    def mean(self) -> Tensor:
        """The direction of the mean, on the circle."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """1 - the length of the mean, on the circle."""
        k = self.concentration
        return 1 - torch.special.i1e(k) / torch.special.i0e(k)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        k = self.concentration
        log_norm = math.log(2 * math.pi) + torch.special.i0e(k).log() + k
        return k * torch.cos(value - self.loc) - log_norm

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            loc, k = (each.double().expand(shape) for each in (self.loc, self.concentration))
            angle = _draw(k) + loc
            return ((angle + math.pi) % (2 * math.pi) - math.pi).to(self.loc.dtype)


def _draw(k: Any) -> Any:
    """Angles around 0: wrapped Cauchy numbers, kept by rejection.

    Source: D. J. Best and N. I. Fisher, Efficient simulation of the von Mises distribution (1979).
    """
    tau = 1 + (1 + 4 * k * k).sqrt()
    rho = (tau - (2 * tau).sqrt()) / (2 * k)
    # The limit of a small concentration, where the formula cancels.
    r = torch.where(k < 1e-5, 1 / k + k, (1 + rho * rho) / (2 * rho))
    drawn, is_missing = torch.full_like(k, float("nan")), k > 0
    while is_missing.any():
        turn, share, side = torch.rand((3, *k.shape), dtype=k.dtype, device=k.device)
        z = torch.cos(math.pi * turn)
        f = (1 + r * z) / (r + z)
        c = k * (r - f)
        share = 1 - share
        is_kept = (c * (2 - c) > share) | ((c / share).log() + 1 >= c)
        angle = torch.where(side < 0.5, -1.0, 1.0) * f.clamp(min=-1, max=1).acos()
        drawn = torch.where(is_missing & is_kept, angle, drawn)
        is_missing = is_missing & ~is_kept
    return drawn
