"""The numbers of `grid_sample`'s modes and taps, and how its statements see images and points."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from torchgen_out._runtime.kernels.common.folded import merged_stride
from torchgen_out._runtime.kernels.common.index import View

BITS_BEHIND_POINT = 22
"""Of the weights by which bytes are resized: whole numbers, 2^22 for 1."""

NEAREST, BICUBIC = 1, 2
"""`interpolation_mode` besides 0, bilinear."""


BORDER, REFLECTION = 1, 2
"""`padding_mode` besides 0, zeros."""


SHARPNESS = -0.75
"""The parameter of the cubic convolution."""


def taps_per_dim(interpolation_mode: int) -> int:
    """How many elements take part along every dim."""
    return {NEAREST: 1, BICUBIC: 4}.get(interpolation_mode, 2)


Seen = dict[str, View | int]


def grid_sampler(
    out: Any, input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Seen | None:
    """Images of three dims, of which the first may be one element long; points in one dim."""
    tensors = {"out": _at_points(out), "input": _image(input), "grid": _points(grid)}
    return _seen(tensors, input.sizes, interpolation_mode)


def grid_sampler_backward(
    of_input: Any,
    of_grid: Any,
    grad_output: Any,
    input: Any,
    grid: Any,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> Seen | None:
    """The same of gradients; those that are not wanted have no elements."""
    tensors = {
        "result0": _image(of_input) if output_mask[0] else View((0,) * 5, (0,) * 5),
        "result1": _points(of_grid) if output_mask[1] else View((0,) * 3, (0,) * 3),
        "grad_output": _at_points(grad_output),
        "input": _image(input),
        "grid": _points(grid),
    }
    return _seen(tensors, input.sizes, interpolation_mode)


def _seen(
    tensors: dict[str, View | None], sizes: Sequence[int], interpolation_mode: int
) -> Seen | None:
    """The views, and the numbers of an image of these sizes. deep: taps along its first dim."""
    views = {name: view for name, view in tensors.items() if view is not None}
    if len(views) < len(tensors):
        return None
    dims, taps = len(sizes) - 2, taps_per_dim(interpolation_mode)
    depth, height, width = (1, *sizes[2:])[-3:]
    numbers = {"dims": dims, "taps": taps, "deep": taps if dims == 3 else 1}
    return {**views, **numbers, "width": width, "height": height, "depth": depth}


def _image(tensor: Any) -> View:
    """(N, C, *S) as (N, C, depth, height, width)."""
    missing = 5 - len(tensor.sizes)
    sizes, strides = tuple(tensor.sizes), tuple(tensor.strides)
    return View(
        (*sizes[:2], *(1,) * missing, *sizes[2:]), (*strides[:2], *(0,) * missing, *strides[2:])
    )


def _at_points(tensor: Any) -> View | None:
    """(N, C, *P) as (N, C, points), if one stride leads through these."""
    step = merged_stride(tensor.sizes[2:], tensor.strides[2:])
    sizes, strides = tuple(tensor.sizes), tuple(tensor.strides)
    return None if step is None else View((*sizes[:2], prod(sizes[2:])), (*strides[:2], step))


def _points(tensor: Any) -> View | None:
    """(N, *P, dims) as (N, points, dims), if one stride leads through these."""
    step = merged_stride(tensor.sizes[1:-1], tensor.strides[1:-1])
    sizes, strides = tuple(tensor.sizes), tuple(tensor.strides)
    if step is None:
        return None
    return View((sizes[0], prod(sizes[1:-1]), sizes[-1]), (strides[0], step, strides[-1]))
