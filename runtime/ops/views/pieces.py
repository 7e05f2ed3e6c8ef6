"""Views that cut a tensor into several along one dim: split, chunk, unbind and kin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from torchgen_out._runtime import errors
from torchgen_out._runtime.core.shape import normalize_dim
from torchgen_out._runtime.core.size import Size, make_size
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch.view_call import layout_only

Geometry: TypeAlias = tuple[Size, tuple[int, ...], int]


def _consecutive(self: Tensor, dim: int, lengths: Sequence[int]) -> list[Geometry]:
    """Pieces of these lengths, one after the other along `dim`."""
    sizes, strides, offset = list(self._sizes), self._strides, self._offset
    stride = strides[dim]
    pieces = []
    for length in map(int, lengths):
        sizes[dim] = length
        pieces.append((make_size(sizes), strides, offset))
        offset += length * stride
    return pieces


def _check_has_dims(self: Tensor) -> None:
    if not self._sizes:
        raise RuntimeError("split expects at least a 1-dimensional tensor")


@layout_only
def split(self: Tensor, split_size: int, dim: int = 0) -> list[Geometry]:
    """Pieces of `split_size`; the last one may be shorter."""
    _check_has_dims(self)
    if split_size < 0:
        raise RuntimeError(
            f"split expects split_size be non-negative, but got split_size={split_size}"
        )
    dim = normalize_dim(dim, len(self._sizes))
    size = self._sizes[dim]
    if not split_size:
        if size:
            raise RuntimeError(
                f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
            )
        return _consecutive(self, dim, [0])
    whole, rest = divmod(size, split_size)
    lengths = [split_size] * whole
    if rest or not whole:
        lengths.append(rest)
    return _consecutive(self, dim, lengths)


@layout_only
def split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> list[Geometry]:
    """Pieces of the given sizes, which must add up to the dim's size."""
    _check_has_dims(self)
    size = self._sizes[normalize_dim(dim, len(self._sizes))]
    if any(length < 0 for length in split_sizes):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, "
            f"but got split_sizes={list(split_sizes)}"
        )
    if sum(split_sizes) != size:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size "
            f"at dimension {dim}), but got split_sizes={list(split_sizes)}"
        )
    return _consecutive(self, dim, split_sizes)


@layout_only
def chunk(self: Tensor, chunks: int, dim: int = 0) -> list[Geometry]:
    """At most `chunks` pieces of equal size; the last one may be shorter."""
    if not self._sizes:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    dim = normalize_dim(dim, len(self._sizes))
    size = self._sizes[dim]
    if not size:
        return _consecutive(self, dim, [0] * chunks)
    return split(self, (size + chunks - 1) // chunks, dim)


@layout_only
def unbind(self: Tensor, dim: int = 0) -> list[Geometry]:
    """One piece for every index of `dim`, without that dim."""
    dim = normalize_dim(dim, len(self._sizes))
    if not self._sizes:
        raise errors.dim_of_scalar(dim)
    sizes, strides = list(self._sizes), list(self._strides)
    count, stride = sizes.pop(dim), strides.pop(dim)
    kept_sizes, kept_strides, offset = make_size(sizes), tuple(strides), self._offset
    return [(kept_sizes, kept_strides, offset + index * stride) for index in range(count)]
