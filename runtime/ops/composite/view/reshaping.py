"""Composites that return a view where the strides allow it and a copy where they do not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

from torchgen_out._runtime.core import batched
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import memory_format as formats
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.dense import dense_layout
from torchgen_out._runtime.core.size import Size, make_size
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch import calls

CONTIGUOUS = formats.contiguous_format

_is_contiguous = lru_cache(maxsize=1024)(shapes.is_contiguous)


def reshape(self: Any, shape: Sequence[int]) -> Any:
    """The elements, in their order, as `shape`: a view if the strides allow it, else a copy."""
    if self._flat is not None:
        return calls.view[self._key](self, shape)
    sizes, is_view = _reshaped(self._sizes, self._strides, tuple(shape))
    source = self if is_view else calls.clone[self._key](self, CONTIGUOUS)
    return calls.view[self._key](source, sizes)


@lru_cache(maxsize=1024)
def _reshaped(
    sizes: Size, strides: tuple[int, ...], shape: tuple[int, ...]
) -> tuple[tuple[int, ...], bool]:
    """The new sizes, and whether the strides can express them."""
    new_sizes = shapes.infer_size(shape, shapes.numel(sizes))
    return new_sizes, shapes.view_strides(sizes, strides, new_sizes) is not None


_NOT_PLAIN = keys.GRAD | keys.OVERRIDES | keys.NOT_HERE


def own_view(made: Any, shape: Sequence[int]) -> Any:
    """`view` of a new tensor that nobody else has: unrecorded, it is given the sizes itself."""
    if made._flat is None or made._key & _NOT_PLAIN:
        return calls.view[made._key](made, shape)
    place = dense_layout(shape)
    made._key = made._key & ~keys.ZERO_DIM | place.zero_dim
    made._sizes = place.sizes
    made._strides = place.strides
    return made


def unseen_view(self: Any, shape: Sequence[int]) -> Any:
    """`view` of a dense tensor that is read by the next call and by nobody else."""
    if self._flat is None or self._key & _NOT_PLAIN:
        return calls.view[self._key](self, shape)
    place = dense_layout(shape)
    key = self._key & ~keys.ZERO_DIM | place.zero_dim
    return build(key, place.sizes, place.strides, 0, None, self._flat)


def reshape_as(self: Any, other: Tensor) -> Any:
    """Reshape to the sizes of `other`."""
    return reshape(self, other._sizes)


def flatten(self: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Merge the dims from start_dim to end_dim into one.

    **Raises** IndexError if a dim is out of range, RuntimeError if they are in the wrong order.
    """
    sizes = _flattened(self._sizes, start_dim, end_dim)
    return self if sizes is None else reshape(self, sizes)


@lru_cache(maxsize=1024)
def _flattened(sizes: Size, start_dim: int, end_dim: int) -> Size | None:
    """The sizes after flattening, None if they stay as they are."""
    ndim = len(sizes)
    start, end = shapes.normalize_dim(start_dim, ndim), shapes.normalize_dim(end_dim, ndim)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not ndim:
        return make_size((1,))
    if start == end:
        return None
    return make_size((*sizes[:start], prod(sizes[start : end + 1]), *sizes[end + 1 :]))


def in_format_of(input: Tensor, result: Tensor) -> Tensor:
    """The result, channels-last if the input is and both have as many dims; samples of a batch
    lie as they come."""
    if len(result._sizes) != len(input._sizes) or batched.is_batched(result):
        return result
    if not shapes.is_channels_last(input._sizes, input._strides):
        return result
    if shapes.is_channels_last(result._sizes, result._strides):
        return result
    laid_out: Tensor = result.clone(memory_format=formats.OF_RANK[len(input._sizes)])
    return laid_out


def contiguous(self: Any, memory_format: Any = None) -> Any:
    """The tensor itself if its elements lie in `memory_format`'s order, else a copy that does."""
    if memory_format is CONTIGUOUS or memory_format is None:
        if self._flat is not None or _is_contiguous(self._sizes, self._strides):
            return self
        return calls.clone[self._key](self, CONTIGUOUS)
    if self.is_contiguous(memory_format=memory_format):
        return self
    return self.clone(memory_format=memory_format)


def ravel(self: Any) -> Any:
    """The elements as a contiguous vector: a view if they lie so, else a copy."""
    source = contiguous(self)
    return calls.view[source._key](source, (-1,))


def atleast_1d(self: Any) -> Any:
    """A scalar as a vector of one element; other tensors as they are."""
    return self if self._sizes else self.reshape((1,))


def atleast_2d(self: Any) -> Any:
    """A vector as a matrix of one row; tensors with two dims or more as they are."""
    ndim = len(self._sizes)
    if ndim == 0:
        return self.reshape((1, 1))
    return self.unsqueeze(0) if ndim == 1 else self


def atleast_3d(self: Any) -> Any:
    """A vector (n) as (1, n, 1) and a matrix (m, n) as (m, n, 1); larger tensors as they are."""
    ndim = len(self._sizes)
    if ndim == 0:
        return self.reshape((1, 1, 1))
    if ndim == 1:
        return self.unsqueeze(0).unsqueeze(-1)
    return self.unsqueeze(-1) if ndim == 2 else self


def atleast_1d_all(tensors: Sequence[Any]) -> list[Any]:
    """`atleast_1d` of every tensor."""
    return [atleast_1d(tensor) for tensor in tensors]


def atleast_2d_all(tensors: Sequence[Any]) -> list[Any]:
    """`atleast_2d` of every tensor."""
    return [atleast_2d(tensor) for tensor in tensors]


def atleast_3d_all(tensors: Sequence[Any]) -> list[Any]:
    """`atleast_3d` of every tensor."""
    return [atleast_3d(tensor) for tensor in tensors]
