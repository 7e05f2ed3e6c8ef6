"""Losses that compare classes or embeddings pair by pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime import errors
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.loss.losses import named_reduction


def _reduced(loss: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return loss.mean() if reduction == "mean" else loss.sum()


def multilabel_margin_loss(
    input: Tensor,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean hinge between each target class and each other class.

    Shape: (N, C) or (C), targets of the same shape: classes, ended by a negative number.
    """
    reduction = named_reduction(size_average, reduce, reduction)
    if target.dtype is not torch.int64:
        raise errors.scalar_type_mismatch(torch.int64, target.dtype)
    if input.dim() and not input.size(-1):
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(input.shape)}"
        )
    if target.shape != input.shape or input.dim() > 2:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    if not input.dim():
        return multilabel_margin_loss(input.reshape(1), target.reshape(1), reduction=reduction)
    batched = input.dim() == 2
    scores, classes = (input, target) if batched else (input.unsqueeze(0), target.unsqueeze(0))
    call = ops._multilabel_margin if reduction == "none" else ops._multilabel_margin_total
    # The mean of no losses is 0 here, and nan elsewhere.
    count = scores.size(1) * (max(scores.size(0), 1) if reduction == "mean" else 1)
    try:
        loss: Tensor = call(scores, classes, 1 / count)
    except IndexError as error:
        raise RuntimeError("multilabel_margin_loss: target is out of range") from error
    return loss if batched or reduction != "none" else loss.squeeze(0)


def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) with any distance d."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = distance_function or torch.nn.functional.pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    return _reduced((margin + near - far).clamp_min(0), reduction)
