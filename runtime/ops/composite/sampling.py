"""Grids of points of affine maps, and images read at the points of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

from torchgen_out._runtime.core import shape
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.kernels.common.sampling import BITS_BEHIND_POINT as BITS_BEHIND_POINT

INTERPOLATIONS = {"bilinear": 0, "nearest": 1, "bicubic": 2}
PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}


def grid_sample(
    input: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:
    """`grid_sampler` by the names of the modes. **Raises** ValueError for another name."""
    if mode not in INTERPOLATIONS:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    aligned = _is_aligned(align_corners)
    return ops.grid_sampler(input, grid, INTERPOLATIONS[mode], PADDINGS[padding_mode], aligned)


def _is_aligned(align_corners: bool | None) -> bool:
    if align_corners is None:
        warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False "
            "since 1.3.0. Please specify align_corners=True if the old behavior is desired.",
        )
    return bool(align_corners)


def affine_grid(theta: Any, size: Sequence[int], align_corners: bool | None = None) -> Any:
    """`affine_grid_generator` after its checks.

    **Raises** ValueError for theta's dtype or shape or a size of 0, NotImplementedError for the
    number of dims.
    """
    if theta.dtype.kind != "f":
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {tuple(size)}."
        )
    if theta.ndim != 3 or tuple(theta.shape[-2:]) != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size "
            f"{tuple(size)}. Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    return affine_grid_generator(theta, size, _is_aligned(align_corners))


def affine_grid_generator(theta: Any, size: Sequence[int], align_corners: bool) -> Any:
    """theta applied to the places of an image's elements. Shape: (N, d, d + 1) -> (N, *S, d)."""
    lengths = tuple(size[2:])
    shape.check_storable((size[0], *lengths, len(lengths)))
    is_kept = theta.is_cpu and prod(lengths) <= MOST_PLACES_KEPT
    base = (_kept_base if is_kept else _base)(lengths, align_corners, theta.dtype, theta.device)
    grid = base.expand((size[0], *base._sizes)).bmm(theta.transpose(1, 2))
    return grid.reshape((size[0], *lengths, len(lengths)))


MOST_PLACES_KEPT = 4096
"""Up to how many places of an image are remembered."""


def _base(lengths: tuple[int, ...], align_corners: bool, dtype: Any, device: Any) -> Any:
    """The coordinates of all places, the last dim's first, and a 1. Shape: (places, d + 1)."""
    parts = []
    for dim in reversed(range(len(lengths))):
        along = [1] * len(lengths)
        along[dim] = lengths[dim]
        line = _line(lengths[dim], align_corners, dtype, device).reshape(along)
        parts.append(line.expand(lengths))
    parts.append(ops.ones(lengths, dtype=dtype, device=device))
    return ops.stack(parts, -1).flatten(0, -2)


_kept_base = lru_cache(maxsize=64)(_base)


def _line(length: int, align_corners: bool, dtype: Any, device: Any) -> Any:
    """Where elements lie along a dim: from -1 to 1, their centers or, if not aligned, edges."""
    if length <= 1:
        return ops.zeros(length, dtype=dtype, device=device)
    line = ops.linspace(-1, 1, length, dtype=dtype, device=device)
    return line if align_corners else line * (length - 1) / length


# -- tap by tap ---------------------------------------------------------------------------------


def resample_bytes(
    out: Any, self: Any, rows: Any, row_weights: Any, columns: Any, column_weights: Any
) -> None:
    """Write images of bytes of which columns, and then rows, are mixed and rounded."""
    made = self.long()
    for dim, places, weights in ((-2, columns, column_weights), (-3, rows, row_weights)):
        if places is None:
            continue
        along = [-1 if each == dim else 1 for each in range(-3, 0)]
        total: Any = 1 << (BITS_BEHIND_POINT - 1)
        for place, weight in zip(places, weights, strict=True):
            total = total + made.index_select(dim, place) * weight.reshape(along)
        made = (total >> BITS_BEHIND_POINT).clamp(0, 255)
    out.copy_(made)


def grid_sampler_steps(
    input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """The weighted sum of the taps of all points, each tap read for all of them at once."""
    modes = interpolation_mode, padding_mode, align_corners
    lengths = input.shape[:1:-1]
    per_dim = [
        _taps(grid[..., dim].flatten(1), length, *modes) for dim, length in enumerate(lengths)
    ]
    image = input.flatten(2)
    total: Any = 0
    for taps in product(*per_dim):
        place: Any = 0
        weight: Any = 1
        step = 1
        for (index, inside, part), length in zip(taps, lengths, strict=True):
            place = place + index.clamp(0, length - 1) * step
            step *= length
            weight = weight * part * inside
        read = image.gather(2, place.unsqueeze(1).expand(-1, image.shape[1], -1))
        total = total + read * weight.unsqueeze(1)
    return total.reshape(*input.shape[:2], *grid.shape[1:-1])


def _taps(
    g: Any, length: int, mode: int, padding: int, align_corners: bool
) -> list[tuple[Any, Any, Any]]:
    """(place, whether it is inside, weight) of the taps along a dim. Shape: all (N, points)."""
    x = (g + 1) * ((length - 1) / 2) if align_corners else ((g + 1) * length - 1) / 2
    if mode != INTERPOLATIONS["bicubic"]:
        x = _padded(x, length, padding, align_corners)
    start = x.detach().floor()
    t = x - start
    if mode == INTERPOLATIONS["nearest"]:
        places, weights = [x.detach().round()], [ops.ones_like(t)]
    elif mode == INTERPOLATIONS["bilinear"]:
        places, weights = [start, start + 1], [1 - t, t]
    else:
        places = [_padded(start + k - 1, length, padding, align_corners) for k in range(4)]
        weights = [_outer_cubic(1 + t), _inner_cubic(t), _inner_cubic(1 - t), _outer_cubic(2 - t)]
    insides = [(place >= 0) & (place < length) for place in places]
    found = [place.long() for place in places]
    return list(zip(found, insides, weights, strict=True))


def _padded(x: Any, length: int, padding: int, align_corners: bool) -> Any:
    """A coordinate inside the image, where the padding says so."""
    if padding == PADDINGS["zeros"]:
        return x
    if padding == PADDINGS["reflection"]:
        start, span = (0.0, length - 1.0) if align_corners else (-0.5, float(length))
        if not span:
            return x * 0
        away = (x - start).abs()
        folds = (away.detach() / span).floor()
        rest = away - folds * span
        x = ops.where(folds % 2 == 0, rest + start, span - rest + start)
    return ops.where(x > 0, ops.where(x >= length - 1, length - 1.0, x), 0.0)


def _inner_cubic(d: Any) -> Any:
    """Keys' cubic convolution with parameter -3/4, at distances up to 1."""
    return (1.25 * d - 2.25) * d * d + 1


def _outer_cubic(d: Any) -> Any:
    """The same at distances from 1 to 2."""
    return ((-0.75 * d + 3.75) * d - 6) * d + 3
