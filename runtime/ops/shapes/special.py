"""Shapes of element-wise operators that have a hand-written kernel; the dtype is the common one."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes

Answer = tuple[tuple[int, ...], None]


def frexp(self: Any) -> tuple[Any, Any]:
    """Mantissas and exponents, which are int32; the dims lie in the order of self's."""
    strides = shapes.dense_strides(self._sizes, self._strides)
    return (self.shape, self.dtype, strides), (self.shape, dtypes.int32, strides)
