"""Gradients of normalisations, by kernels or, where they are recorded, by operators."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from torchgen_out._runtime.autograd.rerun import is_recorded
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def _wanted(gradients: Sequence[Any], mask: Sequence[bool]) -> tuple[Any, ...]:
    """Those gradients that are asked for."""
    if False not in mask:
        return tuple(gradients)
    return tuple([own if wanted else None for own, wanted in zip(gradients, mask, strict=True)])


def batch_norm_backward(
    grad: Tensor,
    input: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_mean: Tensor,
    save_invstd: Tensor,
    training: bool,
    eps: float,
    mask: Sequence[bool],
) -> Any:
    """The gradients of input, weight and bias."""
    if not is_recorded(grad, input, weight):
        kept = (save_mean, save_invstd) if training else (running_mean, running_var)
        gradients = ops._batch_norm_backward(grad, input, weight, *kept, training, eps, mask)
        return _wanted(gradients, mask)
    sizes = input._sizes
    along = [1, sizes[1]] + [1] * (len(sizes) - 2)
    dims = [d for d in range(len(sizes)) if d != 1]
    if training:
        mean = input.mean(dims, True)
        invstd = ((input - mean).square().mean(dims, True) + eps).rsqrt()
    else:
        assert running_mean is not None and running_var is not None
        mean = running_mean.view(along)
        invstd = (running_var.view(along) + eps).rsqrt()
    scale = invstd if weight is None else invstd * weight.view(along)
    normal = (input - mean) * invstd
    total, product = grad.sum(dims, True), (grad * normal).sum(dims, True)
    inner = grad
    if training:
        count = prod(sizes) // max(sizes[1], 1)
        inner = grad - total / count - normal * (product / count)
    return _wanted((inner * scale, product.view(sizes[1]), total.view(sizes[1])), mask)


def layer_norm_backward(
    grad: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    mask: Sequence[bool],
) -> Any:
    """The gradients of input, weight and bias."""
    if not is_recorded(grad, input, weight):
        gradients = ops.native_layer_norm_backward(
            grad, input, normalized_shape, mean, rstd, weight, bias, mask
        )
        return _wanted(gradients, mask)
    dims = list(range(-len(normalized_shape), 0))
    lead = list(range(len(input._sizes) - len(normalized_shape)))
    center = input.mean(dims, True)
    inverse = ((input - center).square().mean(dims, True) + eps).rsqrt()
    normal = (input - center) * inverse
    inner = grad if weight is None else grad * weight
    shift, slope = inner.mean(dims, True), (inner * normal).mean(dims, True)
    grad_input = (inner - shift - normal * slope) * inverse
    grad_weight, grad_bias = grad * normal, grad
    if lead:
        grad_weight, grad_bias = grad_weight.sum(lead), grad_bias.sum(lead)
    return _wanted((grad_input, grad_weight, grad_bias), mask)


def group_norm_backward(
    grad: Tensor | None,
    grad_mean: Tensor | None,
    grad_rstd: Tensor | None,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    numbers: Sequence[int],
    eps: float,
    mask: Sequence[bool],
) -> Any:
    """The gradients of input, weight and bias; numbers: N, C, HxW and the number of groups.

    grad_mean, grad_rstd: the incoming gradients of the statistics, which few programs use.
    """
    alone = grad_mean is None and grad_rstd is None
    grad = ops.zeros_like(input) if grad is None else grad
    count, channels, places, groups = numbers
    if alone and not is_recorded(grad, input, weight):
        gradients = ops.native_group_norm_backward(
            grad, input, mean, rstd, weight, count, channels, places, groups, mask
        )
        return _wanted(gradients, mask)
    rows = input.reshape((count, groups, channels // groups * places))
    center = rows.mean(-1, True)
    inverse = ((rows - center).square().mean(-1, True) + eps).rsqrt()
    normal = ((rows - center) * inverse).reshape((count, channels, places))
    upstream = grad.reshape((count, channels, places))
    inner = upstream if weight is None else upstream * weight.view((channels, 1))
    inner, normal_rows = inner.reshape(rows.shape), normal.reshape(rows.shape)
    shift, slope = inner.mean(-1, True), (inner * normal_rows).mean(-1, True)
    grad_rows = (inner - shift - normal_rows * slope) * inverse
    if grad_mean is not None:
        grad_rows = grad_rows + grad_mean.unsqueeze(-1) / rows.shape[-1]
    if grad_rstd is not None:
        part = grad_rstd.unsqueeze(-1) * inverse.square() / rows.shape[-1]
        grad_rows = grad_rows - part * normal_rows
    grad_input = grad_rows.reshape(input._sizes)
    return _wanted((grad_input, (upstream * normal).sum((0, 2)), upstream.sum((0, 2))), mask)
