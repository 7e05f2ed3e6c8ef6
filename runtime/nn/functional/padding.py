"""`pad`: values around a tensor, constant or taken from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torchgen_out as torch


def pad(input: Any, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Any:
    """Pad the last dims: (left, right) of the last one, then of the one before, and so on.

    Negative numbers crop. mode: "constant", "reflect", "replicate" or "circular".
    **Raises** RuntimeError for an odd number of sides, or more than the dims have.
    """
    sides = list(pad)
    if len(sides) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(sides) // 2 > input.dim():
        raise RuntimeError(
            f"Padding length should be less than or equal to two times the input dimension but "
            f"got padding length {len(sides)} and input of dimension {input.dim()}"
        )
    if mode == "constant":
        return _pad_constant(input, sides, 0.0 if value is None else value)
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if len(sides) // 2 not in (input.dim() - 1, input.dim() - 2):
        raise NotImplementedError(
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now"
        )
    for position in range(0, len(sides), 2):
        dim = input.dim() - 1 - position // 2
        left, right = sides[position], sides[position + 1]
        if left or right:
            size = input.size(dim)
            _check_sides(mode, left, right, size, dim, input)
            places = [_source(mode, i, size) for i in range(-left, size + right)]
            index = torch.tensor(places, dtype=torch.int64, device=input.device)
            input = input.index_select(dim, index)
    return input


def _pad_constant(input: Any, sides: list[int], value: float) -> Any:
    sizes = list(input.shape)
    kept, placed = input, []
    for position in range(0, len(sides), 2):
        dim = input.dim() - 1 - position // 2
        left, right = sides[position], sides[position + 1]
        sizes[dim] += left + right
        if sizes[dim] < 0:
            raise RuntimeError(
                f"The input size {input.size(dim)}, plus negative padding {left} and {right} "
                f"resulted in a negative output size, which is invalid. Check dimension {dim} of "
                "your input."
            )
        start = max(-left, 0)
        length = max(input.size(dim) - start - max(-right, 0), 0)
        kept = kept.narrow(dim, min(start, input.size(dim)), length)
        placed.append((dim, max(left, 0), length))
    result = input.new_full(sizes, value)
    target = result
    for dim, start, length in placed:
        target = target.narrow(dim, start, length)
    target.copy_(kept)
    return result


def _check_sides(mode: str, left: int, right: int, size: int, dim: int, input: Any) -> None:
    if mode == "reflect" and (left >= size or right >= size):
        raise RuntimeError(
            "Padding size should be less than the corresponding input dimension, but got: "
            f"padding ({left}, {right}) at dimension {dim} of input {list(input.shape)}"
        )
    if mode == "circular" and (left > size or right > size):
        raise RuntimeError("Padding value causes wrapping around more than once.")


def _source(mode: str, i: int, size: int) -> int:
    """The element that stands at position `i`, which may lie outside."""
    if mode == "circular":
        return i % size
    if mode == "replicate":
        return min(max(i, 0), size - 1)
    i = abs(i)
    return i if i < size else 2 * (size - 1) - i
