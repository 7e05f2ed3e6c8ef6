"""Images of another size, by interpolation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime import errors
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.cached import cached_by_numbers
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.library.nn.functional import resampling
from torchgen_out._runtime.ops.composite.view.reshaping import in_format_of

_NDIM = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}
"""The modes that weight elements, and the dims of what they resize."""

Plan = tuple[tuple[int, ...], tuple[float | None, ...]]
"""Wanted sizes, and the scales where they were given."""


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resize the dims after batch and channels, to `size` or by `scale_factor`.

    mode: "nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area".
    antialias: smooth before, where the result is smaller ("bilinear" and "bicubic").
    **Raises** ValueError if size and scale_factor are both given or both missing, or have another
    length than there are dims to resize; NotImplementedError unless these are one to three.
    """
    resizing = mode, align_corners, bool(recompute_scale_factor), antialias
    sizes, scales = _planned(input._sizes, size, scale_factor, *resizing)
    if mode == "area":
        pools = (ops.adaptive_avg_pool1d, ops.adaptive_avg_pool2d, ops.adaptive_avg_pool3d)
        pooled: Tensor = pools[len(sizes) - 1](input, sizes)
        return pooled
    if mode not in _NDIM:
        return in_format_of(input, _nearest(input, sizes, scales, mode == "nearest-exact"))
    kind = "cubic" if mode == "bicubic" else "linear"
    resized = _weighted(input, sizes, scales, kind, bool(align_corners), antialias)
    return in_format_of(input, resized)


@cached_by_numbers
def _planned(
    shape: Size,
    size: Any,
    scale_factor: Any,
    mode: str,
    align_corners: bool | None,
    recompute_scale_factor: bool,
    antialias: bool,
) -> Plan:
    """The sizes of the resized dims, and the scales that count; or what `interpolate` raises."""
    spatial = max(len(shape) - 2, 0)
    sizes, scales = _target(shape, size, scale_factor, spatial)
    if scale_factor is not None and not recompute_scale_factor:
        for factor in scale_factor if isinstance(scale_factor, (tuple, list)) else (scale_factor,):
            if isinstance(factor, Tensor):
                raise errors.float_expected("interpolate(): argument 'scale_factor'", factor)
    _check(shape, sizes, mode, align_corners, antialias)
    shapes.check_storable((*shape[:2], *sizes))
    if mode in _NDIM and _NDIM[mode] != len(shape):
        raise NotImplementedError(
            f"Got {len(shape)}D input, but {mode} mode needs {_NDIM[mode]}D input"
        )
    counts = scale_factor is not None and not recompute_scale_factor
    return tuple(sizes), tuple(scales) if counts else (None,) * spatial


def _check(
    shape: Size, sizes: Sequence[int], mode: str, align_corners: bool | None, antialias: bool
) -> None:
    """Raise RuntimeError, ValueError or NotImplementedError for what `interpolate` cannot do."""
    least = 0 if mode == "area" else 1  # a mean of nothing is asked for, but none is there
    if min(sizes, default=1) < least or 0 in shape[2:]:
        raise RuntimeError(
            "Input and output sizes should be greater than 0, but got input "
            f"{list(shape[2:])} and output {sizes}"
        )
    if align_corners is not None and mode not in _NDIM:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: "
            "linear | bilinear | bicubic | trilinear"
        )
    if antialias and (mode not in ("bilinear", "bicubic") or len(shape) != 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D "
            "tensor as input"
        )
    if mode not in ("nearest", "nearest-exact", "area", *_NDIM):
        raise NotImplementedError(f"interpolate: mode '{mode}' is not implemented")
    if not 1 <= len(shape) - 2 <= 3:
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {len(shape)}D) for "
            f"mode '{mode}': batch, channels and one to three dims to resize"
        )


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Any:
    """`interpolate` by its old name."""
    _renamed("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def _renamed(name: str) -> None:
    warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.")


def _target(
    shape: Size, size: Any, scale_factor: Any, spatial: int
) -> tuple[list[int], list[float | None]]:
    """Return the wanted sizes, and the scales where they were given."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        sizes = list(size) if isinstance(size, (tuple, list)) else [size] * spatial
        if len(sizes) != spatial:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input "
                f"with spatial dimensions of {list(shape[2:])} and output size of {size}."
            )
        return sizes, [None] * spatial
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    given = scale_factor if isinstance(scale_factor, (tuple, list)) else [scale_factor] * spatial
    if len(given) != spatial:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input "
            f"with spatial dimensions of {list(shape[2:])} and scale_factor {scale_factor}."
        )
    scales = [float(factor) for factor in given]
    if not all(map(math.isfinite, scales)):
        raise RuntimeError(f"interpolate: scale_factor {scale_factor} gives no size")
    sizes = [math.floor(length * factor) for length, factor in zip(shape[2:], scales, strict=True)]
    return sizes, [*scales]


def _nearest(
    input: Tensor, sizes: tuple[int, ...], scales: tuple[float | None, ...], exact: bool
) -> Any:
    in_pixels = _has_pixels(input)
    result = input.permute(0, 2, 3, 1) if in_pixels else input
    places = _places(input._sizes, sizes, scales, exact, input.device)
    for dim, each in enumerate(places, 1 if in_pixels else 2):
        result = result.index_select(dim, each)
    return result.permute(0, 3, 1, 2) if in_pixels else result


@lru_cache(maxsize=256)
def _places(
    shape: Size,
    sizes: tuple[int, ...],
    scales: tuple[float | None, ...],
    exact: bool,
    device: torch.device,
) -> tuple[Tensor, ...]:
    """The nearest elements of each dim."""
    found = []
    for length, size, scale in zip(shape[2:], sizes, scales, strict=True):
        if len(sizes) == 2 and not exact and size in (length, 2 * length):
            scale = None  # as PyTorch, which takes all once or twice whatever was given
        found.append(resampling.nearest(length, size, scale, exact, device))
    return tuple(found)


_MANY = 1 << 13
"""Elements for which two calls are sooner done than one copy."""


def _has_pixels(input: Tensor) -> bool:
    """Whether images are large, and the channels of each place lie side by side."""
    sizes, strides = input._sizes, input._strides
    if len(sizes) != 4 or sizes[1] < shapes.FEWEST_CHANNELS or prod(sizes) < _MANY:
        return False
    return shapes.is_channels_last(sizes, strides)


def _weighted(
    input: Tensor,
    sizes: tuple[int, ...],
    scales: tuple[float | None, ...],
    kind: str,
    align_corners: bool,
    antialias: bool,
) -> Any:
    """Rows and columns are resized together, what lies between batch and these afterwards."""
    are_bytes = input.dtype is torch.uint8 and len(sizes) == 2
    real = "float64" if are_bytes or input.dtype is torch.float64 else "float32"
    given = sizes, scales, kind, align_corners, antialias, real, are_bytes
    depths, rows, columns = _tables(input._sizes, *given, input.device)
    if are_bytes:
        return _resampled_bytes(input, *rows, *columns)
    if depths is None:
        return _resampled(input, rows, columns)
    is_narrow = input.is_floating_point() and input.dtype.itemsize == 2
    wide = input.float() if is_narrow else input  # rounded once, at the end
    slices = _resampled(_resampled(wide, rows, columns).flatten(3), depths, None)
    return slices.unflatten(3, sizes[1:]).to(input.dtype)


@lru_cache(maxsize=256)
def _tables(
    shape: Size,
    sizes: tuple[int, ...],
    scales: tuple[float | None, ...],
    kind: str,
    align_corners: bool,
    antialias: bool,
    real: str,
    are_bytes: bool,
    device: torch.device,
) -> tuple[Any, ...]:
    """The tables of depths, rows and columns; None for a dim that is not there."""
    make = resampling.byte_tables if are_bytes else resampling.tables
    found: list[Any] = [None] * (3 - len(sizes))
    for length, size, scale in zip(shape[2:], sizes, scales, strict=True):
        resizing = resampling.Resizing(kind, length, size, scale, align_corners, antialias, real)
        found.append(make(resizing, device))
    return tuple(found)


def _resampled(input: Tensor, rows: Any, columns: Any) -> Any:
    """The last two dims by their tables, or as they are."""
    if _has_pixels(input):
        return _resampled_pixels(input, rows, columns)
    rows, columns = rows or (None,) * 4, columns or (None,) * 4
    return ops._resample(input, *rows[:2], *columns[:2], [*rows[2:], *columns[2:]])


def _resampled_pixels(input: Tensor, rows: Any, columns: Any) -> Any:
    """The same of pixels: rows of them are mixed, and within each row pixels. First what leaves
    less to do."""
    pixels = input.permute(0, 2, 3, 1)
    shrinks = rows is not None and rows[0].size(1) < pixels.size(1)
    for dim in (1, 2) if shrinks else (2, 1):
        tables = (rows, columns)[dim - 1]
        if tables is None:
            continue
        around = pixels.shape[:dim], pixels.shape[dim + 1 :]
        lines = pixels.reshape(prod(around[0]), pixels.size(dim), prod(around[1]))
        mixed = ops._resample(lines, *tables[:2], None, None, [*tables[2:], None, None])
        pixels = mixed.view(*around[0], mixed.size(1), *around[1])
    return pixels.permute(0, 3, 1, 2)


def _resampled_bytes(input: Tensor, *tables: Any) -> Any:
    """The same of images of bytes; channels that lie side by side are pixels."""
    if input._sizes[1] > 1 and shapes.is_channels_last(input._sizes, input._strides):
        pixels = ops._resample_bytes(input.permute(0, 2, 3, 1), *tables)
        return pixels.permute(0, 3, 1, 2)
    return ops._resample_bytes(input.unsqueeze(-1), *tables).squeeze(-1)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Any:
    """`interpolate` with mode "nearest", by its old name."""
    _renamed("upsample_nearest")
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Any:
    """`interpolate` with mode "bilinear" and aligned corners, by its old name."""
    _renamed("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", align_corners=True)
