"""How a kernel slides over an input: the numbers of convolutions and of sliding blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torchgen_out._runtime.kernels.common.index import View, dense
from torchgen_out._runtime.kernels.common.pooling import Triple, triple


class Geometry(NamedTuple):
    """How a kernel slides: three numbers each."""

    stride: Triple
    padding: Triple
    dilation: Triple
    groups: int


FAR = 1 << 16
"""From here on a stride is 1 where there is one window: kernels make room for what lies between."""


def geometry_of(
    windows: Sequence[int], stride: Any, padding: Any, dilation: Any, groups: int
) -> Geometry:
    """Fill the numbers up to three spatial dims; one number stands for all.

    windows: how many there are along each spatial dim.
    """
    count = len(windows)
    steps = triple(stride, count, 1)
    if max(steps) >= FAR:
        pairs = zip((1, 1, 1)[count:] + tuple(windows), steps, strict=True)
        steps = tuple([1 if each == 1 else step for each, step in pairs])
    return Geometry(steps, triple(padding, count, 0), triple(dilation, count, 1), groups)


def pair(value: Any) -> tuple[int, int]:
    """The numbers of two dims; one stands for both."""
    if isinstance(value, int):
        return (value, value)
    return (value[0], value[-1])


def block_counts(
    sizes: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> tuple[int, int]:
    """How many places a kernel has in each of two dims."""
    counts = [
        (size + 2 * p - d * (k - 1) - 1) // s + 1
        for size, k, d, p, s in zip(
            sizes, pair(kernel_size), pair(dilation), pair(padding), pair(stride), strict=True
        )
    ]
    return (counts[0], counts[1])


def im2col(
    out: Any, self: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> dict[str, View | int]:
    """The result by channel, place in the kernel and place of the window; the latter's numbers."""
    kernel = pair(kernel_size)
    counts = block_counts(self.sizes[-2:], kernel_size, dilation, padding, stride)
    numbers = _by_side(kernel=kernel, stride=stride, padding=padding, dilation=dilation)
    made = dense(*self.sizes[:-2], *kernel, *counts)
    return {"out": made, "rows": counts[0], "columns": counts[1], **numbers}


def col2im(
    out: Any,
    self: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any,
    padding: Any,
    stride: Any,
) -> dict[str, View | int] | None:
    """The operand by channel, place in the kernel and place of the window; the latter's numbers."""
    if not self.is_contiguous:
        return None
    height, width = pair(output_size)
    counts = block_counts((height, width), kernel_size, dilation, padding, stride)
    seen = dense(*out.sizes[:-2], *pair(kernel_size), *counts)
    numbers = _by_side(stride=stride, padding=padding, dilation=dilation)
    return {"self": seen, "height": height, "width": width, **numbers}


# Convolutions, seen with three spatial dims.


def windows(
    out: Any, self: Any, kernel_size: Any, places: Any, stride: Any, padding: Any, dilation: Any
) -> dict[str, int]:
    """The kernel, where it stands, and how it slides."""
    return _by_dim(
        kernel=kernel_size, places=places, stride=stride, padding=padding, dilation=dilation
    )


def folded_windows(
    out: Any, self: Any, sizes: Any, stride: Any, padding: Any, dilation: Any, is_at_each: bool
) -> dict[str, int]:
    """The images, and how the kernel slides."""
    return _by_dim(size=sizes, stride=stride, padding=padding, dilation=dilation)


def taps(
    out: Any,
    input: Any,
    weight: Any,
    bias: Any,
    places: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
) -> dict[str, int]:
    """Where the kernel stands, and how it slides."""
    return _by_dim(places=places, stride=stride, padding=padding, dilation=dilation)


def taps_grad_input(
    out: Any, grad_output: Any, weight: Any, sizes: Any, stride: Any, padding: Any, dilation: Any
) -> dict[str, int]:
    """The images, and how the kernel slides."""
    return _by_dim(size=sizes, stride=stride, padding=padding, dilation=dilation)


def taps_grad_weight(
    out: Any, grad_output: Any, input: Any, kernel_size: Any, stride: Any, padding: Any,
    dilation: Any,
) -> dict[str, int]:  # fmt: skip
    """The kernel, and how it slides."""
    return _by_dim(kernel=kernel_size, stride=stride, padding=padding, dilation=dilation)


def _by_dim(**triples: Any) -> dict[str, int]:
    """The numbers of three dims by name: `stride_d`, `stride_h`, `stride_w`."""
    return {
        f"{name}_{dim}": number
        for name, numbers in triples.items()
        for dim, number in zip("dhw", numbers, strict=True)
    }


def _by_side(**pairs: Any) -> dict[str, int]:
    """The numbers of two dims by name: `stride_h`, `stride_w`."""
    return {
        f"{name}_{side}": number
        for name, both in pairs.items()
        for side, number in zip("hw", pair(both), strict=True)
    }
