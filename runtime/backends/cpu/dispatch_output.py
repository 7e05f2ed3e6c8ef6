"""Results of hand-written kernels on the CPU: memory for them, and rounding to 16 bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.backends.cpu import pool
from runtime.core import dtype as dtypes
from runtime.core.dense import dense_layout
from runtime.core.storage import Storage
from runtime.core.tensor import Tensor, build
from runtime.kernels.cpu import half


class Output:
    """One result as the shape function described it: (sizes, dtype[, strides])."""

    __slots__ = (
        "dtype",
        "empty",
        "is_contiguous",
        "is_rounded",
        "key",
        "numel",
        "numpy",
        "sizes",
        "strides",
    )

    def __init__(self, spec: Any, common: dtypes.dtype | None, raw: bool) -> None:
        sizes, dtype, *strides = spec
        layout = dense_layout(tuple(sizes))
        self.dtype = dtype or common
        self.sizes, self.numel = layout.sizes, layout.numel
        self.strides = tuple(strides[0]) if strides else layout.strides
        self.is_contiguous = self.strides == layout.strides
        self.key = self.dtype.index | layout.zero_dim
        self.numpy = self.dtype.numpy
        self.empty = pool.array_maker(self.numel * self.dtype.itemsize)
        self.is_rounded = not raw and self.dtype.opmath is not self.dtype

    def allocate(self) -> Tensor:
        """A tensor of undefined values."""
        buffer = self.empty(self.numel, self.numpy)
        if self.is_contiguous:
            return build(self.key, self.sizes, self.strides, 0, None, buffer)
        return build(self.key, self.sizes, self.strides, 0, Storage(buffer))

    def array(self, out: Tensor) -> Any:
        """The memory of a tensor that `allocate` made."""
        return out._array() if out._flat is None else out._flat.reshape(self.sizes)

    def run(self, kernel: Any, arguments: list[Any]) -> Tensor:
        """Allocate and compute the only result."""
        out = self.allocate()
        if self.is_rounded:
            run_rounded(kernel, [out], arguments, raw=False)
        else:
            kernel(self.array(out), *arguments)
        return out


def run_rounded(kernel: Any, outs: list[Tensor], arguments: list[Any], raw: bool) -> None:
    """Run into `outs`; 16-bit results are computed in float32 and rounded."""
    arrays = [
        out._array()
        if raw or out.dtype.opmath is out.dtype
        else np.empty(tuple(out._sizes), np.float32)
        for out in outs
    ]
    kernel(*arrays, *arguments)
    for out, array in zip(outs, arrays, strict=True):
        if not raw and out.dtype.opmath is not out.dtype:
            out._array()[...] = half.from_float32(array, out.dtype)
