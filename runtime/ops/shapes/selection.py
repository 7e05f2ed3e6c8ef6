"""Shapes and checks of reductions that pick an element, and of counting operators."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes

Answer = tuple[tuple[int, ...], dtypes.dtype]
Pair = tuple[Answer, Answer]


def reduced(shape: tuple[int, ...], dim: int, keepdim: bool) -> tuple[int, ...]:
    """The shape without `dim`, or with size 1 there; a scalar stays one."""
    if not shape:
        return ()
    return (*shape[:dim], 1, *shape[dim + 1 :]) if keepdim else (*shape[:dim], *shape[dim + 1 :])


def value_and_index(name: str, self: Any, dim: int, keepdim: bool) -> Pair:
    """A value and an int64 index for each slice along `dim`.

    Raises: IndexError for dim, or if its size is 0.
    """
    sizes = _reduce_one(name, self, dim, keepdim)
    return (sizes, self.dtype), (sizes, dtypes.int64)


def _reduce_one(name: str, self: Any, dim: int, keepdim: bool) -> tuple[int, ...]:
    dim = shapes.normalize_dim(dim, self.ndim)
    if self.ndim and self.shape[dim] == 0:
        raise errors.empty_reduction_dim(name, dim)
    return reduced(self.shape, dim, keepdim)


def argmax(self: Any, dim: int | None = None, keepdim: bool = False) -> Answer:
    """int64; `dim` is reduced, or all dims. Raises: IndexError for dim or an empty input."""
    return _arg("argmax", self, dim, keepdim)


def argmin(self: Any, dim: int | None = None, keepdim: bool = False) -> Answer:
    """int64; `dim` is reduced, or all dims. Raises: IndexError for dim or an empty input."""
    return _arg("argmin", self, dim, keepdim)


def _arg(name: str, self: Any, dim: int | None, keepdim: bool) -> Answer:
    if dim is not None:
        return _reduce_one(name, self, dim, keepdim), dtypes.int64
    if 0 in self.shape:
        raise errors.empty_reduction(name)
    return (1,) * self.ndim if keepdim else (), dtypes.int64


def max_dim(self: Any, dim: int, keepdim: bool = False) -> Pair:
    """`dim` is reduced. Raises: IndexError for dim or a size of 0."""
    return value_and_index("max", self, dim, keepdim)


def min_dim(self: Any, dim: int, keepdim: bool = False) -> Pair:
    """`dim` is reduced. Raises: IndexError for dim or a size of 0."""
    return value_and_index("min", self, dim, keepdim)


def histc(self: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Answer:
    """`bins` counts of self's dtype. Raises: RuntimeError for `bins` or the order of the bounds."""
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if max < min:
        raise RuntimeError("torch.histc: max must be larger than min")
    return (bins,), self.dtype
