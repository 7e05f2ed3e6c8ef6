"""Normalisations as users call them, over the two operators that have kernels."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.common.kernel_calls import returns_results
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.shapes.normalization import (
    check_normalized_shape,
    check_parameter_counts,
    check_parameter_dtypes,
    statistics_dtype,
)


def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Normalise each channel by its batch's statistics, or by the running ones."""
    if training:
        if eps <= 0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
        sizes = input.shape
        if sizes[0] * prod(sizes[2:]) == 1:
            raise errors.one_value_per_channel(f"torch.Size({list(sizes)})")
    return _batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def _batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any,
    bias: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> Any:
    """The kernel updates running statistics in place; 16-bit ones it would only see as copies."""
    if not input.numel():
        return _batch_norm_of_nothing(input, weight, bias)
    if not training and (running_mean is None or running_var is None):
        missing = "running_mean" if running_mean is None else "running_var"
        raise RuntimeError(f"{missing} must be defined in evaluation mode")
    if input.ndim < 2:  # no channels: statistics are refused by their number, then the vector
        check_parameter_counts({"running_mean": running_mean, "running_var": running_var}, 0)
    if not training or running_mean is None or running_mean.dtype.itemsize > 2:
        return ops.native_batch_norm(
            input, weight, bias, running_mean, running_var, training, momentum, eps
        )[0]
    parameters = weight, bias, running_mean, running_var
    check_parameter_dtypes(input, [each for each in parameters if each is not None])
    weight, bias, mean, var = (
        None if each is None else each.to(dtypes.float32) for each in parameters
    )
    result = ops.native_batch_norm(input, weight, bias, mean, var, training, momentum, eps)[0]
    running_mean.copy_(mean)
    running_var.copy_(var)
    return result


def _batch_norm_of_nothing(input: Any, weight: Any, bias: Any) -> Any:
    """A copy of any rank, which learns no statistics; in the graph of input, weight and bias."""
    result = input.clone()
    if weight is not None:
        result = result * weight.select(0, 0)
    return result if bias is None else result + bias.select(0, 0)


@returns_results
def native_batch_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Any, Any, Any]:
    """Return the normalised input and, in training, the statistics; update the running ones."""
    parameters = [each for each in (weight, bias, running_mean, running_var) if each is not None]
    dtype = statistics_dtype(input, parameters)
    if not training:
        given = running_mean, running_var, eps
        nothing = input.new_empty((0,), dtype=dtype)
        return ops._batch_norm_evaluation(input, weight, bias, *given), nothing, nothing.clone()
    sizes, strides = input._sizes, input._strides
    by_rows = prod(sizes[2:]) == 1 or shapes.is_channels_last(sizes, strides)
    result, *found = ops._batch_norm_training(input, weight, bias, eps, by_rows)
    mean, invstd, variance = [each.to(dtype) for each in found]
    if running_mean is not None:
        running_mean.lerp_(mean, momentum)
        running_var.lerp_(variance, momentum)
    return result, mean, invstd


def layer_norm(
    input: Any,
    normalized_shape: Sequence[int],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
) -> Any:
    """Normalise over the last dims, those of `normalized_shape`."""
    return ops.native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Normalise over the channels of each group and their places."""
    if input.ndim < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.ndim}"
        )
    sizes = input.shape
    if prod((sizes[0] * sizes[1] // num_groups, *sizes[2:])) == 1:
        raise errors.one_value_per_channel(list(sizes))
    return ops.native_group_norm(
        input, weight, bias, sizes[0], sizes[1], prod(sizes[2:]), num_groups, eps
    )[0]


def instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Batch normalisation of each sample by itself: samples become channels."""
    sizes = input.shape
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    if use_input_stats and prod(sizes[2:]) == 1:
        raise ValueError(
            "Expected more than 1 spatial element when training, "
            f"got input size torch.Size({list(sizes)})"
        )
    batch, channels = input.size(0), input.size(1)
    mean, var, scale, shift = (
        None if each is None else each.repeat(batch)
        for each in (running_mean, running_var, weight, bias)
    )
    joined = input.reshape((1, batch * channels, *sizes[2:]))
    result = _batch_norm(joined, mean, var, scale, shift, use_input_stats, momentum, eps)
    if use_input_stats and running_mean is not None:
        assert mean is not None and var is not None  # one alone was refused
        running_mean.copy_(mean.view((batch, channels)).mean(0))
        running_var.copy_(var.view((batch, channels)).mean(0))
    return result.view(sizes)


def rms_norm(
    input: Any, normalized_shape: Sequence[int], weight: Any = None, eps: float | None = None
) -> Any:
    """Divide by the root of the mean square over the last dims."""
    shape = tuple(normalized_shape)
    if input.ndim < len(shape):
        raise ValueError(
            f"Input tensor must have at least {len(shape)} dimensions, but got {input.ndim}"
        )
    check_normalized_shape(input, shape)
    if weight is not None and weight._sizes != shape:
        raise RuntimeError(
            "Expected weight to be of same shape as normalized_shape, but got weight of shape "
            f"{list(weight._sizes)} and normalized_shape = {list(shape)}"
        )
    if eps is None:
        eps = EPSILONS[input.dtype.opmath.to_real().name]
    dims = list(range(-len(shape), 0))
    wide = input.to(dtypes.float32) if input.dtype.itemsize == 2 else input
    normal = wide * (wide.square().mean(dims, True) + eps).rsqrt()
    if wide is not input:
        normal = normal.to(input.dtype)
    return normal if weight is None else normal * weight


EPSILONS = {"float32": 2.0**-23, "float64": 2.0**-52}


def local_response_norm(
    input: Any, size: int, alpha: Any = 1e-4, beta: Any = 0.75, k: Any = 1.0
) -> Any:
    """Divide by a power of the mean square over `size` neighbouring channels."""
    if input.ndim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)"
        )
    if not input.numel():
        return input
    sizes = input.shape
    squares = input.square().reshape((sizes[0], 1, sizes[1], prod(sizes[2:])))
    padded = ops.constant_pad_nd(squares, (0, 0, size // 2, (size - 1) // 2))
    means = ops.avg_pool2d(padded, (size, 1), 1).reshape(sizes)
    return input / (means * alpha + k).pow(beta)


def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Any:
    """Divide by the p-norm over `dim`, which counts as at least `eps`."""
    return input / ops.linalg_vector_norm(input, p, dim, True).clamp(min=eps)
