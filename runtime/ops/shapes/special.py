"""Shapes of element-wise operators that have a hand-written kernel; the dtype is the common one."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import promotion
from torchgen_out._runtime.core import shape as shapes

Answer = tuple[tuple[int, ...], None]


def recurrence(x: Any, n: Any, coefficients: Any) -> tuple[tuple[int, ...], Any]:
    """The shape to which argument and degree broadcast; their common floating dtype.

    Raises: RuntimeError if they do not broadcast, NotImplementedError for a dtype of 16 bits.
    """
    ranks = [promotion.DIMENSIONED if each.ndim else promotion.ZERO_DIM for each in (x, n)]
    dtype = promotion.result_dtype("int_to_float", zip((x.dtype, n.dtype), ranks, strict=True))
    if dtype.opmath is not dtype:
        raise errors.dtype_not_supported("polynomial", dtype, "float32, float64")
    return shapes.broadcast_shapes(x.shape, n.shape), dtype


def frexp(self: Any) -> tuple[tuple[tuple[int, ...], Any], ...]:
    """Mantissas and exponents, which are int32."""
    return (self.shape, self.dtype), (self.shape, dtypes.int32)
