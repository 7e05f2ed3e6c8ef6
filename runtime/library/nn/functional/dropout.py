"""Dropout in its forms: of elements, of channels, and the form that keeps SELU's statistics."""

from __future__ import annotations

from torchgen_out._runtime import errors
from torchgen_out._runtime.bindings.numbers import as_float
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.dispatch import ops


def _check_probability(p: float) -> None:
    if p.__class__ is not float:
        as_float(p, "dropout", "p", 2)
    if not 0.0 <= p <= 1.0:
        raise errors.dropout_argument(p)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero elements with probability `p` and scale the others by 1 / (1 - p), if training."""
    _check_probability(p)
    if not training or p == 0.0:
        return input
    result = ops.dropout(input, p, True)
    return input.copy_(result) if inplace else result


def _drop_channels(
    input: Tensor, p: float, training: bool, inplace: bool, is_batch: bool
) -> Tensor:
    """Zero whole channels of a batch, or of one sample."""
    _check_probability(p)
    call = ops.feature_dropout_ if inplace else ops.feature_dropout
    if is_batch:
        return call(input, p, training)
    dropped = call(input.unsqueeze(0), p, training)
    return input if inplace else dropped.squeeze(0)


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero whole channels of (N, C, L) or (C, L)."""
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that "
            "dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, "
            "a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return _drop_channels(input, p, training, inplace, input.dim() == 3)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero whole channels of (N, C, H, W)."""
    if input.dim() not in (3, 4):
        warn(
            f"dropout2d: Received a {input.dim()}-D input to dropout2d, which is deprecated and "
            "will result in an error in a future release.",
        )
    return _drop_channels(input, p, training, inplace, True)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    if input.dim() not in (4, 5):
        warn(
            f"dropout3d: Received a {input.dim()}-D input to dropout3d, which is deprecated and "
            "will result in an error in a future release.",
        )
    return _drop_channels(input, p, training, inplace, input.dim() == 5)


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout that keeps mean 0 and variance 1. **Source** Klambauer et al., 2017."""
    _check_probability(p)
    call = ops.alpha_dropout_ if inplace else ops.alpha_dropout
    return call(input, p, training)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """`alpha_dropout` of whole channels."""
    _check_probability(p)
    call = ops.feature_alpha_dropout_ if inplace else ops.feature_alpha_dropout
    return call(input, p, training)
