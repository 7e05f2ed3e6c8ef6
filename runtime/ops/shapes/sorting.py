"""Shapes and checks of operators that order elements along a dim."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.ops.shapes.selection import value_and_index

Answer = tuple[tuple[int, ...], dtypes.dtype]
Pair = tuple[Answer, Answer]


def sort(self: Any, dim: int = -1, descending: bool = False) -> Pair:
    """Values and int64 indices of self's shape. Raises: IndexError for dim."""
    shapes.normalize_dim(dim, self.ndim)
    return (self.shape, self.dtype), (self.shape, dtypes.int64)


def sort_stable(self: Any, stable: bool | None, dim: int = -1, descending: bool = False) -> Pair:
    """Values and int64 indices of self's shape. Raises: IndexError for dim."""
    return sort(self, dim, descending)


def topk(self: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Pair:
    """The size at `dim` becomes `k`; a scalar stays one.

    Raises: IndexError for dim, RuntimeError if there are fewer than `k`.
    """
    dim = shapes.normalize_dim(dim, self.ndim)
    if not 0 <= k <= (self.shape[dim] if self.ndim else 1):
        raise RuntimeError("selected index k out of range")
    sizes = (*self.shape[:dim], k, *self.shape[dim + 1 :]) if self.ndim else ()
    return (sizes, self.dtype), (sizes, dtypes.int64)


def kthvalue(self: Any, k: int, dim: int = -1, keepdim: bool = False) -> Pair:
    """`dim` is reduced. Raises: IndexError for dim or a size of 0, RuntimeError for `k`."""
    answer = value_and_index("kthvalue", self, dim, keepdim)
    dim = shapes.normalize_dim(dim, self.ndim)
    if not 1 <= k <= (self.shape[dim] if self.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    return answer


def median(self: Any) -> Answer:
    """A scalar."""
    return (), self.dtype


def median_dim(self: Any, dim: int, keepdim: bool = False) -> Pair:
    """`dim` is reduced. Raises: IndexError for dim or a size of 0."""
    return value_and_index("median", self, dim, keepdim)


def mode(self: Any, dim: int = -1, keepdim: bool = False) -> Pair:
    """`dim` is reduced. Raises: IndexError for dim or a size of 0."""
    return value_and_index("mode", self, dim, keepdim)
