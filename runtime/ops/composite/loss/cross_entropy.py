"""Losses over classes: negative log likelihood and cross entropy."""

from __future__ import annotations

from math import nan
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.loss.losses import (
    REDUCTION_CODES,
    named_reduction,
    reduced,
)


def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """-weight[t] * input[:, t], of log-probabilities over the classes in dim 1."""
    code = REDUCTION_CODES[named_reduction(size_average, reduce, reduction)]
    return ops.nll_loss_forward(input, target, weight, code, ignore_index)[0]


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """nll_loss of log_softmax(input), or its mean under a distribution given as target."""
    reduction = named_reduction(size_average, reduce, reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    sizes = input._sizes
    class_dim = 0 if len(sizes) == 1 else 1
    if sizes == target._sizes:
        return _with_probabilities(
            input, target, weight, ignore_index, reduction, label_smoothing, class_dim
        )
    code = REDUCTION_CODES[reduction]
    if len(sizes) == 2:
        arguments = (target, weight, code, ignore_index, label_smoothing)
        return ops._cross_entropy_rows(input, *arguments)[0]
    log_probabilities = input.log_softmax(class_dim)
    loss = ops.nll_loss_forward(log_probabilities, target, weight, code, ignore_index)[0]
    if label_smoothing == 0.0:
        return loss
    smooth = _uniform_loss(log_probabilities, target, weight, ignore_index, reduction, class_dim)
    share = label_smoothing / sizes[class_dim]
    return loss * (1 - label_smoothing) + smooth * share


def _with_probabilities(
    input: Any,
    target: Any,
    weight: Any,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
    class_dim: int,
) -> Any:
    """The target holds the probability of each class."""
    if target.dtype.kind not in "fc":
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, "
            f"got {errors.scalar_type_name(target.dtype)}"
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    classes = input.shape[class_dim]
    if weight is not None and tuple(weight.shape) != (classes,):
        raise errors.class_weights_do_not_fit("cross_entropy: ", classes, weight.shape)
    log_probabilities = input.log_softmax(class_dim)
    if label_smoothing > 0.0:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    each = log_probabilities * target
    if weight is not None:
        each = each * _along_classes(weight, input, class_dim)
    if reduction == "mean":
        places = input.numel() // classes if classes else 0
        return each.sum() / -places if places else each.sum() * nan
    return -each.sum() if reduction == "sum" else -each.sum(class_dim)


def _along_classes(weight: Any, input: Any, class_dim: int) -> Any:
    """The weights as a tensor that broadcasts along the class dim."""
    sizes = [1] * input.ndim
    sizes[class_dim] = weight.shape[0]
    return weight.view(sizes)


def _uniform_loss(
    log_probabilities: Any,
    target: Any,
    weight: Any,
    ignore_index: int,
    reduction: str,
    class_dim: int,
) -> Any:
    """The loss against the uniform distribution, times the number of classes."""
    if weight is not None:
        log_probabilities = log_probabilities * _along_classes(weight, log_probabilities, class_dim)
    ignored = target == ignore_index
    loss = (-log_probabilities.sum(class_dim)).masked_fill(ignored, 0)
    if reduction != "mean":
        return reduced(loss, reduction)
    if weight is None:
        return loss.sum() / (target.numel() - ignored.sum())
    own = weight.index_select(0, target.masked_fill(ignored, 0).flatten())
    return loss.sum() / own.masked_fill(ignored.flatten(), 0).sum()
