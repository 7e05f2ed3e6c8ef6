"""Gradients of convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


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
