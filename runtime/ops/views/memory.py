"""Views that look at the storage itself: alias, as_strided, and the same bytes as another dtype."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.size import Size, make_size
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch.view_call import layout_only, within_storage

Geometry: TypeAlias = tuple[Size, tuple[int, ...], int]
TypedGeometry: TypeAlias = tuple[Size, tuple[int, ...], int, dtypes.dtype]


@layout_only
def alias(self: Tensor) -> Geometry:
    """The same elements in the same place."""
    return self._sizes, self._strides, self._offset


@within_storage
def as_strided(
    self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Geometry:
    """Any geometry within the storage; the tensor's own sizes do not matter.

    **Raises** RuntimeError if it would leave the storage, or for a negative stride or offset.
    """
    offset = self._offset if storage_offset is None else storage_offset
    sizes, strides, extent = _extent(tuple(size), tuple(stride))
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    buffer = self._storage.buffer
    if extent and buffer is not None:
        itemsize = self.dtype.itemsize
        if (offset + extent) * itemsize > buffer.nbytes:
            raise RuntimeError(
                f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, "
                f"and itemsize {itemsize} requiring a storage size of "
                f"{(offset + extent) * itemsize} are out of bounds for storage of size "
                f"{buffer.nbytes}"
            )
    return sizes, strides, offset


@lru_cache(maxsize=1024)
def _extent(size: tuple[int, ...], stride: tuple[int, ...]) -> tuple[Size, tuple[int, ...], int]:
    """Sizes, strides, and how many elements lie from the first to the last, both included."""
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    for step in stride:
        if step < 0:
            raise RuntimeError(
                "as_strided: Negative strides are not supported at the moment, "
                f"got strides: {list(stride)}"
            )
    return make_size(size), stride, shapes.extent_of(size, stride)


def view_dtype(self: Tensor, dtype: dtypes.dtype) -> TypedGeometry:
    """The same bytes read as `dtype`; the last dim grows or shrinks with the item size.

    **Raises** RuntimeError if the item sizes differ and the last dim is missing, is not
    contiguous, or does not divide.
    """
    own, new = self.dtype, dtypes.meant_by(dtype)
    if new is None:
        raise errors.dtype_expected(dtype)
    if own.itemsize == new.itemsize:
        return self._sizes, self._strides, self._offset, new
    sizes, strides, offset = list(self._sizes), list(self._strides), self._offset
    if not sizes:
        raise RuntimeError(f"self.dim() cannot be 0 to {_as(own, new)}")
    if own.itemsize > new.itemsize:
        _check_dense_last_dim(self, new)
        factor = own.itemsize // new.itemsize
        sizes[-1] *= factor
        strides = [stride * factor for stride in strides[:-1]] + [1]
        return make_size(sizes), tuple(strides), offset * factor, new
    factor = new.itemsize // own.itemsize
    _check_divisible(self, new, factor, {"size(-1)": sizes[-1], "storage_offset()": offset})
    _check_dense_last_dim(self, new)
    rows = {f"stride({dim})": stride for dim, stride in enumerate(strides[:-1])}
    _check_divisible(self, new, factor, rows)
    sizes[-1] //= factor
    strides = [stride // factor for stride in strides[:-1]] + [1]
    return make_size(sizes), tuple(strides), offset // factor, new


def _check_dense_last_dim(self: Tensor, new: dtypes.dtype) -> None:
    if self._strides[-1] != 1:
        raise RuntimeError(
            f"self.stride(-1) must be 1 to {_as(self.dtype, new)}, but got {self._strides[-1]}"
        )


def _check_divisible(self: Tensor, new: dtypes.dtype, factor: int, named: dict[str, int]) -> None:
    for name, value in named.items():
        if value % factor:
            raise RuntimeError(
                f"self.{name} must be divisible by {factor} to {_as(self.dtype, new)}, "
                f"but got {value}"
            )


def _as(own: dtypes.dtype, new: dtypes.dtype) -> str:
    names = f"{errors.scalar_type_name(own)} as {errors.scalar_type_name(new)}"
    return f"view {names} (different element sizes)"


def view_as_real(self: Tensor) -> TypedGeometry:
    """The real and imaginary parts of complex elements as a last dim of size 2."""
    if not self.dtype.is_complex:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    sizes, strides = _with_parts(self._sizes, self._strides)
    return sizes, strides, self._offset * 2, self.dtype.to_real()


@lru_cache(maxsize=1024)
def _with_parts(sizes: Size, strides: tuple[int, ...]) -> tuple[Size, tuple[int, ...]]:
    """The geometry of both parts of complex elements."""
    return make_size([*sizes, 2]), (*[stride * 2 for stride in strides], 1)


def view_as_complex(self: Tensor) -> TypedGeometry:
    """Pairs along the last dim as complex elements.

    **Raises** RuntimeError unless the last dim has size 2 and stride 1 and all else is even.
    """
    own, sizes, strides = self.dtype, self._sizes, self._strides
    if not dtypes.is_part(own):
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, "
            f"but got a tensor of scalar type: {errors.scalar_type_name(own)}"
        )
    halved = _without_parts(sizes, strides)
    if self._offset % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return *halved, self._offset // 2, own.to_complex()


@lru_cache(maxsize=1024)
def _without_parts(sizes: Size, strides: tuple[int, ...]) -> tuple[Size, tuple[int, ...]]:
    """The geometry of complex elements of which both parts are given."""
    if not sizes:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if sizes[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if strides[-1] != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(stride % 2 and size > 1 for size, stride in zip(sizes, strides[:-1], strict=False)):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    return make_size(list(sizes)[:-1]), tuple([stride // 2 for stride in strides[:-1]])
