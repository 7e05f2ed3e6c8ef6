"""Shapes and checks of batch and layer normalisation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core.shape import numel

Sizes = tuple[int, ...]


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
    """Shape: the input's; then the statistics of C channels, in training.

    Raises: IndexError for a vector, RuntimeError for parameters or an empty batch.
    """
    if input.ndim < 2:
        raise errors.dim_out_of_range(1, input.ndim)
    count = input.shape[1]
    named = {
        "running_mean": running_mean,
        "running_var": running_var,
        "weight": weight,
        "bias": bias,
    }
    check_parameter_counts(named, count)
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    for name in ("running_mean", "running_var"):
        if not training and named[name] is None:
            raise RuntimeError(f"{name} must be defined in evaluation mode")
    if training and not input.numel():
        raise RuntimeError(
            "input tensor must have at least one element, but got input_sizes = "
            f"{list(input.shape)}"
        )
    parameters = [p for p in named.values() if p is not None]
    check_parameter_dtypes(input, parameters)
    statistics = ((count if training else 0,), statistics_dtype(input, parameters))
    return (input.shape, input.dtype), statistics, statistics


def batch_norm_training(
    input: Any, weight: Any, bias: Any, eps: float, by_rows: bool
) -> tuple[Any, Any, Any, Any]:
    """Shape: the input's; then what is computed of C channels, 16-bit numbers in float32."""
    statistics = ((input.shape[1],), input.dtype.opmath)
    return (input.shape, input.dtype), statistics, statistics, statistics


def batch_norm_evaluation(
    input: Any, weight: Any, bias: Any, mean: Any, variance: Any, eps: float
) -> tuple[Any, Any]:
    """Shape: the input's."""
    return input.shape, input.dtype


def check_parameter_counts(named: Mapping[str, Any], count: int) -> None:
    """Each parameter that is given has an element per channel."""
    for name, parameter in named.items():
        if parameter is not None and parameter.numel() != count:
            raise RuntimeError(f"{name} should contain {count} elements not {parameter.numel()}")


def check_parameter_dtypes(input: Any, parameters: Sequence[Any]) -> None:
    """Parameters have the input's dtype; with a 16-bit input they may all be float32."""
    if input.dtype.itemsize > 2:
        for parameter in parameters:
            if parameter.dtype is not input.dtype:
                raise RuntimeError(
                    "mixed dtype (CPU): all inputs must share same datatype: "
                    f"expected scalar type {errors.scalar_type_name(input.dtype)} "
                    f"but found {errors.scalar_type_name(parameter.dtype)}"
                )
        return
    found = {parameter.dtype.name for parameter in parameters}
    if found - {input.dtype.name} not in (set(), {"float32"}) or len(found) > 1:
        raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")


def statistics_dtype(input: Any, parameters: Sequence[Any]) -> Any:
    """The dtype of saved means: that of the parameters, or the input's."""
    return parameters[0].dtype if parameters else input.dtype


def batch_norm_backward(
    grad_out: Any,
    input: Any,
    weight: Any,
    mean: Any,
    spread: Any,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
) -> tuple[Any, Any, Any]:
    """Shape: the input's (nothing if it is not wanted), (C) and (C)."""
    dtype = input.dtype if weight is None else weight.dtype
    parameter = ((input.shape[1],), dtype)
    return (input.shape if output_mask[0] else (0,), input.dtype), parameter, parameter


def native_layer_norm(
    input: Any, normalized_shape: Sequence[int], weight: Any, bias: Any, eps: float
) -> tuple[Any, Any, Any]:
    """Shape: the input's; then statistics with 1 for each normalised dim."""
    shape = tuple(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
            "one element, but got normalized_shape = []"
        )
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and tuple(parameter.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(parameter.shape)} and normalized_shape = {list(shape)}"
            )
    check_normalized_shape(input, shape)
    parameters = [p for p in (weight, bias) if p is not None]
    check_parameter_dtypes(input, parameters)
    lead = tuple(input.shape[: input.ndim - len(shape)])
    statistics = ((*lead, *(1,) * len(shape)), statistics_dtype(input, parameters))
    return (input.shape, input.dtype), statistics, statistics


def check_normalized_shape(input: Any, shape: Sizes) -> None:
    """Refuse an input whose last sizes are not `shape`, and a `shape` without sizes."""
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            "element, but got normalized_shape = []"
        )
    if input.ndim < len(shape) or tuple(input.shape[input.ndim - len(shape) :]) != shape:
        inner = ", ".join(str(size) for size in shape)
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {inner}], "
            f"but got input of size{list(input.shape)}"
        )


def native_layer_norm_backward(
    grad_out: Any,
    input: Any,
    normalized_shape: Sequence[int],
    mean: Any,
    rstd: Any,
    weight: Any,
    bias: Any,
    output_mask: Sequence[bool],
) -> tuple[Any, Any, Any]:
    """Shape: the input's, and twice `normalized_shape`."""
    dtype = input.dtype if weight is None else weight.dtype
    parameter = (tuple(normalized_shape), dtype)
    return (input.shape, input.dtype), parameter, parameter


def native_group_norm(
    input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Any, Any, Any]:
    """Shape: the input's (N, C, ...); then statistics of each sample's groups, (N, group)."""
    if input.ndim < 2 or input.shape[1] != C or numel(input.shape) != N * C * HxW:
        raise RuntimeError(
            f"native_group_norm: expected input of {N} samples, {C} channels and {HxW} places, "
            f"got shape {list(input.shape)}"
        )
    channels = C
    if group <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {group}")
    if channels % group:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(input.shape)} and num_groups={group}"
        )
    parameters = [p for p in (weight, bias) if p is not None]
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and tuple(parameter.shape) != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in "
                f"input, but got {name} of shape {list(parameter.shape)} and input of shape "
                f"{list(input.shape)}"
            )
    check_parameter_dtypes(input, parameters)
    statistics = ((N, group), statistics_dtype(input, parameters))
    return (input.shape, input.dtype), statistics, statistics


def native_group_norm_backward(
    grad_out: Any,
    input: Any,
    mean: Any,
    rstd: Any,
    weight: Any,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Sequence[bool],
) -> tuple[Any, Any, Any]:
    """Shape: the input's, and twice (C)."""
    parameter = ((C,), input.dtype if weight is None else weight.dtype)
    return (input.shape, input.dtype), parameter, parameter
