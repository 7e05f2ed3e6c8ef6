"""Shapes and checks of padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.core import number

Sizes = tuple[int, ...]


def constant_pad_nd(self: Any, pad: Sequence[int], value: Any = 0) -> tuple[Sizes, Any]:
    """Shape: the last len(pad) / 2 sizes grow by a pair of numbers each, the last dim first."""
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * self.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. "
            f"Pad length is {len(pad)} while the input has {self.ndim} dimensions."
        )
    sizes = list(self.shape)
    for i in range(len(pad) // 2):
        before, after = pad[2 * i], pad[2 * i + 1]
        dim = self.ndim - 1 - i
        sizes[dim] += before + after
        if sizes[dim] < 0:
            raise RuntimeError(
                f"The input size {self.shape[dim]}, plus negative padding {before} and {after} "
                "resulted in a negative output size, which is invalid. Check dimension "
                f"{dim} of your input."
            )
    number.check_fits(value if isinstance(value, complex) else float(value), self.dtype)
    return tuple(sizes), self.dtype
