"""Composites of nn.functional that are no losses, norms, convolutions or pools."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.bindings import integers
from torchgen_out._runtime.core import promotion
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.dispatch import calls, ops
from torchgen_out._runtime.dispatch.operator import CallTable
from torchgen_out._runtime.ops.composite.view.reshaping import (
    in_format_of,
    own_view,
    reshape,
    unseen_view,
)


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along `dim`; norms count as at least `eps`."""
    common = promotion.promote_types(x1.dtype, x2.dtype)
    if not common.is_floating_point:
        raise RuntimeError(
            "expected common dtype to be floating point, yet common dtype is "
            f"{errors.scalar_type_name(common)}"
        )
    x1 = x1 if x1.dtype is common else x1.to(common)
    x2 = x2 if x2.dtype is common else x2.to(common)
    if x1._sizes != x2._sizes:
        x1, x2 = ops.broadcast_tensors([x1, x2])
    norm1, norm2 = (
        ops.linalg_vector_norm(x1, 2, dim, True),
        ops.linalg_vector_norm(x2, 2, dim, True),
    )
    return ops._cosine_terms(x1, x2, norm1, norm2, eps).sum(dim)


def pairwise_distance(
    x1: Any, x2: Any, p: float = 2, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """The p-norm of x1 - x2 + eps over the last dim."""
    return ops.linalg_vector_norm(x1 - x2 + eps, p, -1, keepdim)


# Padding.


def pad(input: Any, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Any:
    """Pad the last dims: (left, right, top, bottom, ...)."""
    pad, sizes = integers.as_ints(pad, "pad", "pad", 2), input._sizes
    if isinstance(pad, int):
        raise errors.ints_expected("pad", "pad", 2, pad)
    if mode == "constant":
        _check_padded_length(len(sizes), len(pad))
        return ops.constant_pad_nd(input, pad, 0 if value is None else value)
    if value is not None:
        _check_padded_length(len(sizes), len(pad))
        if value != 0:
            raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    padded, cropped, widths = _padding_of(mode, sizes, tuple(pad))
    for each in cropped:
        input = input.narrow(*each)
    if mode == "circular" or input._flat is not None:
        return _padded_volume(padded, input, widths)
    if len(sizes) == len(pad) == 4 and shapes.is_channels_last(sizes, input._strides):
        pixels = input.permute(0, 2, 3, 1)
        return padded[pixels._key](pixels, *widths[2:], 0, 0).permute(0, 3, 1, 2)
    return in_format_of(input, _padded_volume(padded, input, widths))


def _padded_volume(padded: CallTable, input: Any, widths: tuple[int, ...]) -> Any:
    if len(input._sizes) > 2:
        return padded[input._key](input, *widths)
    return _padded_volume(padded, input.unsqueeze(0), widths).squeeze(0)


@lru_cache(maxsize=1024)
def _padding_of(
    mode: str, size: Size, pad: tuple[int, ...]
) -> tuple[CallTable, tuple[tuple[int, int, int], ...], tuple[int, ...]]:
    """What pads; what is kept of dims before they wrap around, (dim, start, length); the widths of
    three dims, the first dim first."""
    _check_padded_length(len(size), len(pad))
    if mode not in CHECKS:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    _check_padded_dims(len(size), len(pad))
    sizes, cropped = list(size), []
    widths: tuple[int, ...] = ()
    for i in range(0, len(pad), 2):
        dim, before, after = len(sizes) - 1 - i // 2, pad[i], pad[i + 1]
        if mode == "circular" and min(before, after) < 0:
            cropped.append((dim, *_kept(sizes, dim, before, after)))
            sizes[dim] = cropped[-1][2]
            before, after = max(before, 0), max(after, 0)
        CHECKS[mode](sizes, dim, before, after)
        widths = before, after, *widths
    if mode != "circular":
        _check_left(sizes, pad)
    padded = getattr(calls, f"_pad_{mode}")
    return padded, tuple(cropped), (*(0,) * (6 - len(pad)), *widths)


def _check_padded_length(ndim: int, length: int) -> None:
    if length % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if length > 2 * ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {length} and input of dimension {ndim}"
        )


def _check_padded_dims(ndim: int, length: int) -> None:
    dims = length // 2
    if length not in (2, 4, 6) or ndim not in (dims + 1, dims + 2):
        raise NotImplementedError(
            f"Padding size {length} is not supported for {ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )


def _check_reflected(sizes: list[int], dim: int, before: int, after: int) -> None:
    if max(before, after) >= sizes[dim]:
        raise RuntimeError(
            "Argument #4: Padding size should be less than the corresponding input dimension, "
            f"but got: padding ({before}, {after}) at dimension {dim} of input {sizes}"
        )


def _check_left(sizes: list[int], pad: Sequence[int]) -> None:
    """Raises: RuntimeError if nothing is left of any padded dim, or less than nothing of one."""
    pairs = list(zip(reversed(sizes), pad[::2], pad[1::2], strict=False))[::-1]
    given, left = [size for size, _, _ in pairs], [sum(each) for each in pairs]
    if max(left) < 1 or min(left) < 0:
        named = [
            " ".join(
                f"{name}: {size}" for name, size in zip("DHW"[-len(left) :], each, strict=True)
            )
            for each in (given, left)
        ]
        raise RuntimeError(f"input ({named[0]}) is too small. Calculated output {named[1]}")


def _kept(sizes: list[int], dim: int, before: int, after: int) -> tuple[int, int]:
    """What negative numbers leave of a dim, (start, length); the rest wraps around."""
    first, last = max(-before, 0), max(-after, 0)
    kept = sizes[dim] - first - last
    if kept < 0:
        raise RuntimeError(
            f"pad: padding ({before}, {after}) leaves nothing of dimension {dim} of input {sizes}"
        )
    return first, kept


def _check_wrapped(sizes: list[int], dim: int, before: int, after: int) -> None:
    if max(before, after) > sizes[dim]:
        raise RuntimeError("Padding value causes wrapping around more than once.")


CHECKS = {
    "reflect": _check_reflected,
    "replicate": lambda sizes, dim, before, after: None,
    "circular": _check_wrapped,
}


# Pixels and channels.


def pixel_shuffle(self: Any, upscale_factor: int) -> Any:
    """(*, C * r * r, H, W) -> (*, C, H * r, W * r)."""
    sizes = _shuffled(self._sizes, upscale_factor)
    moved = calls._pixel_shuffle[self._key](self, upscale_factor)
    return in_format_of(self, own_view(moved, sizes))


@lru_cache(maxsize=1024)
def _shuffled(size: Size, r: int) -> tuple[int, ...]:
    """The result's sizes."""
    _check_pixels("pixel_shuffle", "upscale_factor", size, r)
    *batch, channels, height, width = size
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by {r * r}"
        )
    return *batch, channels // (r * r), height * r, width * r


def pixel_unshuffle(self: Any, downscale_factor: int) -> Any:
    """(*, C, H * r, W * r) -> (*, C * r * r, H, W)."""
    sizes = _unshuffled(self._sizes, downscale_factor)
    moved = calls._pixel_unshuffle[self._key](self, downscale_factor)
    return in_format_of(self, own_view(moved, sizes))


@lru_cache(maxsize=1024)
def _unshuffled(size: Size, r: int) -> tuple[int, ...]:
    """The result's sizes."""
    _check_pixels("pixel_unshuffle", "downscale_factor", size, r)
    *batch, channels, height, width = size
    for name, dim, length in (("height", -2, height), ("width", -1, width)):
        if length % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({dim})={length} is not divisible by {r}"
            )
    return *batch, channels * r * r, height // r, width // r


def _check_pixels(name: str, argument: str, size: Size, factor: int) -> None:
    if len(size) < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with "
            f"{len(size)} dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {argument}, but got {factor}")


def channel_shuffle(self: Any, groups: int) -> Any:
    """Interleave the channels of `groups` groups."""
    rows = _channel_rows(self._sizes, groups)
    flat = reshape(self, rows) if self._flat is None else unseen_view(self, rows)
    moved = calls._channel_shuffle[flat._key](flat, groups)
    return in_format_of(self, own_view(moved, self._sizes))


@lru_cache(maxsize=1024)
def _channel_rows(sizes: Size, groups: int) -> tuple[int, ...]:
    """The sizes with one dim behind the channels."""
    if len(sizes) < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(sizes)}"
        )
    batch, channels, *rest = sizes
    if groups <= 0 or channels % groups:
        raise RuntimeError(
            "Number of channels must be divisible by groups. "
            f"Got {channels} channels and {groups} groups."
        )
    return batch, channels, prod(rest)
