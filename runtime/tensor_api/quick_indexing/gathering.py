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

SEVERAL_SMALL = 4096
"""Elements of a mask, or of several indices together, up to which NumPy costs less than the
operator."""

LARGEST = 32768
"""Elements of a result from which on the operator's threads are worth its call."""

_ALL = slice(None)
_INT = frozenset((int,))
_new_tuple, _at = tuple.__new__, tuple.__getitem__
_INT64, _INT32, _MASK = dtypes.int64.index, dtypes.int32.index, dtypes.bool.index


def make_taker(key: int) -> Way | None:
    """The way of `tensor[tensor]`; it answers None if the index is large, wrong or a rare one."""
    if not is_on_cpu(key) or key & keys.ZERO_DIM:
        return None
    bare = key & ~keys.GRAD

    def take(self: Tensor, index: Tensor) -> Tensor | None:
        if index._key == _MASK and len(index._sizes) > 1:
            return _read_marked(self, index, bare)
        return _read(self, 0, index, bare)

    if key == bare:
        return take
    recorded = _make_recorded_take(lambda self, indices: take(self, indices[0]))
    return lambda self, index: recorded(self, [index])


def _read_marked(self: Tensor, mask: Tensor, bare: int) -> Tensor | None:
    """The elements of a dense tensor under a small mask of several dims."""
    own, marks = self._dense(), mask._array()
    if own is None or marks.size > SEVERAL_SMALL:
        return None
    try:
        found = own.reshape(self._sizes)[marks]
    except IndexError:  # the operator says what is wrong
        return None
    sizes = _new_tuple(Size, found.shape)
    return build(bare, sizes, contiguous_strides(sizes), 0, None, found.reshape(-1))


def _long(index: Tensor) -> Tensor:
    """An index of int32 as one of int64."""
    if index._key != _INT32:
        return index
    flat = index._array().reshape(-1).astype(np.int64)
    layout = dense_layout(index._sizes)
    return build(_INT64, layout.sizes, layout.strides, 0, None, flat)


def _marked(mask: Tensor, size: int) -> Tensor | None:
    """A mask of one dim as the numbers of its places; None if it is long, or of other sizes."""
    if mask._sizes != (size,) or size > SEVERAL_SMALL:
        return None
    return _numbers(mask._array().nonzero()[0])


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


def _read(self: Tensor, dim: int, index: Tensor, bare: int) -> Tensor | None:
    """The slices along `dim` at an index or a mask of one dim. Those of a tensor whose dims lie
    in another order lie in that order, too (channels-last)."""
    sizes = self._sizes
    if 0 in sizes:  # the operator looks at each index
        return None
    if index._key != _INT64:
        long = _marked(index, _at(sizes, dim)) if index._key == _MASK else _long(index)
        if long is None or long._key != _INT64:
            return None
        index = long
    kept, vector = index._sizes, index
    if len(kept) != 1:
        places = index._array()
        if _has_own_order(places):
            return None
        vector = _numbers(places.reshape(-1))
    read: Way = calls._read_slices[bare, _INT64]
    laid = None if self._flat is not None else _laid(sizes, self._strides, dim)
    is_in_order = laid is None or laid.is_in_order
    if is_in_order and vector is index:
        return read(self, dim, index)  # type: ignore[no-any-return]
    made = _new_tuple(Size, (*sizes[:dim], *kept, *sizes[dim + 1 :]))
    if laid is None or is_in_order:
        return build(bare, made, contiguous_strides(made), 0, None, read(self, dim, vector)._flat)
    if vector is not index:
        return None
    seen = view_of(self, bare, laid.sizes, laid.strides, self._offset)
    steps = contiguous_strides([_at(made, each) for each in laid.order])
    strides = tuple([step for _, step in sorted(zip(laid.order, steps, strict=True))])
    return build(bare, made, strides, 0, Storage(read(seen, laid.dim, index)._flat))


class _Laid(NamedTuple):
    """A tensor in the order in which its dims, and those of what is read of it, lie."""

    order: tuple[int, ...]
    dim: int
    """That which is indexed."""
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    is_in_order: bool


@lru_cache(maxsize=1024)
def _laid(sizes: tuple[int, ...], strides: tuple[int, ...], dim: int) -> _Laid:
    order = order_of_slices(sizes, strides, dim)
    own, steps = (tuple([each[at] for at in order]) for each in (sizes, strides))
    is_in_order = list(order) == sorted(order)
    return _Laid(order, order.index(dim), own, steps, is_in_order)


def make_several_taker(key: int) -> Way | None:
    """The way of `tensor[tensor, tensor ...]`, perhaps with slices among them, outside autograd;
    None as above."""
    if not is_on_cpu(key) or key & (keys.ZERO_DIM | keys.GRAD):
        return None
    return _make_take(key)


def _make_take(bare: int) -> Way:
    """What takes the elements that items say, outside autograd."""

    def take(self: Tensor, items: Sequence[Any]) -> Tensor | None:
        flat = self._dense()
        try:
            whole = self._array() if flat is None else flat.reshape(self._sizes)
            located = at_places(whole, items)
            if located is None or (flat is None and not _takes_elements(*located)):
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
        return None if index is None else _read(self, dim, index, bare)

    if key == bare:
        return take
    return _make_recorded_take(take)


def _has_own_order(array: Any) -> bool:
    """Whether dims of the result may not lie in order, as those of an index do not; expanded ones
    lie anywhere."""
    if array.__class__ is not np.ndarray or array.ndim < 2 or array.flags.c_contiguous:
        return False
    steps = [step for size, step in zip(array.shape, array.strides, strict=True) if size > 1 < step]
    return steps != sorted(steps, reverse=True)


several_takers = Ways(make_several_taker)
among_takers = Ways(make_among_taker)


def _takes_elements(array: Any, index: tuple[Any, ...]) -> bool:
    """Whether indices go along all dims: what they name lies in their order."""
    dims = 0
    for item in index:
        if item.__class__ is not np.ndarray:
            return False
        dims += item.ndim if item.dtype == np.bool_ else 1
    return dims == array.ndim  # type: ignore[no-any-return]


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
