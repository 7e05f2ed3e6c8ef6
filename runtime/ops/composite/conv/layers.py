"""conv1d ... conv_transpose3d: what users call, over the one operator `convolution`."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.shapes.conv import expand_parameter


def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """A convolution over one spatial dim."""
    return _conv(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """A convolution over two spatial dims."""
    return _conv(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """A convolution over three spatial dims."""
    return _conv(3, input, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """A transposed convolution over one spatial dim."""
    return _transposed(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """A transposed convolution over two spatial dims."""
    return _transposed(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """A transposed convolution over three spatial dims."""
    return _transposed(3, input, weight, bias, stride, padding, output_padding, groups, dilation)


def _conv(
    count: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Any:
    ndim = _check_input(input, count, f"conv{count}d")
    _check_weight(weight, count, stride)
    if isinstance(padding, str):
        input, padding = _named_padding(input, weight, padding, stride, dilation, count)
    batched = input if ndim == count + 2 else input.unsqueeze(0)
    result = ops.convolution(
        batched, weight, bias, stride, padding, dilation, False, (0,) * count, groups
    )
    return result if batched is input else result.squeeze(0)


def _transposed(
    count: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Any:
    ndim = _check_input(input, count, f"conv_transpose{count}d")
    _check_weight(weight, count, stride)
    batched = input if ndim == count + 2 else input.unsqueeze(0)
    result = ops.convolution(
        batched, weight, bias, stride, padding, dilation, True, output_padding, groups
    )
    return result if batched is input else result.squeeze(0)


def _check_input(input: Any, count: int, name: str) -> int:
    ndim = input.ndim
    if ndim not in (count + 1, count + 2):
        raise RuntimeError(
            f"Expected {count + 1}D (unbatched) or {count + 2}D (batched) input to {name}, "
            f"but got input of size: {list(input.shape)}"
        )
    return int(ndim)


def _check_weight(weight: Any, count: int, stride: Any) -> None:
    if weight.ndim != count + 2:
        values = [stride] * count if isinstance(stride, int) else list(stride)
        expand_parameter("stride", values, weight.ndim - 2)
        raise RuntimeError(
            f"weight should have {count + 2} dimensions, but got {list(weight.shape)}"
        )


def _named_padding(
    input: Any, weight: Any, padding: str, stride: Any, dilation: Any, count: int
) -> tuple[Any, Any]:
    """The input, padded where 'same' needs unequal sides, and the padding in numbers."""
    if padding == "valid":
        return input, 0
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if any(s != 1 for s in expand_parameter("stride", stride, count)):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    dilations = expand_parameter("dilation", dilation, count)
    totals = [d * (k - 1) for d, k in zip(dilations, weight.shape[2:], strict=True)]
    if all(total % 2 == 0 for total in totals):
        return input, [total // 2 for total in totals]
    warn(
        "Using padding='same' with even kernel lengths and odd dilation may require a "
        "zero-padded copy of the input be created",
    )
    more = [side for total in reversed(totals) for side in (0, total % 2)]
    return ops.constant_pad_nd(input, more, 0), [total // 2 for total in totals]
