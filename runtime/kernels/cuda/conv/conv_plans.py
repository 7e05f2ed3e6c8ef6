"""Convolutions as a library computes them: one of three directions, all but the addresses."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.kernels.common.conv import Geometry
from torchgen_out._runtime.kernels.cuda.queue import Array

FORWARD, INPUT, WEIGHT = "forward", "input", "weight"
"""y from x and w; x, the gradient, from y and w; w, the gradient, from y and x."""
RESULT = {FORWARD: 2, INPUT: 0, WEIGHT: 1}
"""Which of x, w and y is computed."""
ALIGNMENT = 16
"""Bytes beyond which an address need not be aligned for any kernel."""


class Operand(NamedTuple):
    """Dense memory, its channels before the places or, if they come last, after them.

    alignment: of the address, in bytes.
    """

    sizes: tuple[int, ...]
    is_channels_last: bool
    alignment: int

    @property
    def strides(self) -> tuple[int, ...]:
        """In elements."""
        if not self.is_channels_last:
            return shapes.contiguous_strides(self.sizes)
        images, channels, *places = self.sizes
        inner = shapes.contiguous_strides((images, *places, channels))
        return (inner[0], inner[-1], *inner[1:-1])


class Convolution(NamedTuple):
    """What a library must know to choose how a convolution is computed.

    Sizes are (images, channels, places ...) and (outputs, inputs of a group, taps ...), with two or
    three spatial dims. bias: a number for each channel that is added to the result, (1, channels,
    1 ...).
    """

    direction: str
    dtype: dtypes.dtype
    x: Operand
    w: Operand
    y: Operand
    bias: Operand | None
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]

    @property
    def result(self) -> Operand:
        """What is computed from the others."""
        return (self.x, self.w, self.y)[RESULT[self.direction]]


class Seen(NamedTuple):
    """Memory seen with three spatial dims. is_laid: channels come before the places or after."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    is_laid: bool


@lru_cache(maxsize=1024)
def seen(sizes: tuple[int, ...], strides: tuple[int, ...]) -> Seen:
    """See memory with three spatial dims; those that are missing have size 1."""
    ones = (1,) * (5 - len(sizes))
    sizes, strides = ((*each[:2], *ones, *each[2:]) for each in (sizes, strides))
    is_laid = shapes.is_contiguous(sizes, strides) or _is_channels_last(sizes, strides)
    return Seen(sizes, strides, is_laid)


def _is_channels_last(sizes: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    order = (0, 2, 3, 4, 1)
    return shapes.is_contiguous([sizes[d] for d in order], [strides[d] for d in order])


def described(
    direction: str, x: Array, w: Array, y: Array, bias: Array | None, geometry: Geometry
) -> Convolution:
    """Describe the convolution of arrays with three spatial dims, and of a dense bias."""
    operands = (x, w, y) if bias is None else (x, w, y, bias)
    alignments = tuple([min(each.address & -each.address, ALIGNMENT) for each in operands])
    return _described(direction, x.dtype, x[2:], w[2:], y[2:], alignments, geometry)


@lru_cache(maxsize=1024)
def _described(
    direction: str,
    dtype: dtypes.dtype,
    x: tuple[tuple[int, ...], ...],
    w: tuple[tuple[int, ...], ...],
    y: tuple[tuple[int, ...], ...],
    alignments: tuple[int, ...],
    geometry: Geometry,
) -> Convolution:
    """x, w, y: sizes and strides. A depth of 1 is left out."""
    steps = geometry.stride, geometry.padding, geometry.dilation
    is_flat = all(sizes[2] == 1 for sizes, _ in (x, w, y)) and geometry.padding[0] == 0
    first = 3 if is_flat else 2
    x, w, y = operands = [
        Operand((*sizes[:2], *sizes[first:]), not shapes.is_contiguous(sizes, strides), alignment)
        for (sizes, strides), alignment in zip((x, w, y), alignments, strict=False)
    ]
    bias = None
    if len(alignments) > len(operands):
        channels = operands[RESULT[direction]].sizes[1]
        bias = Operand((1, channels, *(1,) * (5 - first)), False, alignments[-1])
    return Convolution(direction, dtype, x, w, y, bias, *[each[first - 2 :] for each in steps])
