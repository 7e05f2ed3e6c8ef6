"""Shapes of element-wise operators that have a hand-written kernel; the dtype is the common one."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes

Answer = tuple[tuple[int, ...], None]


def frexp(self: Any) -> tuple[tuple[tuple[int, ...], Any], ...]:
    """Mantissas and exponents, which are int32."""
    return (self.shape, self.dtype), (self.shape, dtypes.int32)
