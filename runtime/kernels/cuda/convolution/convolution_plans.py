"""Convolutions as a library computes them: one of three directions, all but the addresses."""

from __future__ import annotations

from typing import NamedTuple

from runtime.core import dtype as dtypes
from runtime.core import shape as shapes
from runtime.kernels.cpu.convolution.products import Geometry
from runtime.kernels.cuda.queue import Array, permuted

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


def is_channels_last(x: Array) -> bool:
    """Whether the channels of dense memory with three spatial dims come after the places."""
    return permuted(x, (0, 2, 3, 4, 1)).is_contiguous


def described(
    direction: str, x: Array, w: Array, y: Array, bias: Array | None, geometry: Geometry
) -> Convolution:
    """Describe the convolution of arrays with three spatial dims; a depth of 1 is left out."""
    steps = geometry.stride, geometry.padding, geometry.dilation
    is_flat = all(each.sizes[2] == 1 for each in (x, w, y)) and geometry.padding[0] == 0
    if is_flat:
        steps = tuple([each[1:] for each in steps])
    operands = [_operand(each, is_flat) for each in (x, w, y)]
    row = None
    if bias is not None:
        row = _operand(bias.reshaped(1, bias.numel, 1, 1, 1), is_flat)
    return Convolution(direction, x.dtype, *operands, row, *steps)


def _operand(x: Array, is_flat: bool) -> Operand:
    sizes = (*x.sizes[:2], *x.sizes[3:]) if is_flat else x.sizes
    alignment = min(x.address & -x.address, ALIGNMENT)
    return Operand(sizes, not x.is_contiguous and is_channels_last(x), alignment)
