"""Backward formulas of a network's layers: softmax, losses, convolution, pooling, normalisation.

`formulas.py` shows them to derivatives.yaml. The same rules hold: differentiable operators only. A
normalisation has a fused backward kernel for the usual pass; under create_graph its gradient is
spelled in operators instead, which gives every higher order.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.autograd.matrix_formulas import _with_reduced_dims
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

# -- softmax -----------------------------------------------------------------------------------


def softmax_double_backward(grad: Tensor, grad_output: Tensor, output: Tensor, dim: int) -> Any:
    """The gradient of y * (g - sum(g * y)) with respect to y."""
    inner = (grad_output * output).sum(dim, True)
    outer = (grad * output).sum(dim, True)
    return grad * (grad_output - inner) - grad_output * outer


def logsumexp_backward(grad: Tensor, self: Tensor, result: Tensor, dim: Any, keepdim: bool) -> Any:
    """The softmax times the gradient."""
    sizes = self._sizes
    grad = _with_reduced_dims(grad, sizes, dim, keepdim)
    result = _with_reduced_dims(result, sizes, dim, keepdim)
    weights = (self - result).exp()
    return grad * (weights.conj() if weights.dtype.is_complex else weights)


# -- losses ------------------------------------------------------------------------------------


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
    if not _is_recorded(grad, input):
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


# -- convolution -------------------------------------------------------------------------------


def convolution_grad_bias(grad: Tensor) -> Any:
    """Each channel's sum."""
    return grad.sum([0, *range(2, len(grad._sizes))])


def convolution_like(
    input: Tensor,
    weight: Tensor,
    sizes: Sequence[int],
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    groups: int,
) -> Any:
    """The convolution whose result has `sizes`; for a transposed one that decides the padding."""
    count = len(sizes) - 2
    extra = [0] * count
    if transposed:
        numbers = (_each(value, count) for value in (stride, padding, dilation))
        extra = [
            wanted - ((size - 1) * s - 2 * p + d * (k - 1) + 1)
            for wanted, size, k, s, p, d in zip(
                sizes[2:], input._sizes[2:], weight._sizes[2:], *numbers, strict=True
            )
        ]
    return ops.convolution(
        input, weight, None, stride, padding, dilation, transposed, extra, groups
    )


def _each(value: Any, count: int) -> tuple[int, ...]:
    """One number per spatial dim; a single one stands for all."""
    values = (value,) if isinstance(value, int) else tuple(value)
    return values * count if len(values) == 1 else values


# -- pooling -----------------------------------------------------------------------------------


def gather_pooled(grad: Tensor, indices: Tensor, count: int) -> Any:
    """The elements that the windows chose."""
    sizes = indices._sizes
    flat = indices.flatten(len(sizes) - count)
    return grad.flatten(len(sizes) - count).gather(-1, flat).view(sizes)


def avg_pool_like(
    grad: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    count: int,
) -> Any:
    """The mean over windows of `count` dims."""
    pool = ops.avg_pool2d if count == 2 else ops.avg_pool3d
    return pool(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def adaptive_avg_pool_like(grad: Tensor, sizes: Sequence[int], count: int) -> Any:
    """The mean over as many windows as the pooled `sizes` say."""
    pool = ops._adaptive_avg_pool2d if count == 2 else ops._adaptive_avg_pool3d
    return pool(grad, sizes[len(sizes) - count :])


# -- normalisation -----------------------------------------------------------------------------


def _is_recorded(*tensors: Tensor | None) -> bool:
    return grad_mode.is_enabled() and any(t is not None and t.requires_grad for t in tensors)


def _wanted(gradients: Sequence[Any], mask: Sequence[bool]) -> tuple[Any, ...]:
    return tuple(
        gradient if wanted else None for gradient, wanted in zip(gradients, mask, strict=True)
    )


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
    if not _is_recorded(grad, input, weight):
        gradients = ops.native_batch_norm_backward(
            grad,
            input,
            weight,
            running_mean,
            running_var,
            save_mean if training else None,
            save_invstd if training else None,
            training,
            eps,
            mask,
        )
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
    if not _is_recorded(grad, input, weight):
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
    if alone and not _is_recorded(grad, input, weight):
        gradients = ops.native_group_norm_backward(grad, input, mean, rstd, weight, *numbers, mask)
        return _wanted(gradients, mask)
    count, channels, places, groups = numbers
    rows = input.reshape((count, groups, -1))
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


def opposite(numbers: Sequence[int]) -> list[int]:
    """The numbers negated: the padding that undoes a padding."""
    return [-number for number in numbers]
