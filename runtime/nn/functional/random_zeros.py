"""Dropout in its forms: of elements, of channels, and the form that keeps SELU's statistics."""

from __future__ import annotations

import warnings
from typing import Any

import torchgen_out as torch
from runtime import errors
from runtime.dispatch import ops


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise errors.dropout_argument(p)


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zero elements with probability `p` and scale the others by 1 / (1 - p), if training."""
    _check_probability(p)
    if not training or p == 0.0:
        return input
    result = ops.dropout(input, p, True)
    return input.copy_(result) if inplace else result


def _drop_channels(input: Any, p: float, training: bool, inplace: bool, channel_dims: int) -> Any:
    """Zero whole channels: everything behind the first `channel_dims` dims is one."""
    _check_probability(p)
    if not training or p == 0.0:
        return input
    kept = (*input.shape[:channel_dims], *[1] * (input.dim() - channel_dims))
    scale = input.new_zeros(kept) if p == 1.0 else input.new_empty(kept).bernoulli_(1 - p) / (1 - p)
    return input.mul_(scale) if inplace else input * scale


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zero whole channels of (N, C, L) or (C, L)."""
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that "
            "dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, "
            "a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return _drop_channels(input, p, training, inplace, input.dim() - 1)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zero whole channels of (N, C, H, W)."""
    if input.dim() not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {input.dim()}-D input to dropout2d, which is deprecated and "
            "will result in an error in a future release.",
            stacklevel=2,
        )
    return _drop_channels(input, p, training, inplace, 2)


def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zero whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    if input.dim() not in (4, 5):
        warnings.warn(
            f"dropout3d: Received a {input.dim()}-D input to dropout3d, which is deprecated and "
            "will result in an error in a future release.",
            stacklevel=2,
        )
    return _drop_channels(input, p, training, inplace, input.dim() - 3)


_SELU_FLOOR = -1.7580993408473766
"""The limit of SELU towards minus infinity: -scale * alpha."""


def _alpha_drop(input: Any, p: float, inplace: bool, shape: tuple[int, ...]) -> Any:
    """Set elements to SELU's floor, then scale and shift so that mean and variance stay."""
    if p == 1.0:
        result = torch.zeros_like(input)
    else:
        keep = input.new_empty(shape).bernoulli_(1 - p)
        scale = (1 - p + _SELU_FLOOR**2 * p * (1 - p)) ** -0.5
        shift = -scale * p * _SELU_FLOOR
        result = (input * keep + (1 - keep) * _SELU_FLOOR) * scale + shift
    return input.copy_(result) if inplace else result


def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Dropout that keeps mean 0 and variance 1.

    **Source** Klambauer et al., 2017.
    """
    _check_probability(p)
    if not training or p == 0.0:
        return input
    return _alpha_drop(input, p, inplace, tuple(input.shape))


def feature_alpha_dropout(
    input: Any, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Any:
    """`alpha_dropout` of whole channels."""
    _check_probability(p)
    if not training or p == 0.0:
        return input
    return _alpha_drop(input, p, inplace, (*input.shape[:2], *[1] * (input.dim() - 2)))
