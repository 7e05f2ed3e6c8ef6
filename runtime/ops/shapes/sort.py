"""Shapes and checks of operators that order elements along a dim, and search among them."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.ops.shapes.reduction import value_and_index

Answer = tuple[tuple[int, ...], dtypes.dtype]

Pair = tuple[Answer, Answer]
Laid = tuple[tuple[int, ...], dtypes.dtype, tuple[int, ...]]


def ordered(
    self: Any, k: int | None, dim: int = -1, descending: bool = False
) -> Pair | tuple[Laid, Laid]:
    """Values and int64 indices, k of them, or all in the order of self's dims. Raises: as topk."""
    if k is not None:
        return topk(self, k, dim)
    shapes.normalize_dim(dim, self.ndim)
    strides = shapes.dense_strides(self._sizes, self._strides)
    return (self.shape, self.dtype, strides), (self.shape, dtypes.int64, strides)


def sort(
    self: Any, stable: bool | None, dim: int = -1, descending: bool = False
) -> Pair | tuple[Laid, Laid]:
    """Values and int64 indices of self's shape, its dims in order. Raises: IndexError for dim."""
    return ordered(self, None, dim)


def topk(self: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Pair:
    """The size at `dim` becomes `k`; a scalar stays one.

    Raises: IndexError for dim, RuntimeError if there are fewer than `k`.
    """
    dim = shapes.normalize_dim(dim, self.ndim)
    if not 0 <= k <= (self.shape[dim] if self.ndim else 1):
        raise RuntimeError("selected index k out of range")
    sizes = (*self.shape[:dim], k, *self.shape[dim + 1 :]) if self.ndim else ()
    return (sizes, self.dtype), (sizes, dtypes.int64)


def order_statistic(
    self: Any, k: int | None, dim: int | None, keepdim: bool, skips_nan: bool
) -> Pair:
    """`dim` is reduced, or all. Raises: IndexError for dim or a size of 0, RuntimeError for `k`."""
    if dim is None:
        return median(self), ((), dtypes.int64)
    if k is None:
        return value_and_index("median", self, dim, keepdim)
    answer = value_and_index("kthvalue", self, dim, keepdim)
    dim = shapes.normalize_dim(dim, self.ndim)
    if not 1 <= k <= (self.shape[dim] if self.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    return answer


def median(self: Any) -> Answer:
    """A scalar."""
    return (), self.dtype


def mode(self: Any, dim: int = -1, keepdim: bool = False) -> Pair:
    """`dim` is reduced. Raises: IndexError for dim or a size of 0."""
    return value_and_index("mode", self, dim, keepdim)


def searchsorted(
    sorted_sequence: Any,
    self: Any,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Answer:
    """The shape of the values. Raises: RuntimeError for shapes, `side` or `sorter`."""
    if side is not None:
        if side not in ("left", "right"):
            raise RuntimeError(
                f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
            )
        if side == "left" and right:
            raise RuntimeError(
                "torch.searchsorted(): side and right can't be set to opposites, got side of left "
                "while right was True"
            )
    _check_sorter(sorted_sequence, sorter)
    return _search(sorted_sequence, getattr(self, "shape", None), out_int32)


def _check_sorter(sequence: Any, sorter: Any) -> None:
    if sorter is None:
        return
    if sorter.shape != sequence.shape:
        raise RuntimeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary "
            f"tensor {list(sequence.shape)} and got sorter tensor {list(sorter.shape)}"
        )
    if sorter.dtype is not dtypes.int64:
        raise RuntimeError(
            "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
            f"{errors.scalar_type_name(sorter.dtype)}"
        )


def _search(sequence: Any, values: tuple[int, ...] | None, out_int32: bool) -> Answer:
    """values: their shape, or None for a number."""
    dtype = dtypes.int32 if out_int32 else dtypes.int64
    bounds = sequence.shape
    if not bounds:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
            "dimension"
        )
    if not values and len(bounds) != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but we got boundaries tensor dim({len(bounds)}) and input value's "
            "dim(0) numel(1)"
        )
    if values and len(bounds) != 1 and bounds[:-1] != values[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(bounds)} and input value tensor {list(values)}"
        )
    return values or (), dtype


def search(
    first: Any,
    second: Any,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: Any,
    values_first: bool,
) -> Answer:
    """The shape of the values."""
    if values_first:
        return bucketize(first, second, out_int32, right)
    return searchsorted(first, second, out_int32, right, side, sorter)


def bucketize(self: Any, boundaries: Any, out_int32: bool = False, right: bool = False) -> Answer:
    """The shape of self. Raises: RuntimeError unless `boundaries` is a vector."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return _search(boundaries, getattr(self, "shape", None), out_int32)


def isin(
    elements: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False
) -> Answer:
    """Bool, of the shape of `elements`."""
    return getattr(elements, "shape", ()), dtypes.bool
