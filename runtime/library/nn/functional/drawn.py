"""Activations that draw at random: rrelu, gumbel_softmax."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.dispatch import ops


def rrelu(
    input: Any,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """leaky_relu with a slope drawn per element in training, the mean slope otherwise."""
    call = ops.rrelu_ if inplace else ops.rrelu
    return call(input, lower, upper, training)


def gumbel_softmax(
    logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Any:
    """Draw from the relaxed categorical distribution; `hard` makes it one-hot in value only.

    **Source** Jang et al., 2016.
    """
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    noise = -torch.empty_like(logits).exponential_().log()
    soft = ops.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = torch.zeros_like(logits).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft


def rrelu_(
    input: Any, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False
) -> Any:
    """`rrelu` in place."""
    return rrelu(input, lower, upper, training, inplace=True)
