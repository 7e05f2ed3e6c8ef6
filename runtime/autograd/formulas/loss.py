"""Gradients of losses over classes."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.autograd.rerun import is_recorded
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def nll_loss_double_backward(
    grad: Tensor,
    target: Tensor,
    weight: Tensor | None,
    total_weight: Tensor,
    reduction: int,
    ignore_index: int,
) -> Any:
    """The loss is linear in its input: the gradient of the gradient is the loss again."""
    if reduction != 1:
        return ops.nll_loss_forward(grad, target, weight, reduction, ignore_index)[0]
    total = ops.nll_loss_forward(grad, target, weight, 2, ignore_index)[0]
    return total / total_weight


def cross_entropy_rows_backward(
    grad: Tensor,
    logarithms: Tensor,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    total_weight: Tensor,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> Any:
    """The gradient of the scores, fused; under create_graph that of its two halves in turn."""
    if not is_recorded(grad, input):
        numbers = (reduction, ignore_index, label_smoothing)
        return ops._cross_entropy_rows_backward(
            grad, logarithms, target, weight, total_weight, *numbers
        )
    arguments = (target, weight, total_weight, input._sizes, reduction, ignore_index)
    of_logarithms = ops._nll_loss_backward(grad, *arguments)
    if label_smoothing:
        upstream = (grad / total_weight if reduction == 1 else grad).expand(target._sizes)
        upstream = upstream.masked_fill(target == ignore_index, 0).unsqueeze(1)
        uniform = upstream.expand(input._sizes) if weight is None else upstream * weight
        share = label_smoothing / input._sizes[1]
        of_logarithms = of_logarithms * (1 - label_smoothing) - uniform * share
    recorded = input.log_softmax(1)
    return ops._log_softmax_backward_data(of_logarithms, recorded, 1, input.dtype)
