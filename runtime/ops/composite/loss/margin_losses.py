"""Losses that ask for a margin between scores or between distances."""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.loss.losses import named_reduction, reduced


def hinge_embedding_loss(
    input: Any,
    target: Any,
    margin: float = 1.0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """input where target is 1; max(0, margin - input) where it is -1."""
    reduction = named_reduction(size_average, reduce, reduction)
    zeros = ops.zeros_like(input)
    apart = ops.where(target == 1, zeros, (margin - input).clamp(min=0))
    together = ops.where(target == -1, zeros, input)
    return reduced(apart + together, reduction)


def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """1 - cos where target is 1; max(0, cos - margin) where it is -1."""
    reduction = named_reduction(size_average, reduce, reduction)
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    _check_embeddings(input1, input2, target)
    eps = 1e-12
    product = (input1 * input2).sum(-1)
    squares = (input1.square().sum(-1) + eps) * (input2.square().sum(-1) + eps)
    cosine = product / squares.sqrt()
    zeros = ops.zeros_like(cosine)
    alike = ops.where(target == 1, 1 - cosine, zeros)
    different = ops.where(target == -1, (cosine - margin).clamp(min=0), zeros)
    return reduced(alike + different, reduction)


def _check_embeddings(input1: Any, input2: Any, target: Any) -> None:
    ndim = target.ndim + 1
    if input1.ndim != ndim or input2.ndim != ndim:
        kind, wanted = ("1D", "2D") if target.ndim else ("0D", "1D")
        raise RuntimeError(
            f"{kind} target tensor expects {wanted} input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )


def margin_ranking_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """max(0, -target * (input1 - input2) + margin)."""
    reduction = named_reduction(size_average, reduce, reduction)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    return reduced((-target * (input1 - input2) + margin).clamp(min=0), reduction)


def soft_margin_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """log(1 + exp(-target * input))."""
    reduction = named_reduction(size_average, reduce, reduction)
    exponent = target.mul(input.neg())
    if exponent.dtype.is_complex:
        return reduced(exponent.exp().log1p(), reduction)
    return reduced(ops.softplus(exponent, 1, 36), reduction)


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """max(0, |anchor - positive| - |anchor - negative| + margin)."""
    reduction = named_reduction(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative "
            f"{negative.ndim}D inputs"
        )
    near = ops.pairwise_distance(anchor, positive, p, eps)
    far = ops.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = ops.minimum(far, ops.pairwise_distance(positive, negative, p, eps))
    return reduced((near - far + margin).clamp(min=0), reduction)


def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """Mean over the other classes of max(0, margin - input[target] + input[i]) ** p."""
    reduction = named_reduction(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and len(weight._sizes) != 1:
        raise ValueError("weight must be one-dimensional")
    sizes, labels = input._sizes, target._sizes
    scores = input if len(sizes) == 2 else input.reshape((1, -1) if not sizes else (-1, sizes[-1]))
    rows, classes = scores._sizes
    if len(labels) > 1 or prod(labels) != rows:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{rows}], but got {list(labels)}"
        )
    if target.dtype is not dtypes.int64:
        raise errors.scalar_type_mismatch(dtypes.int64, target.dtype)
    if weight is not None and weight._sizes[0] != classes:
        raise errors.class_weights_do_not_fit("multi_margin_loss: ", classes, weight.shape)
    call = ops._multi_margin if reduction == "none" else ops._multi_margin_total
    # The mean of no losses is 0 here, and nan elsewhere.
    count = max(classes, 1) * (max(rows, 1) if reduction == "mean" else 1)
    try:
        loss = call(
            scores, target if labels else target.reshape((1,)), weight, p, margin, 1 / count
        )
    except IndexError as error:
        raise RuntimeError("multi_margin_loss: target out of range") from error
    return loss if labels or reduction != "none" else loss.reshape(())


def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """Mean over the classes of the logistic loss of each."""
    reduction = named_reduction(size_average, reduce, reduction)
    loss = ops._logistic_loss(input, target)
    if weight is not None:
        loss = loss * weight
    dim = input.ndim - 1
    return reduced(loss.sum(dim) / input.size(dim), reduction)
