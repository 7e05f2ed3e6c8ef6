"""Losses and normalisations under `torch`: those of `nn.functional`, called as kernels are.

A reduction is a number here, 0 for none, 1 for the mean, 2 for the sum, and statistics stand behind
the weights.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.loss.losses import reduced

__all__ = [
    "batch_norm",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "instance_norm",
    "kl_div",
    "margin_ranking_loss",
    "poisson_nll_loss",
    "triplet_margin_loss",
]

_NAMES = ("none", "mean", "sum")


def _named(reduction: int) -> str:
    if reduction not in (0, 1, 2):
        raise ValueError(f"reduction must be 0, 1 or 2, but got {reduction}")
    return _NAMES[reduction]


def batch_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Any:
    """`nn.functional.batch_norm`."""
    affine = weight, bias
    return ops.batch_norm(input, running_mean, running_var, *affine, training, momentum, eps)


def instance_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Any:
    """`nn.functional.instance_norm`."""
    rest = weight, bias, use_input_stats, momentum, eps
    return ops.instance_norm(input, running_mean, running_var, *rest)


def kl_div(input: Any, target: Any, reduction: int = 1, *, log_target: bool = False) -> Any:
    """`nn.functional.kl_div`; the mean is that of all elements."""
    each = (ops._kl_div_log_target if log_target else ops._kl_div)(input, target)
    return reduced(each, _named(reduction))


def poisson_nll_loss(
    input: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: int
) -> Any:
    """`nn.functional.poisson_nll_loss`."""
    named = _named(reduction)
    return ops.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=named)


def hinge_embedding_loss(input: Any, target: Any, margin: float = 1.0, reduction: int = 1) -> Any:
    """`nn.functional.hinge_embedding_loss`."""
    return ops.hinge_embedding_loss(input, target, margin, reduction=_named(reduction))


def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: int = 1
) -> Any:
    """`nn.functional.cosine_embedding_loss`."""
    return ops.cosine_embedding_loss(input1, input2, target, margin, reduction=_named(reduction))


def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: int = 1
) -> Any:
    """`nn.functional.margin_ranking_loss`."""
    return ops.margin_ranking_loss(input1, input2, target, margin, reduction=_named(reduction))


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 1,
) -> Any:
    """`nn.functional.triplet_margin_loss`."""
    options = margin, p, eps, swap
    return ops.triplet_margin_loss(
        anchor, positive, negative, *options, reduction=_named(reduction)
    )


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: int = 1
) -> Any:
    """`nn.functional.binary_cross_entropy_with_logits`."""
    options = {"reduction": _named(reduction), "pos_weight": pos_weight}
    return ops.binary_cross_entropy_with_logits(input, target, weight, **options)
