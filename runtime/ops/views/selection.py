"""Views of a part of the elements along one or two dims: select, slice, unfold, diagonal."""

from __future__ import annotations

from typing import TypeAlias

from torchgen_out._runtime import errors
from torchgen_out._runtime.core.shape import normalize_dim
from torchgen_out._runtime.core.size import Size, make_size
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch.view_call import layout_only

Geometry: TypeAlias = tuple[Size, tuple[int, ...], int]


@layout_only
def select(self: Tensor, dim: int, index: int) -> Geometry:
    """Fix one dim at `index` and drop it. **Raises** IndexError if either is out of range."""
    sizes, strides = list(self._sizes), list(self._strides)
    ndim = len(sizes)
    if not -ndim <= dim < ndim:
        if not ndim:
            raise IndexError("select() cannot be applied to a 0-dim tensor.")
        raise errors.dim_out_of_range(dim, ndim)
    size, stride = sizes.pop(dim), strides.pop(dim)
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self._sizes)} "
            f"at dimension {dim % ndim}"
        )
    if index < 0:
        index += size
    return make_size(sizes), tuple(strides), self._offset + index * stride


@layout_only
def slice(
    self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Geometry:
    """Take every `step`-th element from `start` up to `end`, both clamped to the dim.

    **Raises** RuntimeError if step is not positive, IndexError if dim is out of range.
    """
    sizes, strides = list(self._sizes), list(self._strides)
    ndim = len(sizes)
    if not -ndim <= dim < ndim:
        if not ndim:
            raise errors.slice_of_zero_dim()
        raise errors.dim_out_of_range(dim, ndim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    size, stride = sizes[dim], strides[dim]
    first = _clamp(0 if start is None else start, size)
    length = _clamp(size if end is None else end, size) - first
    sizes[dim] = (length + step - 1) // step if length > 0 else 0
    strides[dim] = stride * step
    return make_size(sizes), tuple(strides), self._offset + first * stride


def _clamp(position: int, size: int) -> int:
    """A position from the front or (negative) from the end, brought into [0, size]."""
    if position < 0:
        position += size
        return position if position > 0 else 0
    return position if position < size else size


@layout_only
def narrow(self: Tensor, dim: int, start: int, length: int) -> Geometry:
    """Take `length` elements from `start`; nothing is clamped.

    **Raises** IndexError if dim or start is out of range, RuntimeError if the end is, or for a
    negative length.
    """
    sizes = list(self._sizes)
    ndim = len(sizes)
    if not ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -ndim <= dim < ndim:
        raise errors.dim_out_of_range(dim, ndim)
    size, stride = sizes[dim], self._strides[dim]
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    if start < 0:
        start += size
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    sizes[dim] = length
    return make_size(sizes), self._strides, self._offset + start * stride


@layout_only
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Geometry:
    """Windows of `size` elements, every `step` of them, along a dim; the window is the last dim.

    **Raises** RuntimeError if size exceeds the dim or is negative, or if step is not positive.
    """
    sizes, strides = list(self._sizes), list(self._strides)
    dim = normalize_dim(dimension, len(sizes))
    extent = sizes[dim] if sizes else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > extent:
        raise RuntimeError(
            f"maximum size for tensor at dimension {dim} is {extent} but size is {size}"
        )
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    window_stride = strides[dim] if strides else 1
    if sizes:
        sizes[dim] = (extent - size) // step + 1
        strides[dim] *= step
    return make_size([*sizes, size]), (*strides, window_stride), self._offset


@layout_only
def diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Geometry:
    """The elements whose index in `dim2` is `offset` more than in `dim1`; they are the last dim.

    **Raises** IndexError if a dim is out of range, RuntimeError if both dims are the same.
    """
    sizes, strides = list(self._sizes), list(self._strides)
    ndim = len(sizes)
    first, second = normalize_dim(dim1, ndim), normalize_dim(dim2, ndim)
    if first == second:
        raise errors.diagonal_of_one_dim(dim1, dim2)
    rows, columns, start = sizes[first], sizes[second], self._offset
    row_stride, column_stride = strides[first], strides[second]
    length = min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns)
    if length <= 0:
        length = 0
    elif offset >= 0:
        start += offset * column_stride
    else:
        start -= offset * row_stride
    last, other = (first, second) if first > second else (second, first)
    del sizes[last], sizes[other], strides[last], strides[other]
    return make_size([*sizes, length]), (*strides, row_stride + column_stride), start
