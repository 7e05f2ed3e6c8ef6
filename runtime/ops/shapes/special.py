"""Shapes of element-wise operators that have a hand-written kernel; the dtype is the common one."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes

Answer = tuple[tuple[int, ...], None]


def unary(self: Any) -> Answer:
    """The shape of self."""
    return self.shape, None


def one(x: Any) -> Answer:
    """The shape of x."""
    return x.shape, None


def recurrence(x: Any, n: Any, *coefficients: Any) -> Answer:
    """The shape to which argument and degree broadcast. Raises: RuntimeError if they do not."""
    return shapes.broadcast_shapes(x.shape, n.shape), None


def frexp(self: Any) -> tuple[tuple[tuple[int, ...], Any], ...]:
    """Mantissas and exponents, which are int32."""
    return (self.shape, self.dtype), (self.shape, dtypes.int32)


def binary(self: Any, other: Any) -> Answer:
    """The shape to which both broadcast. Raises: RuntimeError if they do not."""
    return shapes.broadcast_shapes(self.shape, other.shape), None


def polygamma(n: int, self: Any) -> Answer:
    """The shape of self."""
    return self.shape, None
