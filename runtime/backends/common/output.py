"""New results: what a shape function says of them, worked out for those who make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.dense import dense_layout


class Output:
    """One result as the shape function described it: (sizes, dtype[, strides]).

    common: the dtype where the description has none. maker(nbytes, dtype of NumPy): what makes flat
    memory, `empty(numel)`. key_bits: those of the device.
    """

    __slots__ = ("dtype", "empty", "is_contiguous", "key", "numel", "numpy", "sizes", "strides")

    def __init__(
        self,
        spec: Any,
        common: dtypes.dtype | None,
        maker: Callable[[int, Any], Callable[[int], Any]],
        key_bits: int = 0,
    ) -> None:
        sizes, dtype, *strides = spec
        layout = dense_layout(tuple(sizes))
        chosen = dtype or common
        if chosen is None:
            raise ValueError("a result without a dtype")
        self.dtype: dtypes.dtype = chosen
        self.sizes, self.numel = layout.sizes, layout.numel
        self.strides = tuple(strides[0]) if strides else layout.strides
        self.is_contiguous = self.strides == layout.strides
        self.key = self.dtype.index | layout.zero_dim | key_bits
        self.numpy = self.dtype.numpy
        self.empty = maker(self.numel * self.dtype.itemsize, self.numpy)
