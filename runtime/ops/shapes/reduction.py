"""Shapes and checks of reductions without a formula: moments, norms, extremes, counts."""

from __future__ import annotations

from math import inf, prod
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.user_warnings import warn

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


def trace(self: Any) -> Answer:
    """A number; of integers int64. Raises: RuntimeError unless self is a matrix."""
    if len(self._sizes) != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    return (), dtypes.int64 if self.dtype.kind == "i" else self.dtype


def bin_sums(points: Any, edges: Any, bins: Any, weights: Any) -> Answer:
    """The numbers of bins."""
    return tuple(bins), points.dtype


Sizes = tuple[int, ...]


def var(
    self: Any, dim: Any = None, correction: Any = None, keepdim: bool = False
) -> tuple[Sizes, Any]:
    """Shape: sizes without the dims of `dim`, or with 1 there. dtype: real."""
    return _moment("var", "std and var", self, dim, correction, keepdim)


def std(
    self: Any, dim: Any = None, correction: Any = None, keepdim: bool = False
) -> tuple[Sizes, Any]:
    """Shape: sizes without the dims of `dim`, or with 1 there. dtype: real."""
    return _moment("std", "std and var", self, dim, correction, keepdim)


def var_mean(
    self: Any, dim: Any = None, correction: Any = None, keepdim: bool = False
) -> tuple[Any, Any]:
    """As var, and the mean, which keeps a complex dtype."""
    sizes, dtype = _moment("var_mean", "var_mean", self, dim, correction, keepdim)
    return (sizes, dtype), (sizes, self.dtype)


def std_mean(
    self: Any, dim: Any = None, correction: Any = None, keepdim: bool = False
) -> tuple[Any, Any]:
    """As std, and the mean, which keeps a complex dtype."""
    sizes, dtype = _moment("std_mean", "std_mean", self, dim, correction, keepdim)
    return (sizes, dtype), (sizes, self.dtype)


def _moment(
    name: str, shown: str, self: Any, dim: Any, correction: Any, keepdim: bool
) -> tuple[Sizes, Any]:
    if self.dtype.kind not in "fc":
        raise RuntimeError(f"{shown} only support floating point and complex dtypes")
    whole = dim is None or (not isinstance(dim, int) and not len(dim))
    dims = shapes.normalize_dims(None if whole else dim, self.ndim)
    count = prod(self.shape[d] for d in dims if d < self.ndim)
    sizes = [size for d, size in enumerate(self.shape) if keepdim or d not in dims]
    if keepdim:
        sizes = [1 if d in dims else size for d, size in enumerate(sizes)]
    if not prod(sizes) or count <= (1 if correction is None else correction):
        warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel).",
        )
    return tuple(sizes), self.dtype.to_real()


def linalg_vector_norm(
    self: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> tuple[Sizes, Any]:
    """Shape: sizes without the dims of `dim` (or with 1 there); all dims by default."""
    own = self.dtype
    if own.kind not in "fc":
        raise errors.norm_needs_floating("linalg.vector_norm", own)
    if dtype is not None and dtype.kind not in "fc":
        raise errors.norm_dtype_not_floating(dtype)
    if dtype is not None and (dtype.itemsize < own.itemsize or own.is_complex > dtype.is_complex):
        raise errors.norm_dtype_narrows(own, dtype)
    empty = dim is None or (not isinstance(dim, int) and not len(dim))
    dims = shapes.normalize_dims(None if empty else dim, self.ndim)
    if 0 in self.shape and (ord < 0 or ord == inf):
        _check_norm_has_identity(self.shape, dims, ord, empty)
    kept = [1 if d in dims else size for d, size in enumerate(self.shape)]
    if not keepdim:
        kept = [size for d, size in enumerate(self.shape) if d not in dims]
    return tuple(kept), (dtype or own).to_real()


def _check_norm_has_identity(sizes: Sizes, dims: Sizes, ord: Any, whole: bool) -> None:
    """The largest and the smallest magnitude of nothing do not exist."""
    if whole:
        raise errors.norm_of_nothing(ord, "on an empty tensor")
    for dim in dims:
        if sizes[dim] == 0:
            raise errors.norm_of_nothing(
                ord, f"on the dimension {dim} because this dimension is empty"
            )
