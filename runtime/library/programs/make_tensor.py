"""`torch.testing.make_tensor`: random tensors for tests, of any dtype, layout in memory, range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torchgen_out as torch

__all__ = ["make_tensor"]

_RANGE = {"floating": (-9.0, 9.0), "integral": (-9, 10), "bool": (0, 2), "uint8": (0, 10)}


def _bounds(dtype: Any, low: float | None, high: float | None) -> tuple[float, float]:
    """Return the range of values, as PyTorch clamps it. **Raises** ValueError if it is none."""
    kind = "floating" if dtype.is_floating_point or dtype.is_complex else "integral"
    if dtype in (torch.bool, torch.uint8):
        kind = "bool" if dtype is torch.bool else "uint8"
    default = _RANGE[kind]
    low = default[0] if low is None else low
    high = default[1] if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low!r} and high={high!r}")
    if low > high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    least: float
    most: float
    if dtype is torch.bool:
        least, most = 0, 2
    elif kind == "floating":
        limits = torch.finfo(dtype)
        least, most = limits.min, limits.max
    else:
        whole = torch.iinfo(dtype)
        least, most = whole.min, whole.max + 1
    low, high = max(low, least), min(high, most)
    if kind != "floating":
        low, high = math.ceil(low), math.ceil(high)
    if low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    return low, high


def _shape(shape: tuple[Any, ...]) -> tuple[int, ...]:
    if len(shape) == 1 and isinstance(shape[0], Sequence):
        return tuple(shape[0])
    return tuple(shape)


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Any:
    """Return a tensor of values drawn uniformly from [low, high).

    dtype: floats lie in [-9, 9), integers in [-9, 10), uint8 in [0, 10) unless bounds are given.
    **Raises** ValueError for empty ranges and for both `noncontiguous` and `memory_format`,
    TypeError for what is no dtype.
    """
    if not isinstance(dtype, torch.dtype):
        raise TypeError(
            f"The requested dtype '{dtype}' is not supported by torch.testing.make_tensor()."
        )
    sizes = _shape(shape)
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, "
            f"but got {noncontiguous=} and {memory_format=}"
        )
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            f"`requires_grad` must be False for integral dtypes, but got {requires_grad=}"
        )
    bounds = _bounds(dtype, low, high)
    spread = noncontiguous and math.prod(sizes) > 1
    drawn = _draw((*sizes[:-1], sizes[-1] * 2) if spread else sizes, dtype, device, bounds)
    if exclude_zero:
        least = torch.finfo(dtype).tiny if dtype.is_floating_point or dtype.is_complex else 1
        drawn[drawn == 0] = least
    if spread:
        drawn = drawn[..., ::2]
    if memory_format is not None:
        drawn = drawn.clone(memory_format=memory_format)
    return drawn.requires_grad_(requires_grad)


def _draw(sizes: tuple[int, ...], dtype: Any, device: Any, bounds: tuple[float, float]) -> Any:
    low, high = bounds
    if dtype.is_complex:
        parts = [
            torch.empty(sizes, dtype=dtype.to_real(), device=device).uniform_(low, high)
            for _ in "ri"
        ]
        return torch.complex(*parts)
    if dtype.is_floating_point:
        return torch.empty(sizes, dtype=dtype, device=device).uniform_(low, high)
    return torch.randint(int(low), int(high), sizes, dtype=dtype, device=device)
