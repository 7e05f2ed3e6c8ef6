"""Correlations by their Cholesky factors: the LKJ distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.beta import Beta
from torchgen_out._runtime.library.distributions.distribution import Distribution
from torchgen_out._runtime.library.distributions.parameters import broadcast_all, standard_normal

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors of `dim` x `dim` correlations, of density det^(concentration - 1).

    Source: Lewandowski, Kurowicka and Joe, Generating random correlation matrices (2009), the
    onion method.
    """

    arg_constraints: ClassVar = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(
        self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        shape = self.concentration.shape
        super().__init__(shape, (dim, dim), validate_args=validate_args)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Row i ends a random direction of i entries, whose squared length is a beta number."""
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            like = self.concentration
            step = torch.arange(self.dim - 1, dtype=like.dtype, device=like.device)
            rest = like.unsqueeze(-1) + 0.5 * (self.dim - 2) - 0.5 * step
            lengths = Beta(0.5 * (step + 1), rest, validate_args=False).sample(sample_shape)
            directions = standard_normal(shape, like).tril(-1)[..., 1:, :]
            directions = directions / directions.norm(dim=-1, keepdim=True)
            rows = torch.zeros(shape, dtype=like.dtype, device=like.device)
            rows[..., 1:, :] = lengths.sqrt().unsqueeze(-1) * directions
            left = (1 - rows.pow(2).sum(-1)).clamp(min=torch.finfo(like.dtype).tiny)
            return rows + torch.diag_embed(left.sqrt())

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n = self.dim
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        place = torch.arange(2, n + 1, dtype=value.dtype, device=value.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + n - place
        alpha = self.concentration + 0.5 * (n - 1)
        tops = torch.mvlgamma(alpha - 0.5, n - 1) - (n - 1) * torch.lgamma(alpha)
        log_norm = 0.5 * (n - 1) * math.log(math.pi) + tops
        return (order * diagonal.log()).sum(-1) - log_norm
