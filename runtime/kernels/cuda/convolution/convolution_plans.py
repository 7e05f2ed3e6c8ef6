"""Convolutions as a library computes them: one of three directions, all but the addresses."""

from __future__ import annotations

from typing import NamedTuple

from runtime.core import dtype as dtypes
from runtime.kernels.cpu.convolution.products import Geometry
from runtime.kernels.cuda.queue import Array

FORWARD, INPUT, WEIGHT = "forward", "input", "weight"
"""y from x and w; x, the gradient, from y and w; w, the gradient, from y and x."""
ALIGNMENT = 16
"""Bytes beyond which an address need not be aligned for any kernel."""


class Convolution(NamedTuple):
    """What a library must know to choose how a convolution is computed.

    Sizes are (images, channels, places ...) and (outputs, inputs of a group, taps ...), with two or
    three spatial dims; memory is contiguous. alignments: of x, w and y, in bytes.
    """

    direction: str
    dtype: dtypes.dtype
    x: tuple[int, ...]
    w: tuple[int, ...]
    y: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    alignments: tuple[int, ...]


def described(direction: str, x: Array, w: Array, y: Array, geometry: Geometry) -> Convolution:
    """Describe the convolution of arrays with three spatial dims; a depth of 1 is left out."""
    steps = geometry.stride, geometry.padding, geometry.dilation
    sizes = [each.sizes for each in (x, w, y)]
    if all(each[2] == 1 for each in sizes) and geometry.padding[0] == 0:
        sizes = [(*each[:2], *each[3:]) for each in sizes]
        steps = tuple([each[1:] for each in steps])
    alignments = tuple([min(each.address & -each.address, ALIGNMENT) for each in (x, w, y)])
    return Convolution(direction, x.dtype, *sizes, *steps, alignments)
