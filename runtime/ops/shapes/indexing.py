"""Shapes and checks of operators that read at places given by index tensors."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes

Answer = tuple[tuple[int, ...], dtypes.dtype]

INDEX_DTYPES = (dtypes.int64, dtypes.int32)


def numel_at(shape: tuple[int, ...], dim: int) -> int:
    """The size at `dim`; a 0-d tensor counts as one element."""
    return shape[dim] if shape else 1


def gather(self: Any, dim: int, index: Any, sparse_grad: bool = False) -> Answer:
    """The shape of `index`, which is nowhere larger than self but along `dim`.

    Raises: IndexError for dim, RuntimeError for the dtype, ndim or sizes of `index`.
    """
    dim = shapes.normalize_dim(dim, self.ndim)
    if 0 in index.shape:
        return index.shape, self.dtype
    check_index_dtype("gather", index)
    if (self.ndim or 1) != (index.ndim or 1):
        raise errors.index_ndim_mismatch("input")
    for i, (count, size) in enumerate(zip(index.shape, self.shape, strict=False)):
        if i != dim and count > size:
            raise RuntimeError(
                f"Size does not match at dimension {i} expected index {list(index.shape)} to be "
                f"no larger than self {list(self.shape)} apart from dimension {dim}"
            )
    return index.shape, self.dtype


def check_index_dtype(name: str, index: Any) -> None:
    """Raise RuntimeError unless `index` holds int32 or int64; an empty one is not asked."""
    if index.dtype not in INDEX_DTYPES:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")


def index_select(self: Any, dim: int, index: Any) -> Answer:
    """The size at `dim` becomes the number of indices; a scalar stays one.

    Raises: IndexError for dim or an index that is no vector, RuntimeError for its dtype.
    """
    dim = shapes.normalize_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in INDEX_DTYPES:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    count = numel_at(index.shape, 0)
    if self.ndim:
        return (*self.shape[:dim], count, *self.shape[dim + 1 :]), self.dtype
    if count != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {count} value(s)"
        )
    return (), self.dtype


def take(self: Any, index: Any) -> Answer:
    """The shape of `index`.

    Raises: RuntimeError unless `index` holds int64, IndexError if self is empty.
    """
    if index.dtype is not dtypes.int64:
        raise errors.long_index_expected("take", index.dtype)
    if 0 in self.shape and 0 not in index.shape:
        raise IndexError("take(): tried to take from an empty tensor")
    return index.shape, self.dtype


def read_slices(self: Any, dim: int, index: Any) -> Answer:
    """The shape of self with another size of `dim`. What calls it has looked at the arguments."""
    return (*self.shape[:dim], *index.shape, *self.shape[dim + 1 :]), self.dtype
