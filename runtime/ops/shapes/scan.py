"""Shapes and checks of cumulative operators."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes

Answer = tuple[tuple[int, ...], dtypes.dtype]


def cumulative(self: Any, dim: int, dtype: dtypes.dtype | None = None) -> Answer:
    """The shape of self; integers and bool become int64 unless `dtype` is given.

    Raises: IndexError for dim.
    """
    shapes.normalize_dim(dim, self.ndim)
    if dtype is None:
        dtype = dtypes.int64 if self.dtype.kind in "bi" else self.dtype
    return self.shape, dtype


def logcumsumexp(self: Any, dim: int) -> Answer:
    """The shape and dtype of self. Raises: IndexError for dim."""
    shapes.normalize_dim(dim, self.ndim)
    return self.shape, self.dtype


def cummaxmin(self: Any, dim: int) -> tuple[Answer, Answer]:
    """Values and int64 indices of self's shape. Raises: IndexError for dim."""
    shapes.normalize_dim(dim, self.ndim)
    return (self.shape, self.dtype), (self.shape, dtypes.int64)
