"""Batch normalisation: shapes and parameters; the loops are in `batch_loops.py`."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from runtime.kernels.cpu.normalization import batch_norm_plans
from runtime.kernels.cpu.normalization.batch_loops import (
    batch_gradients,
    normalise_batch,
    normalise_by_running,
)
from runtime.kernels.cpu.normalization.batch_norm_plans import run_channels
from runtime.kernels.cpu.planned import planned

Array = Any
quiet = np.errstate(all="ignore")  # inf and NaN are values here, not worth a warning


@planned(batch_norm_plans.plan_batch_norm)
@quiet
def native_batch_norm(
    out: Array,
    save_mean: Array,
    save_invstd: Array,
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
    momentum: float,
    eps: float,
) -> None:
    """Write the normalised input and, in training, the statistics; update the running ones."""
    x = channels(input)
    result = out.reshape(x.shape)
    optional = [_given(each, x) for each in (weight, bias, running_mean, running_var)]
    if training:
        statistics = *optional, save_mean, save_invstd, float(momentum)
        run_channels(normalise_batch.of(x.dtype), x, result, x, *statistics, float(eps))
    else:
        run_channels(normalise_by_running.of(x.dtype), x, result, x, *optional, float(eps))


def _given(parameter: Array | None, x: Array) -> Array:
    """A parameter for compiled code: an empty array stands for one that is not given."""
    return np.empty(0, x.dtype) if parameter is None else parameter


def channels(array: Array) -> Array:
    """The array as contiguous (batch, channels, places)."""
    sizes = array.shape
    return np.ascontiguousarray(array).reshape(sizes[0], sizes[1], prod(sizes[2:]))


@planned(batch_norm_plans.plan_batch_norm_backward)
@quiet
def native_batch_norm_backward(
    grad_input: Array,
    grad_weight: Array,
    grad_bias: Array,
    grad_out: Array,
    input: Array,
    weight: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    save_mean: Array | None,
    save_invstd: Array | None,
    train: bool,
    eps: float,
    output_mask: Any,
) -> None:
    """Write the gradients; that of the input only if `output_mask[0]`."""
    x, grad = channels(input), channels(grad_out)
    if train:
        mean, invstd = save_mean, save_invstd
    else:
        mean = running_mean.astype(np.float64)  # type: ignore[union-attr]
        invstd = 1 / np.sqrt(running_var.astype(np.float64) + eps)  # type: ignore[union-attr]
    result = grad_input.reshape(x.shape) if output_mask[0] else np.empty((0, 0, 0), x.dtype)
    sums = grad_weight, grad_bias
    arrays = result, *sums, grad, x, _given(weight, x), mean, invstd
    run_channels(batch_gradients.of(x.dtype), x, *arrays, bool(train))
