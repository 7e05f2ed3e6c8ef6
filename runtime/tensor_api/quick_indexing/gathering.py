"""Small takes: `tensor[tensor]`, `tensor[mask]`, `tensor[tensor, list, mask, int ...]` by NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.dense import dense_layout
from torchgen_out._runtime.core.shape import contiguous_strides, order_of_slices
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch import calls
from torchgen_out._runtime.dispatch.operator import TensorCall
from torchgen_out._runtime.tensor_api.quick_indexing.fast_paths import (
    Way,
    Ways,
    is_on_cpu,
    make_recorded,
    view_of,
)

SMALL = 16384
"""Elements of an index tensor up to which NumPy's take costs less than the operator."""

SEVERAL_SMALL = 4096
"""The same for a mask, and for several that the operator has to combine."""

FEW, WIDEST = 512, 2**20
"""With more than so many indices, so large a result is left to the operator's threads."""

LARGEST = 32768
"""Elements of a result from which on the operator's threads are worth its call."""

LARGEST_COPIED = 4096
"""Elements of a tensor with gaps or turned dims up to which NumPy, which copies it, is quicker."""

_ALL = slice(None)
_INT = frozenset((int,))
_new_tuple, _at = tuple.__new__, tuple.__getitem__
_TAIL = slice(1, None)
_INT64, _INT32, _MASK = dtypes.int64.index, dtypes.int32.index, dtypes.bool.index
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
        index = _long(index)
        limit = _TAKEN_BY.get(index._key)
        if limit is None:
            return None
        if self._dense() is None:
            is_vector = index._key == _INT64 and len(index._sizes) == 1
            return _read_in_order(self, 0, index, bare) if is_vector else None
        places, own = index._array(), self._array()
        if places.size > limit or _has_own_order(places):
            return None
        if places.size > FEW and places.size * own.size > WIDEST * own.shape[0]:
            return None
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


def _long(index: Tensor) -> Tensor:
    """An index of int32 as one of int64."""
    if index._key != _INT32:
        return index
    flat = index._array().reshape(-1).astype(np.int64)
    layout = dense_layout(index._sizes)
    return build(_INT64, layout.sizes, layout.strides, 0, None, flat)


def _marked(mask: Tensor, size: int) -> Tensor | None:
    """A mask of one dim as the numbers of its places; None if it is long, or of another size."""
    marks = mask._array()
    return None if marks.size != size or size > SEVERAL_SMALL else _numbers(marks.nonzero()[0])


def _numbers(flat: Any) -> Tensor:
    """A vector of int64 as an index tensor."""
    place = dense_layout(flat.shape)
    return build(_INT64, place.sizes, place.strides, 0, None, flat)


def listed(numbers: list[Any]) -> Tensor | None:
    """Python's numbers as an index tensor; None if there are others in the list, or one that does
    not fit."""
    flat = _array_of(numbers)
    return None if flat is None else _numbers(flat)


def _array_of(numbers: list[Any]) -> Any:
    if not _INT.issuperset(map(type, numbers)):
        return None
    try:
        return np.array(numbers, np.int64)
    except OverflowError:
        return None


def _read_in_order(self: Tensor, dim: int, index: Tensor, bare: int) -> Tensor | None:
    """Slices of a tensor with gaps or turned dims, whose dims lie in its order (channels-last)."""
    sizes, count = self._sizes, _at(index._sizes, 0)
    laid = _laid(sizes, self._strides, dim)
    if laid.numel > LARGEST_COPIED:
        read = calls._read_slices[bare, _INT64]
        if laid.is_in_order:
            return read(self, dim, index)  # type: ignore[no-any-return]
        seen = view_of(self, bare, laid.sizes, laid.strides, self._offset)
        flat = read(seen, laid.dim, index)._flat
    else:
        try:
            flat = self._array().transpose(laid.order).take(index._array(), laid.dim).reshape(-1)
        except IndexError:
            return None
    made = _new_tuple(Size, (*sizes[:dim], count, *sizes[dim + 1 :]))
    if laid.is_in_order:
        return build(bare, made, contiguous_strides(made), 0, None, flat)
    steps = contiguous_strides([_at(made, each) for each in laid.order])
    strides = tuple([step for _, step in sorted(zip(laid.order, steps, strict=True))])
    return build(bare, made, strides, 0, Storage(flat))


class _Laid(NamedTuple):
    """A tensor in the order in which its dims, and those of what is read of it, lie."""

    order: tuple[int, ...]
    dim: int
    """That which is indexed."""
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    numel: int
    is_in_order: bool


@lru_cache(maxsize=1024)
def _laid(sizes: tuple[int, ...], strides: tuple[int, ...], dim: int) -> _Laid:
    order = order_of_slices(sizes, strides, dim)
    own, steps = (tuple([each[at] for at in order]) for each in (sizes, strides))
    is_in_order = list(order) == sorted(order)
    return _Laid(order, order.index(dim), own, steps, prod(sizes), is_in_order)


def make_several_taker(key: int) -> Way | None:
    """The way of `tensor[tensor, tensor ...]`, perhaps with slices among them; None as above."""
    if not is_on_cpu(key) or key & keys.ZERO_DIM:
        return None
    take = _make_take(key & ~keys.GRAD)
    if not key & keys.GRAD:
        return take
    recorded = _make_recorded_take(take)

    def take_recorded(self: Tensor, items: Sequence[Any]) -> Tensor | None:
        if any(each.__class__ is not Tensor for each in items):  # views are recorded before
            return None
        return recorded(self, list(items))  # type: ignore[no-any-return]

    return take_recorded


def _make_take(bare: int) -> Way:
    """What takes the elements that items say, outside autograd."""

    def take(self: Tensor, items: Sequence[Any]) -> Tensor | None:
        flat = self._dense()
        if flat is None:
            return None
        try:
            located = at_places(flat.reshape(self._sizes), items)
            if located is None:
                return None
            array, index = located
            if any(map(_has_own_order, index)) or (array.size > LARGEST and _is_wide(*located)):
                return None
            found = np.ascontiguousarray(array[index])
        except IndexError:
            return None
        layout = dense_layout(found.shape)
        return build(bare, layout.sizes, layout.strides, 0, None, found.reshape(-1))

    return take


def make_among_taker(key: int) -> Way | None:
    """The way of index tensors among slices, `tensor[:, index]`; None as above.

    It is given the tensor after the slices, and the list for the operator `index`.
    """
    if not is_on_cpu(key) or key & keys.ZERO_DIM:
        return None
    bare = key & ~keys.GRAD
    take_several = _make_take(bare)

    def take(self: Tensor, indices: Sequence[Tensor | None]) -> Tensor | None:
        index, dim = indices[-1], len(indices) - 1
        if any(each is not None for each in indices[:-1]):
            return take_several(self, [_ALL if each is None else each for each in indices])  # type: ignore[no-any-return]
        if index is None or len(index._sizes) != 1:
            return None
        index = _marked(index, _at(self._sizes, dim)) if index._key == _MASK else _long(index)
        if index is None or index._key != _INT64:
            return None
        if self._dense() is None:
            return _read_in_order(self, dim, index, bare)
        places, own = index._array(), self._array()
        if places.size > SEVERAL_SMALL or places.size * own.size > LARGEST * own.shape[dim]:
            return None
        try:
            found = own.take(places, dim)
        except IndexError:
            return None
        sizes = _new_tuple(Size, found.shape)
        return build(bare, sizes, contiguous_strides(sizes), 0, None, found.reshape(-1))

    if key == bare:
        return take
    return _make_recorded_take(take)


def _has_own_order(array: Any) -> bool:
    """Whether dims of the result may not lie in order, as those of an index do not."""
    return array.__class__ is np.ndarray and array.ndim > 1 and not array.flags.c_contiguous


several_takers = Ways(make_several_taker)
among_takers = Ways(make_among_taker)


def _is_wide(array: Any, index: tuple[Any, ...]) -> bool:
    """Whether so much is read of a large array that the operator's threads are worth its call."""
    wide, count, dim = array.size, 0, 0
    for item in index:
        if item is ...:
            return True
        if item.__class__ is np.ndarray:
            taken = item.ndim if item.dtype == np.bool_ else 1
            wide //= prod(array.shape[dim : dim + taken]) or 1
            count, dim = max(count, item.size), dim + taken
        elif item is not None:
            dim += 1
    return bool(count * wide > LARGEST)


def at_places(array: Any, items: Sequence[Any]) -> tuple[Any, tuple[Any, ...]] | None:
    """An array, and what NumPy indexes it with, for items with small index tensors, masks or lists.

    None if there are none of these, or others.

    Slices and None mean the same to NumPy, and so does `...` but between tensors. A number does
    not: it is an index tensor there, so the array is seen there before.

    Raises: IndexError if a number is outside.
    """
    index: list[Any] = []
    count = numbers = 0
    for item in items:
        cls = item.__class__
        if cls is Tensor:
            key = item._key
            if key != _INT64 and key != _MASK:
                return None
            places = item._flat
            if places is None or len(item._sizes) > 1:
                places = item._array()
        elif cls is list:
            places = _array_of(item)
            if places is None:
                return None
        elif cls is int:
            numbers += 1
            continue
        elif item is None or (cls is slice and item.step is None) or (item is ... and not count):
            index.append(item)
            continue
        else:
            return None
        if places.size > SEVERAL_SMALL:
            return None
        index.append(places)
        count += 1
    if not count:
        return None
    if numbers:
        array = array[tuple(_numbers_among(items))]
    return array, tuple(index)


def _numbers_among(items: Sequence[Any]) -> Iterator[Any]:
    """The numbers among items, where each other one leaves its dims as they are."""
    for item in items:
        if item.__class__ is int or item is ...:
            yield item
        elif item.__class__ is Tensor and item._key == _MASK:
            yield from [_ALL] * len(item._sizes)
        elif item is not None:
            yield _ALL


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
