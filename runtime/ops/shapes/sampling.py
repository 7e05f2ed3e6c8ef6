"""Shapes and checks of images that are read at the points of a grid, or at another size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes

Answer = tuple[tuple[int, ...], dtypes.dtype]

BICUBIC = 2


def grid_sampler(
    input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Answer:
    """Shape: (N, C, *S), (N, *P, dims) -> (N, C, *P), for two or three dims S."""
    given = f"input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
    if input.ndim not in (4, 5) or input.ndim != grid.ndim:
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, "
            f"but got {given}"
        )
    if input.shape[0] != grid.shape[0]:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got {given}"
        )
    if grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, "
            f"but got grid with sizes {list(grid.shape)}"
        )
    if 0 in input.shape[2:]:
        raise RuntimeError(
            "grid_sampler(): expected input to have non-empty spatial dimensions, "
            f"but input has sizes {list(input.shape)}"
        )
    if input.ndim == 5 and interpolation_mode == BICUBIC:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if input.dtype is not grid.dtype:
        names = [errors.scalar_type_name(each.dtype) for each in (input, grid)]
        raise RuntimeError(f"expected scalar type {names[0]} but found {names[1]}")
    return (*input.shape[:2], *grid.shape[1:-1]), input.dtype


def grid_sampler_2d(input: Any, grid: Any, *modes: Any) -> Answer:
    """The same for images of two dims alone."""
    return _grid_sampler_of(2, input, grid, *modes)


def grid_sampler_3d(input: Any, grid: Any, *modes: Any) -> Answer:
    """The same for images of three dims alone."""
    return _grid_sampler_of(3, input, grid, *modes)


def _grid_sampler_of(dims: int, input: Any, grid: Any, *modes: Any) -> Answer:
    if not input.ndim == grid.ndim == dims + 2:
        raise RuntimeError(
            f"grid_sampler(): expected {dims + 2}D input and grid with same number of dimensions, "
            f"but got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    return grid_sampler(input, grid, *modes)


def grid_sampler_backward(
    grad_output: Any,
    input: Any,
    grid: Any,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Answer, Answer]:
    """The shapes of the image and of the grid; nothing of what is not wanted."""
    wanted = zip((input, grid), output_mask, strict=True)
    of_input, of_grid = (
        (tuple(each.shape) if is_wanted else (0,), each.dtype) for each, is_wanted in wanted
    )
    return of_input, of_grid


Sizes = tuple[int, ...]


def resample(
    self: Any,
    rows: Any,
    row_weights: Any,
    columns: Any,
    column_weights: Any,
    adjoint: Sequence[Any],
) -> tuple[Sizes, Any]:
    """Shape: (*B, H, W) -> (*B, rows, columns), as many as the tables have, or as there are."""
    resized = [
        size if places is None else places.shape[1]
        for size, places in zip(self.shape[-2:], (rows, columns), strict=True)
    ]
    return (*self.shape[:-2], *resized), self.dtype


def resample_bytes(
    self: Any, rows: Any, row_weights: Any, columns: Any, column_weights: Any
) -> tuple[Sizes, Any]:
    """Shape: (*B, H, W, C) -> (*B, rows, columns, C), as many as the tables have.

    Raises: RuntimeError for fewer than three dims, an odd number of taps, or weights that are not
    as many as places.
    """
    tables = [
        (tuple(places.shape), tuple(weights.shape))
        for places, weights in ((rows, row_weights), (columns, column_weights))
        if places is not None
    ]
    fit = all(one == other and len(one) == 2 and one[0] % 2 == 0 for one, other in tables)
    if len(self.shape) < 3 or not fit:
        raise RuntimeError(
            "_resample_bytes(): expected rows of pixels and an even number of taps, as many places "
            f"as weights, but got sizes {list(self.shape)} and tables of {tables}"
        )
    high, wide = (
        size if places is None else places.shape[1]
        for size, places in zip(self.shape[-3:-1], (rows, columns), strict=True)
    )
    return (*self.shape[:-3], high, wide, self.shape[-1]), self.dtype
