"""Which way each of a convolution's three products goes: by sizes alone, and found out once.

Arrays are (N, C, D, H, W), weights (O, C / groups, KD, KH, KW), results (N, O, OD, OH, OW). The
ways are asked in one order, and the first that suits is taken (docs/kernels.md has the table).
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

from torchgen_out._runtime.kernels.common.conv import Geometry
from torchgen_out._runtime.kernels.cpu.conv import dense, depthwise, flat, patches, winograd

FEW_OUTPUTS = 12  # per group: fewer leave too much of a vector of outputs empty
FEW_PLACES = 32  # of an image
NARROW = 4  # outputs of a group, for which elements are not worth being packed
# Where strides skip places, convolutions go by offsets from so many outputs of a group on, up to so
# many taps, and where rows of results are shorter.
SOME_OUTPUTS, FEW_TAPS, LONG_ROW = 8, 9, 16


class Sized(NamedTuple):
    """What is known of an array."""

    shape: tuple[int, ...]
    dtype: Any

    @property
    def size(self) -> int:
        """How many elements it has."""
        return prod(self.shape)


@lru_cache(maxsize=1024)
def way_forward(y: Any, x: Any, w: Any, dtype: Any, geometry: Geometry) -> str:
    """The module that makes results of shape y of images of shape x and weights of shape w."""
    result, image, weight = (Sized(shape, dtype) for shape in (y, x, w))
    given = result, image, weight, geometry[:3], geometry.groups
    outputs, is_float = w[0] // geometry.groups, dtype.kind == "f"
    is_flat = is_float and flat.suits(*given)
    if dense.suits(*given):
        return "dense"
    if is_pointwise(result, image, weight, geometry) and not (is_flat and outputs <= NARROW):
        return "pointwise"
    if winograd.suits(*given):
        return "winograd"
    if suits_offsets(dtype, outputs) or skips_places(dtype, y, w, geometry):
        is_better = is_flat and flat.outdoes_implicit(result, weight, geometry.groups)
        return "flat" if is_better else "implicit"
    if depthwise.suits(*given):
        return "depthwise"
    return "flat" if is_flat else "direct" if is_float else "columns"


@lru_cache(maxsize=1024)
def way_back(x: Any, y: Any, w: Any, dtype: Any, geometry: Geometry) -> str:
    """The module that makes gradients of shape x of results of shape y; "flipped": a convolution
    of these by the weights turned round."""
    image, result, weight = (Sized(shape, dtype) for shape in (x, y, w))
    given = result, image, weight, geometry[:3], geometry.groups
    has_stride = geometry.stride != (1, 1, 1)
    turned = flipped(geometry, w)
    kernel, is_open = flipped_shape(w, geometry.groups), not has_stride and min(turned.padding) >= 0
    if is_open and way_forward(x, y, kernel, dtype, turned) == "winograd":
        return "flipped"
    if depthwise.suits(image, result, weight, geometry[:3], geometry.groups):
        return "depthwise"
    if dense.suits(*given):
        return "dense"
    if is_pointwise(result, image, weight, geometry):
        return "pointwise"
    if not suits_offsets(dtype, w[1]) and patches.suits(result, weight, geometry[:3]):
        return "patches"
    if suits_offsets(dtype, w[1]) or (has_stride and dtype.kind == "f"):
        return "implicit"
    return "flipped" if is_open else "columns"


@lru_cache(maxsize=1024)
def way_of_weight(w: Any, y: Any, x: Any, dtype: Any, geometry: Geometry) -> str:
    """The module that makes gradients of shape w of gradients of shape y, and images."""
    weight, result, image = (Sized(shape, dtype) for shape in (w, y, x))
    given = result, image, weight, geometry[:3], geometry.groups
    if dense.suits(*given):
        return "dense"
    if is_pointwise(result, image, weight, geometry):
        return "pointwise"
    if winograd.suits(*given):
        return "winograd"
    if suits_offsets(dtype, w[0] // geometry.groups) or skips_places(dtype, y, w, geometry):
        return "implicit"
    if depthwise.suits(*given):
        return "depthwise"
    return "direct" if dtype.kind == "f" else "columns"


def forget() -> None:
    """Choose anew: for tests that change what suits."""
    for each in (way_forward, way_back, way_of_weight):
        each.cache_clear()


def flipped(geometry: Geometry, w: tuple[int, ...]) -> Geometry:
    """How the turned kernel slides over the results, with stride 1."""
    numbers = zip(geometry.dilation, w[2:], geometry.padding, strict=True)
    front, above, left = (d * (k - 1) - p for d, k, p in numbers)
    return geometry._replace(padding=(front, above, left))


def flipped_shape(w: tuple[int, ...], groups: int) -> tuple[int, ...]:
    """The shape of the turned kernel."""
    return groups * w[1], w[0] // groups, *w[2:]


def suits_offsets(dtype: Any, outputs: int) -> bool:
    """Whether there are results enough to fill vectors with those of one place."""
    return dtype.kind == "f" and outputs >= FEW_OUTPUTS


def skips_places(dtype: Any, y: Any, w: Any, geometry: Geometry) -> bool:
    """Whether strides along two dims leave out so many places that half-empty vectors of outputs
    take less time than runs of all places: a quarter for 8 of 16 x 16 by 7 x 7.

    Few outputs of many taps and long rows are added up in registers by such runs.
    """
    is_depthwise = w[1] == 1 < geometry.groups
    if dtype.kind != "f" or is_depthwise or sum(step > 1 for step in geometry.stride) < 2:
        return False
    outputs = w[0] // geometry.groups
    return outputs >= SOME_OUTPUTS or prod(w[2:]) <= FEW_TAPS or bool(y[-1] < LONG_ROW)


def is_pointwise(y: Any, x: Any, w: Any, geometry: Geometry) -> bool:
    """Whether every result sees one place of the input, each place is seen, and they are many.

    A few places of an image leave a tile's vectors empty, where other ways join those of images.
    """
    if y.shape[2:] != x.shape[2:]:  # of an image with padding behind, which nothing sees
        return False
    if w.shape[2:] != (1, 1, 1) or geometry.stride != (1, 1, 1) or geometry.padding != (0, 0, 0):
        return False
    if prod(y.shape[2:]) < FEW_PLACES:
        return not suits_offsets(y.dtype, w.shape[0] // geometry.groups)
    return True
