"""Composites that cut tensors: into slices, at positions in a tensor, NumPy's h, v and d forms.

A slice is a view of its own and may be written to while recording, which the pieces of `split`,
views of one call, may not. Of tensors that need no gradient these are alike, and one call is
quicker.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import le, sub
from typing import Any, TypeAlias

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.shape import normalize_dim
from torchgen_out._runtime.dispatch import calls

Bounds: TypeAlias = tuple[tuple[int, int], ...]
"""Where pieces start and end."""

_APART = keys.GRAD | keys.LAYOUT_MASK << keys.LAYOUT_SHIFT
"""Bits of tensors that are cut into slices one by one."""


def narrow_at(self: Any, dim: int, start: Any, length: int) -> Any:
    """`narrow` from the position that an integer tensor without dims holds."""
    if start._sizes or start.dtype.kind != "i":
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    return self.narrow(dim, int(start.item()), length)


def tensor_split_sections(self: Any, sections: int, dim: int = 0) -> Any:
    """Exactly `sections` pieces; the first ones are longer by one if it does not divide."""
    dim = _splittable_dim(self, dim)
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    return _cut(self, _lengths_of_sections(self._sizes[dim], sections), dim)


@lru_cache(maxsize=1024)
def _lengths_of_sections(size: int, sections: int) -> tuple[int, ...]:
    length, longer = divmod(size, sections)
    return (length + 1,) * longer + (length,) * (sections - longer)


def tensor_split_indices(self: Any, indices: Sequence[int], dim: int = 0) -> Any:
    """Pieces that end where `indices` say, each bound read as in a slice."""
    dim = _splittable_dim(self, dim)
    ends = (*indices, self._sizes[dim])
    if all(map(le, (0, *indices), ends)):
        return _cut(self, tuple(map(sub, ends, (0, *indices))), dim)
    return _sliced(self, itertools.pairwise((0, *ends)), dim)


def _splittable_dim(self: Any, dim: int) -> int:
    if not self._sizes:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    return normalize_dim(dim, len(self._sizes))


def _cut(self: Any, lengths: tuple[int, ...], dim: int) -> Any:
    """Slices of these lengths, one after the other."""
    if self._key & _APART:
        return _sliced(self, _bounds_of(lengths), dim)
    return calls.split_with_sizes[self._key](self, lengths, dim)


@lru_cache(maxsize=1024)
def _bounds_of(lengths: tuple[int, ...]) -> Bounds:
    ends = itertools.accumulate(lengths)
    return tuple([(end - length, end) for length, end in zip(lengths, ends, strict=True)])


def _sliced(self: Any, bounds: Iterable[tuple[int, int]], dim: int) -> Any:
    call = calls.slice_Tensor[self._key]
    return tuple([call(self, dim, start, end, 1) for start, end in bounds])


def unsafe_split(self: Any, split_size: int, dim: int = 0) -> Any:
    """`split` into slices."""
    return _cut_alike(calls.split_Tensor, self, split_size, dim)


def unsafe_split_with_sizes(self: Any, split_sizes: Sequence[int], dim: int = 0) -> Any:
    """`split_with_sizes` into slices."""
    return _cut_alike(calls.split_with_sizes, self, split_sizes, dim)


def unsafe_chunk(self: Any, chunks: int, dim: int = 0) -> Any:
    """`chunk` into slices."""
    return _cut_alike(calls.chunk, self, chunks, dim)


def _cut_alike(call: Any, self: Any, how: Any, dim: int) -> Any:
    """Slices as a view call cuts."""
    if not self._key & _APART:
        return call[self._key](self, how, dim)
    whole = self.detach()
    pieces = call[whole._key](whole, how, dim)
    return _cut(self, tuple([piece.size(dim) for piece in pieces]), dim)


def tensor_split_at(self: Any, tensor_indices_or_sections: Any, dim: int = 0) -> Any:
    """`tensor_split` with the number of sections or the indices in an int64 tensor."""
    given = tensor_indices_or_sections
    if len(given._sizes) > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
            f"one-dimensional tensor, but got a tensor with {len(given._sizes)} dims"
        )
    if given.dtype is not dtypes.int64:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, "
            f"but got {errors.scalar_type_name(given.dtype)}"
        )
    how = given.tolist()
    return (tensor_split_indices if given._sizes else tensor_split_sections)(self, how, dim)


def hsplit(self: Any, indices_or_sections: int | Sequence[int]) -> Any:
    """Cut along dim 1 (dim 0 of a vector) into equal sections or at indices."""
    _check_ndim("hsplit", self, 1)
    return _split("hsplit", self, indices_or_sections, 0 if len(self._sizes) == 1 else 1)


def vsplit(self: Any, indices_or_sections: int | Sequence[int]) -> Any:
    """Cut along dim 0 into equal sections or at indices."""
    _check_ndim("vsplit", self, 2)
    return _split("vsplit", self, indices_or_sections, 0)


def dsplit(self: Any, indices_or_sections: int | Sequence[int]) -> Any:
    """Cut along dim 2 into equal sections or at indices."""
    _check_ndim("dsplit", self, 3)
    return _split("dsplit", self, indices_or_sections, 2)


def _check_ndim(name: str, self: Any, least: int) -> None:
    if len(self._sizes) < least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {least} dimension, "
            f"but got a tensor with {len(self._sizes)} dimensions!"
        )


def _split(name: str, self: Any, indices_or_sections: int | Sequence[int], dim: int) -> Any:
    if isinstance(indices_or_sections, int):
        sections, size = indices_or_sections, self.size(dim)
        if sections == 0 or size % sections:
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {dim}, but the size of the "
                f"dimension {size} is not divisible by the split_size {sections}!"
            )
        return tensor_split_sections(self, sections, dim)
    return tensor_split_indices(self, indices_or_sections, dim)
