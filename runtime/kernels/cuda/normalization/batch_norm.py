"""Batch normalisation: moments per channel (`channels.py`), then one multiply-add per element.

An input is seen as contiguous (batch, channels, places). Statistics are in the type of computation,
float32 for 16-bit floats. Groups and layers are normalised by texts.
"""

from __future__ import annotations

from math import prod

from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.normalization.channels import channel_moments
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous, walks_strides


@walks_strides
def native_batch_norm(
    queue: Queue,
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
    """Write the normalised input and, in training, the statistics; update the running ones where
    they lie."""
    arrays = (input, weight, bias, running_mean, running_var)
    input, *parameters = (None if each is None else contiguous(queue, each) for each in arrays)
    shape = channels_of(input)
    count = shape.count
    scale, shift, mean, variance = (queue.empty((count,), input.dtype.opmath) for _ in range(4))
    if training:
        channel_moments(queue, mean, variance, input, shape)
    flags = {
        "TRAINING": training,
        "HAS_WEIGHT": weight is not None,
        "HAS_BIAS": bias is not None,
        "HAS_RUNNING_MEAN": running_mean is not None,
        "HAS_RUNNING_VAR": running_var is not None,
    }
    places = shape.outer * shape.inner
    numbers = (count, places, momentum, eps)
    operands = (input, scale, shift, mean, variance, *parameters, save_mean, save_invstd)
    run_elements(queue, batch_coefficients, count, *operands, *numbers, **flags)
    scale_and_shift(queue, out, input, scale, shift, shape)
    for theirs, own in zip(arrays[3:], parameters[2:], strict=True):
        if training and own is not theirs:
            queue.copy(theirs, own)


def channels_of(array: Array) -> Folded:
    """The sizes of an array as (batch, channels, places)."""
    return Folded(array.sizes[0], array.sizes[1], prod(array.sizes[2:]))


@device_kernel("X* T* T* T* T* Y* Y* Y* Y* Y* Y*", "I I T T")
def batch_coefficients(
    x, scale, shift, mean, variance, weight, bias, running_mean, running_var, save_mean,
    save_invstd, channels, count, momentum, eps,
):  # fmt: skip
    """A thread owns channels at the distance of the grid: statistics, kept or used, and factors."""
    c = I(cuda.grid(1))
    while c < channels:
        if TRAINING:
            center, spread = mean[c], variance[c]
            if HAS_RUNNING_MEAN:
                before = load_Y(running_mean[c]) * (T(1) - momentum)
                running_mean[c] = store_Y(T(before + momentum * center))
            if HAS_RUNNING_VAR:
                unbiased = spread * (T(count) / T(max(count - 1, 1)))
                before = load_Y(running_var[c]) * (T(1) - momentum)
                running_var[c] = store_Y(T(before + momentum * unbiased))
        else:
            center, spread = load_Y(running_mean[c]), load_Y(running_var[c])
        inverse = T(T(1) / sqrt(T(spread + eps)))
        if TRAINING:
            save_mean[c] = store_Y(center)
            save_invstd[c] = store_Y(inverse)
        factor = T(inverse * load_Y(weight[c])) if HAS_WEIGHT else inverse
        offset = load_Y(bias[c]) if HAS_BIAS else T(0)
        scale[c] = factor
        shift[c] = T(offset - center * factor)
        c = I(c + cuda.gridsize(1))


# -- what is done per element ---------------------------------------------------------------------


def scale_and_shift(
    queue: Queue, out: Array, x: Array, scale: Array, shift: Array, shape: Folded
) -> None:
    """out[b, c, i] = x[b, c, i] * scale[c] + shift[c]."""
    numbers = (x.numel, shape.count, shape.inner)
    run_elements(queue, scaled_elements, x.numel, out, x, scale, shift, *numbers)


@device_kernel("X* X* T* T*", "I I I")
def scaled_elements(out, x, scale, shift, n, channels, places):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        row = divided(i, places)
        c = I(row - divided(row, channels) * channels)
        out[i] = store_X(T(load_X(x[i]) * scale[c] + shift[c]))
        i = I(i + cuda.gridsize(1))
