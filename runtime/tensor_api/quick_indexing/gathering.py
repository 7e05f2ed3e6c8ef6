"""Small takes: `tensor[tensor]`, `tensor[mask]`, `tensor[tensor, tensor ...]` by NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.dense import dense_layout
from torchgen_out._runtime.core.shape import contiguous_strides
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch.operator import TensorCall
from torchgen_out._runtime.tensor_api.quick_indexing.fast_paths import (
    Way,
    Ways,
    is_on_cpu,
    make_recorded,
)

SMALL = 16384
"""Elements of an index tensor up to which NumPy's take costs less than the operator."""

SEVERAL_SMALL = 4096
"""The same for a mask, and for several that the operator has to combine."""

FEW, WIDEST = 512, 2**20
"""With more than so many indices, so large a result is left to the operator's threads."""

LARGEST = 32768
"""Elements of a result from which on the operator's threads are worth its call."""

_ALL = slice(None)
_new_tuple, _at = tuple.__new__, tuple.__getitem__
_TAIL = slice(1, None)
_INT64, _MASK = dtypes.int64.index, dtypes.bool.index
_TAKEN_BY = {_INT64: SMALL, _MASK: SEVERAL_SMALL}  # keys of CPU tensors with dims, outside autograd


def make_taker(key: int) -> Way | None:
    """The way of `tensor[tensor]`; it answers None if the index is large, wrong or a rare one."""
    if not is_on_cpu(key) or key & keys.ZERO_DIM:
        return None
    bare = key & ~keys.GRAD

    def take(self: Tensor, index: Tensor) -> Tensor | None:
        flat, vector = self._flat, index._flat
        if flat is None or index._key != _INT64 or vector is None or len(index._sizes) != 1:
            return take_any(self, index)
        count, sizes = vector.size, self._sizes
        if count > FEW and (count > SMALL or count * flat.size > WIDEST * _at(sizes, 0)):
            return None
        try:
            found = flat.reshape(sizes).take(vector, 0)
        except IndexError:  # the operator says what is wrong
            return None
        place = dense_layout((count, *_at(sizes, _TAIL)))
        return build(bare, place.sizes, place.strides, 0, None, found.reshape(-1))

    def take_any(self: Tensor, index: Tensor) -> Tensor | None:
        limit = _TAKEN_BY.get(index._key)
        if limit is None:
            return None
        places, own = index._array(), self._array()
        if places.size > limit or _has_own_order(places):
            return None
        if places.size > FEW and places.size * own.size > WIDEST * own.shape[0]:
            return None
        if _has_own_order(own):
            return _taken_in_order(own, places, bare) if index._key == _INT64 else None
        try:
            found = own.take(places, 0) if index._key == _INT64 else own[places]
        except IndexError:
            return None
        sizes = _new_tuple(Size, found.shape)
        return build(bare, sizes, contiguous_strides(sizes), 0, None, found.reshape(-1))

    if key == bare:
        return take
    recorded = _make_recorded_take(lambda self, indices: take(self, indices[0]))
    return lambda self, index: recorded(self, [index])


def _taken_in_order(own: Any, places: Any, bare: int) -> Tensor | None:
    """Several samples of a batch whose other dims lie in an order of their own (channels-last)."""
    order = sorted(range(own.ndim), key=own.strides.__getitem__, reverse=True)
    laid = own.transpose(order)
    if order[0] != 0 or not laid.flags.c_contiguous or 1 in own.shape:
        return None
    if places.ndim != 1 or places.size < 2:
        return None
    try:
        found = laid.take(places, 0)
    except IndexError:
        return None
    strides = dict(zip(order, contiguous_strides(found.shape), strict=True))
    sizes = _new_tuple(Size, (places.size, *own.shape[1:]))
    in_place = tuple([strides[dim] for dim in range(own.ndim)])
    return build(bare, sizes, in_place, 0, Storage(found.reshape(-1)))


def make_several_taker(key: int) -> Way | None:
    """The way of `tensor[tensor, tensor ...]`, from the first dim on; None as above."""
    if not is_on_cpu(key) or key & keys.ZERO_DIM:
        return None
    bare = key & ~keys.GRAD

    def take(self: Tensor, items: Sequence[Any]) -> Tensor | None:
        places = several_places(items)
        if places is None or len(places) > len(self._sizes):
            return None
        flat = self._flat
        own = self._array() if flat is None else flat.reshape(self._sizes)
        if flat is None and _has_own_order(own):
            return None
        for item in items:
            if item._flat is None and len(item._sizes) > 1:  # it lies in an order of its own
                return None
        try:
            found = own[places]
        except IndexError:
            return None
        layout = dense_layout(found.shape)
        return build(bare, layout.sizes, layout.strides, 0, None, found.reshape(-1))

    if key == bare:
        return take
    recorded = _make_recorded_take(take)
    return lambda self, items: recorded(self, list(items))


def make_single_taker(key: int) -> Way | None:
    """The way of one index tensor among slices, `tensor[:, index]`; None as above.

    It is given the tensor after the slices, and the list for the operator `index`.
    """
    if not is_on_cpu(key) or key & keys.ZERO_DIM:
        return None
    bare = key & ~keys.GRAD

    def take(self: Tensor, indices: Sequence[Tensor | None]) -> Tensor | None:
        index, dim = indices[-1], len(indices) - 1
        if index is None or index._key != _INT64 or len(index._sizes) != 1:
            return None
        if any(each is not None for each in indices[:-1]) or not _lies_in_order(self, dim):
            return None
        places, own = index._array(), self._array()
        if places.size > SEVERAL_SMALL or places.size * own.size > LARGEST * own.shape[dim]:
            return None
        try:
            if own.flags.c_contiguous or 8 * places.size >= own.shape[dim]:
                found = own.take(places, dim)
            else:  # a take would copy all of it
                found = np.ascontiguousarray(own[(*[_ALL] * dim, places)])
        except IndexError:
            return None
        sizes = _new_tuple(Size, found.shape)
        return build(bare, sizes, contiguous_strides(sizes), 0, None, found.reshape(-1))

    if key == bare:
        return take
    return _make_recorded_take(take)


def _lies_in_order(self: Tensor, indexed: int) -> bool:
    """Whether no dim but the indexed one lies within one behind it, nor in one place."""
    before = None
    for dim, stride in enumerate(self._strides):
        if dim != indexed and _at(self._sizes, dim) > 1:
            if not stride or (before is not None and stride > before):
                return False
            before = stride
    return True


def _has_own_order(array: Any) -> bool:
    """Whether dims of the result may not lie in order, as those of the array do not."""
    return array.ndim > 1 and not array.flags.c_contiguous


several_takers = Ways(make_several_taker)
single_takers = Ways(make_single_taker)


def several_places(items: Sequence[Any]) -> tuple[Any, ...] | None:
    """Small index tensors as arrays; None if one is none, or not small."""
    places = []
    for item in items:
        if item.__class__ is not Tensor or item._key != _INT64:
            return None
        array = item._flat
        if array is None or len(item._sizes) > 1:
            array = item._array()
        if array.size > SEVERAL_SMALL:
            return None
        places.append(array)
    return tuple(places)


def _make_recorded_take(take: Callable[[Tensor, Any], Tensor | None]) -> Way:
    """The operator `index` recorded around a way; None where that answers None."""

    def take_or_refuse(self: Tensor, indices: list[Tensor]) -> Tensor:
        found = take(self, indices)
        if found is None:
            raise LookupError
        return found

    recorded: TensorCall = make_recorded("index.Tensor", take_or_refuse)

    def call(self: Tensor, indices: list[Any]) -> Tensor | None:
        try:
            return recorded(self, indices)
        except LookupError:
            return None

    return call
