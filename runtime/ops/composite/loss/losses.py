"""Losses as compositions: an element-wise formula, a reduction, and PyTorch's older arguments."""

from __future__ import annotations

import math
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends import protocol as backends
from torchgen_out._runtime.core import batched
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.dispatch import ops

REDUCTION_CODES = {"none": 0, "mean": 1, "sum": 2}


def older_reduction(size_average: Any, reduce: Any) -> str:
    """The reduction that 0.4's `size_average` and `reduce` mean, with a warning."""
    averages = size_average is None or size_average
    reduction = ("mean" if averages else "sum") if reduce is None or reduce else "none"
    warn(
        "size_average and reduce args will be deprecated, "
        f"please use reduction='{reduction}' instead.",
    )
    return reduction


def named_reduction(size_average: Any, reduce: Any, reduction: str) -> str:
    """The reduction by name; `size_average` and `reduce` are its older spelling."""
    if size_average is not None or reduce is not None:
        reduction = older_reduction(size_average, reduce)
    if reduction == "elementwise_mean":
        warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.",
        )
        reduction = "mean"
    if reduction not in REDUCTION_CODES:
        raise errors.invalid_reduction(reduction)
    return reduction


def reduced(loss: Any, reduction: str) -> Any:
    """The losses, their mean or their sum."""
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss


# Regression.


def mse_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """(input - target) ** 2."""
    reduction = named_reduction(size_average, reduce, reduction)
    _warn_if_sizes_differ(input, target)
    if weight is None:
        return reduced(ops._squared_difference(input, target), reduction)
    return _weighted((input - target).square(), input, weight, reduction)


def l1_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """|input - target|."""
    reduction = named_reduction(size_average, reduce, reduction)
    _warn_if_sizes_differ(input, target)
    return _weighted((input - target).abs(), input, weight, reduction)


def smooth_l1_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """Quadratic below `beta`, linear above; slope 1 there."""
    reduction = named_reduction(size_average, reduce, reduction)
    if not beta >= 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return l1_loss(input, target, None, None, reduction)
    _warn_if_sizes_differ(input, target)
    return reduced(ops._smooth_l1(input, target, beta), reduction)


def huber_loss(
    input: Any,
    target: Any,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Any = None,
) -> Any:
    """Quadratic below `delta`, linear above; slope `delta` there."""
    reduction = named_reduction(None, None, reduction)
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    _warn_if_sizes_differ(input, target)
    loss = ops._huber(input, target, delta)
    if weight is None:
        return reduced(loss, reduction)
    _check_weight(weight, input)
    return reduced(loss * weight, reduction)


def _warn_if_sizes_differ(input: Any, target: Any) -> None:
    if input.shape != target.shape:
        warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
        )


def _weighted(loss: Any, input: Any, weight: Any, reduction: str) -> Any:
    """The reduction of the losses; a mean divides by the sum of the weights."""
    if weight is None:
        return reduced(loss, reduction)
    _check_weight(weight, input)
    weighted = loss * weight
    if reduction == "mean":
        return weighted.sum() / weight.sum()
    return reduced(weighted, reduction)


def _check_weight(weight: Any, input: Any) -> None:
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")


def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: Any = None,
    eps: float = 1e-8,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """exp(input) - target * input, or input - target * log(input)."""
    reduction = named_reduction(size_average, reduce, reduction)
    rate, log_rate = (input.exp(), input) if log_input else (input, (input + eps).log())
    loss = rate - target * log_rate
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return reduced(loss, reduction)


def gaussian_nll_loss(
    input: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: Any = 1e-6,
    reduction: str = "mean",
) -> Any:
    """0.5 * (log(var) + (input - target) ** 2 / var), var at least `eps`."""
    if isinstance(var, (int, float)):
        var = input.new_full(input.shape, var)
    if var.shape != input.shape:
        if var.shape == input.shape[:-1]:
            var = var.unsqueeze(-1)
        elif var.ndim != input.ndim or any(
            size not in (1, whole) for size, whole in zip(var.shape, input.shape, strict=True)
        ):
            raise ValueError("var is of incorrect size")
    reduction = named_reduction(None, None, reduction)
    if batched.any_true(var < 0):
        raise ValueError("var has negative entry/entries")
    bounded = var.clone()
    bounded.detach().clamp_(min=eps)  # the bound is not part of what is differentiated
    loss = 0.5 * (bounded.log() + (input - target).square() / bounded)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)


# Probabilities.


def binary_cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """-(target * log(input) + (1 - target) * log(1 - input)), logarithms at least -100."""
    reduction = named_reduction(size_average, reduce, reduction)
    if input.shape != target.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}) is deprecated. Please ensure they have the same size."
        )
    if input.dtype is not target.dtype:
        raise RuntimeError(
            f"Found dtype {errors.scalar_type_name(target.dtype)} "
            f"but expected {errors.scalar_type_name(input.dtype)}"
        )
    for name, tensor in (("input", input), ("target", target)):
        error = RuntimeError(f"all elements of {name} should be between 0 and 1")
        outside = ops._outside_unit(tensor)
        backends.of(tensor).refuse_any(outside, "binary_cross_entropy", error)
    loss = ops._binary_cross_entropy(input, target)
    return reduced(loss if weight is None else loss * weight.expand(input.shape), reduction)


def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """binary_cross_entropy of sigmoid(input), computed without the sigmoid."""
    reduction = named_reduction(size_average, reduce, reduction)
    if input.shape != target.shape:
        raise ValueError(
            f"Target size ({target.shape}) must be the same as input size ({input.shape})"
        )
    if pos_weight is None:
        loss = ops._logistic_loss(input, target)
    else:
        loss = ops._weighted_logistic_loss(input, target, pos_weight)
    return reduced(loss if weight is None else loss * weight, reduction)


def kl_div(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """target * (log(target) - input); with log_target the target is given as its logarithm."""
    if reduction == "mean" and size_average is None and reduce is None:
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support "
            "size. 'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.",
        )
    formula = ops._kl_div_log_target if log_target else ops._kl_div
    loss = formula(input, target)
    if reduction == "batchmean":
        return loss.sum() / input.shape[0] if input.ndim else loss.sum()
    return reduced(loss, named_reduction(size_average, reduce, reduction))
