"""The geometry of contiguous tensors, worked out once per shape."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.size import Size


class DenseLayout:
    """Sizes, row-major strides, element count, and the key's bit for no dims.

    `numel` is -1 if a size is negative, so that it equals no tensor's.
    Raises: RuntimeError if memory cannot have so many elements.
    """

    __slots__ = ("numel", "sizes", "strides", "zero_dim")

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = Size(sizes)
        is_negative = any(size < 0 for size in self.sizes)
        if not is_negative:
            shapes.check_storable(self.sizes)
        self.strides = shapes.contiguous_strides(self.sizes)
        self.numel = -1 if is_negative else shapes.numel(self.sizes)
        self.zero_dim = 0 if self.sizes else keys.ZERO_DIM


@lru_cache(maxsize=1024)
def inferred_layout(sizes: tuple[int, ...], numel: int) -> DenseLayout:
    """The layout for `numel` elements where one size may be -1.

    Raises: RuntimeError if no size makes that many.
    """
    return dense_layout(shapes.infer_size(sizes, numel))


@lru_cache(maxsize=1024)
def dense_layout(sizes: tuple[int, ...]) -> DenseLayout:
    """The layout of a contiguous tensor of these sizes."""
    return DenseLayout(sizes)
