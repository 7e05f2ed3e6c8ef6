"""Images of another size, by interpolation."""

from __future__ import annotations

import math
from typing import Any

import torchgen_out as torch

_LINEAR = {"linear": 3, "bilinear": 4, "trilinear": 5}


def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """Resize the dims after batch and channels, to `size` or by `scale_factor`.

    mode: "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "area".
    **Raises** ValueError if size and scale_factor are both given or both missing, or have another
    length than there are dims to resize; NotImplementedError unless these are one to three.
    """
    spatial = max(input.dim() - 2, 0)
    sizes, scales = _target(input, size, scale_factor, spatial)
    if recompute_scale_factor or size is not None:
        scales = [None] * spatial
    if align_corners is not None and mode not in _LINEAR:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: "
            "linear | bilinear | bicubic | trilinear"
        )
    if antialias or mode not in ("nearest", "nearest-exact", "area", *_LINEAR):
        what = "antialias=True" if antialias else f"mode '{mode}'"
        raise NotImplementedError(f"interpolate: {what} is not implemented")
    if not 1 <= spatial <= 3:
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for "
            f"mode '{mode}': batch, channels and one to three dims to resize"
        )
    if 0 in sizes or 0 in input.shape[2:]:
        raise RuntimeError(
            "Input and output sizes should be greater than 0, but got input "
            f"{list(input.shape[2:])} and output {sizes}"
        )
    if mode == "area":
        return _area(input, sizes)
    if mode in _LINEAR and _LINEAR[mode] != input.dim():
        raise NotImplementedError(
            f"Got {input.dim()}D input, but {mode} mode needs {_LINEAR[mode]}D input"
        )
    for dim in range(spatial):
        if mode in _LINEAR:
            corners = bool(align_corners)
            input = _linear(input, dim + 2, sizes[dim], scales[dim], corners)
        else:
            exact = mode == "nearest-exact"
            input = _nearest(input, dim + 2, sizes[dim], scales[dim], exact)
    return input


def upsample(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Any:
    """`interpolate` by its old name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def _target(
    input: Any, size: Any, scale_factor: Any, spatial: int
) -> tuple[list[int], list[float | None]]:
    """Return the wanted sizes, and the scales where they were given."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        sizes = list(size) if isinstance(size, (tuple, list)) else [size] * spatial
        if len(sizes) != spatial:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input "
                f"with spatial dimensions of {list(input.shape[2:])} and output size of {size}."
            )
        return sizes, [None] * spatial
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    given = scale_factor if isinstance(scale_factor, (tuple, list)) else [scale_factor] * spatial
    if len(given) != spatial:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input "
            f"with spatial dimensions of {list(input.shape[2:])} and scale_factor {scale_factor}."
        )
    scales = [float(factor) for factor in given]
    sizes = [
        math.floor(length * factor) for length, factor in zip(input.shape[2:], scales, strict=True)
    ]
    return sizes, [*scales]


def _nearest(input: Any, dim: int, size: int, scale: float | None, exact: bool) -> Any:
    length = input.size(dim)
    ratio = 1.0 / scale if scale is not None else length / size
    shift = 0.5 if exact else 0.0
    places = [min(math.floor((i + shift) * ratio), length - 1) for i in range(size)]
    index = torch.tensor(places, dtype=torch.int64, device=input.device)
    return input.index_select(dim, index)


def _linear(input: Any, dim: int, size: int, scale: float | None, align_corners: bool) -> Any:
    length = input.size(dim)
    if align_corners:
        ratio = (length - 1) / (size - 1) if size > 1 else 0.0
        places = [i * ratio for i in range(size)]
    else:
        ratio = 1.0 / scale if scale is not None else length / size
        places = [max((i + 0.5) * ratio - 0.5, 0.0) for i in range(size)]
    lower = [min(int(place), length - 1) for place in places]
    upper = [min(place + 1, length - 1) for place in lower]
    weights = [place - low for place, low in zip(places, lower, strict=True)]
    options = {"device": input.device}
    low = input.index_select(dim, torch.tensor(lower, dtype=torch.int64, **options))
    high = input.index_select(dim, torch.tensor(upper, dtype=torch.int64, **options))
    shape = [1] * input.dim()
    shape[dim] = size
    weight = torch.tensor(weights, dtype=input.dtype, **options).reshape(shape)
    return torch.lerp(low, high, weight.expand_as(low))


def _area(input: Any, sizes: list[int]) -> Any:
    for dim, size in enumerate(sizes, 2):
        length = input.size(dim)
        parts = []
        for i in range(size):
            start, end = i * length // size, -(-(i + 1) * length // size)
            parts.append(input.narrow(dim, start, end - start).mean(dim, keepdim=True))
        input = torch.cat(parts, dim)
    return input


def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """`interpolate` with mode "nearest", by its old name."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """`interpolate` with mode "bilinear" and aligned corners, by its old name."""
    return interpolate(input, size, scale_factor, "bilinear", align_corners=True)
