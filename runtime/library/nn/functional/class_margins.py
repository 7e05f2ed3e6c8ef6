"""Losses that compare classes or embeddings pair by pair."""

from __future__ import annotations

import math
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
    if target.numel():
        least, greatest = target.aminmax()
        if least.item() < -1 or greatest.item() >= target.size(-1):
            raise RuntimeError("multilabel_margin_loss: target is out of range")
    batched = input.dim() == 2
    scores, classes = (input, target) if batched else (input.unsqueeze(0), target.unsqueeze(0))
    ended = (classes < 0).cumsum(1) > 0  # from the first negative number on
    indices = classes.clamp_min(0)
    marks = torch.zeros_like(indices).scatter_add_(1, indices, (~ended).to(indices.dtype))
    # What does not count is infinitely far from the others: that is no margin, and nan is none.
    targets = scores.gather(1, indices).masked_fill(ended, math.inf).unsqueeze(2)
    others = scores.masked_fill(marks.to(torch.bool), -math.inf).unsqueeze(1)
    loss: Tensor = ops._margin_distance(others, targets, 1).sum((1, 2)) / scores.size(1)
    if reduction == "mean" and not loss.numel():
        return loss.sum()  # the mean of no losses is 0 here, and nan elsewhere
    return _reduced(loss if batched else loss.squeeze(0), reduction)


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
