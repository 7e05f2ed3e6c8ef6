"""Batch normalisation in evaluation mode, folded into the layer before it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import torchgen_out as torch
from torchgen_out._runtime.library.nn.module import Module
from torchgen_out._runtime.library.nn.parameter import Parameter

T = TypeVar("T", bound=Module)


def fuse_conv_bn_eval(conv: T, bn: Any, transpose: bool = False) -> T:
    """A copy of a convolution that computes what it and the batch norm after it compute.

    **Raises** AssertionError if one of them is in training mode.
    """
    return _fused(conv, bn, partial(fuse_conv_bn_weights, transpose=transpose))


def fuse_linear_bn_eval(linear: T, bn: Any) -> T:
    """A copy of a linear layer that computes what it and the batch norm after it compute.

    **Raises** AssertionError if one of them is in training mode, or their features differ.
    """
    features = linear.out_features
    if bn.num_features not in (features, 1):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1"
        )
    return _fused(linear, bn, fuse_linear_bn_weights)


def _fused(layer: T, bn: Any, fuse: Callable[..., tuple[Any, Any]]) -> T:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("Only support fusion for batch norm with running statistics")
    fused = copy.deepcopy(layer)
    fused.weight, fused.bias = fuse(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Any,
    conv_b: Any,
    bn_rm: Any,
    bn_rv: Any,
    bn_eps: float,
    bn_w: Any,
    bn_b: Any,
    transpose: bool = False,
) -> tuple[Any, Any]:
    """Weight and bias of the convolution that includes the normalisation."""
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _folded(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Any, Any]:
    """Weight and bias of the linear layer that includes the normalisation."""
    return _folded(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def _folded(
    weight: Any, bias: Any, mean: Any, var: Any, eps: float, scale: Any, shift: Any, shape: Any
) -> tuple[Any, Any]:
    """scale * (weight x + bias - mean) / sqrt(var + eps) + shift, as weight and bias."""
    given = torch.zeros_like(mean) if bias is None else bias
    scale = torch.ones_like(mean) if scale is None else scale
    shift = torch.zeros_like(mean) if shift is None else shift
    factor = scale * torch.rsqrt(var + eps)
    fused_weight = (weight * factor.reshape(shape)).to(dtype=weight.dtype)
    fused_bias = ((given - mean) * factor + shift).to(dtype=given.dtype)
    needs_grad = True if bias is None else bias.requires_grad
    return Parameter(fused_weight, weight.requires_grad), Parameter(fused_bias, needs_grad)
