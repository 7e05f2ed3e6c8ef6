"""Common indexing in one step: views by ints, slices, None and `...`, writes there, small takes.

What the operators select, slice, unsqueeze, index and fill_ do in several calls is done at once,
for tensors whose keys say that at most autograd takes part, which records the same operators. The
way is chosen per class of the index and per key, as an operator chooses its call; where there is
none, or where it answers None, the operators have to do it.

Source: benchmarks/cases/overhead.py; a third to a half of the operators' time.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

from runtime import errors
from runtime.core import device as devices
from runtime.core import dtype as dtypes
from runtime.core import key as keys
from runtime.core.finfo import finfo, iinfo
from runtime.core.shape import contiguous_strides
from runtime.core.size import Size
from runtime.core.tensor import Tensor, build
from runtime.dispatch import operator as registered

_slice = builtins.slice
_at = tuple.__getitem__
_new = object.__new__
_new_tuple = tuple.__new__
_TAIL = slice(1, None)
_KNOWN_BITS = keys.DTYPE_MASK | keys.DEVICE_MASK << keys.DEVICE_SHIFT | keys.ZERO_DIM | keys.GRAD

Way = Callable[..., Any]


class Ways(dict[int, Any]):
    """The way for each key; a missing one is made."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[int], Way | None]) -> None:
        self.make = make

    def __missing__(self, key: int) -> Any:
        way = self[key] = self.make(key) if not key & ~_KNOWN_BITS else None
        return way


def _view(
    self: Tensor, key: int, sizes: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> Tensor:
    """A view outside autograd that knows its base. key: without a bit for sizes that are none."""
    base = self._base
    result = _new(Tensor)
    result._key = key if sizes else key | keys.ZERO_DIM
    result._sizes = _new_tuple(Size, sizes)
    result._strides = strides
    result._offset = offset
    result._shared = self._shared or self._storage
    result._flat = None
    result._base = self if base is None else base
    result._edge = None
    result._meta = None
    return result


def _is_on_cpu(key: int) -> bool:
    return key >> keys.DEVICE_SHIFT & keys.DEVICE_MASK == devices.CPU


def _recorded(name: str, below: Way) -> Way:
    """The call of an operator of one differentiable operand, recorded, around another way."""
    record = registered.operators[name].record
    assert record is not None
    return record(below, True)


# Reading.


def make_row(key: int) -> Way | None:
    """The way of `tensor[int]`."""
    if key & keys.ZERO_DIM:
        return None
    bare = key & ~keys.GRAD

    def row(self: Tensor, index: int) -> Tensor:
        sizes, strides = self._sizes, self._strides
        size = _at(sizes, 0)
        place = index + size if index < 0 else index
        if not 0 <= place < size:
            raise errors.int_out_of_bounds(index, 0, size)
        offset = self._offset + place * strides[0]
        return _view(self, bare, _at(sizes, _TAIL), strides[1:], offset)

    if key == bare:
        return row
    select = _recorded("select.int", lambda self, dim, index: row(self, index))
    return lambda self, index: select(self, 0, index)


def make_cut(key: int) -> Way | None:
    """The way of `tensor[slice]`; it answers None for a step that is none."""
    if key & keys.ZERO_DIM:
        return None
    bare = key & ~keys.GRAD

    def cut_first(self: Tensor, dim: int, start: int, stop: int, step: int) -> Tensor:
        sizes, strides = self._sizes, self._strides
        if step == 1:
            length = stop - start if stop > start else 0
            if len(sizes) == 1:
                return _view(self, bare, (length,), strides, self._offset + start * strides[0])
            rest = (length, *_at(sizes, _TAIL))
            return _view(self, bare, rest, strides, self._offset + start * strides[0])
        length = (stop - start + step - 1) // step if stop > start else 0
        rest = (length, *_at(sizes, _TAIL))
        offset = self._offset + start * strides[0]
        return _view(self, bare, rest, (strides[0] * step, *strides[1:]), offset)

    call = cut_first if key == bare else _recorded("slice.Tensor", cut_first)

    def cut(self: Tensor, item: _slice) -> Tensor | None:
        step = item.step
        if step is not None and not _is_forward(item):
            return None
        start, stop, step = item.indices(_at(self._sizes, 0))
        return call(self, 0, start, stop, step)  # type: ignore[no-any-return]

    return cut


def _is_forward(item: _slice) -> bool:
    step = item.step
    return step is None or (step.__class__ is int and step > 0)


def make_new_dim(key: int) -> Way:
    """The way of `tensor[None]`."""
    unsqueeze = registered.operators["unsqueeze"].calls[key]
    return lambda self, index: unsqueeze(self, 0)


def make_whole(key: int) -> Way | None:
    """The way of `tensor[...]`."""
    if key & keys.GRAD:
        return None
    bare = key & ~keys.ZERO_DIM
    return lambda self, index: _view(self, bare, self._sizes, self._strides, self._offset)


def make_part(key: int) -> Way | None:
    """The way of `tensor[item, item ...]`; it answers None if an item is of another kind."""
    if key & keys.GRAD:
        return _make_recorded_part()
    bare = key & ~keys.ZERO_DIM

    def part(self: Tensor, items: tuple[Any, ...]) -> Tensor | None:
        geometry = locate(self, items)
        if geometry is None:
            take = several_takers[key]
            return None if take is None else take(self, items)  # type: ignore[no-any-return]
        sizes, strides, offset = geometry
        return _view(self, bare, tuple(sizes), tuple(strides), offset)

    return part


def _make_recorded_part() -> Way:
    """An operator for each item, as PyTorch records them, but for slices that take everything."""
    select = registered.operators["select.int"].calls
    cut = registered.operators["slice.Tensor"].calls
    rows, cuts = readers[int], readers[_slice]

    def part(self: Tensor, items: tuple[Any, ...]) -> Tensor | None:
        if len(items) > len(self._sizes):
            return None
        view, dim = self, 0
        for item in items:
            size = _at(view._sizes, dim)
            if item.__class__ is int:
                if not -size <= item < size:
                    return None
                view = select[view._key](view, dim, item) if dim else rows[view._key](view, item)
            elif item.__class__ is _slice and _is_forward(item):
                start, stop, step = item.indices(size)
                if start or stop < size or step > 1:
                    args = (dim, start, stop, step)
                    view = cut[view._key](view, *args) if dim else cuts[view._key](view, item)
                dim += 1
            else:
                take = several_takers[self._key]
                return None if take is None else take(self, items)  # type: ignore[no-any-return]
        return None if view is self else view

    return part


Geometry = tuple[list[int], list[int], int]


def locate(self: Tensor, items: tuple[Any, ...]) -> Geometry | None:
    """Return the sizes, strides and offset of a basic index; None if it is none, or wrong."""
    sizes, strides, offset = list(self._sizes), list(self._strides), self._offset
    dim = 0
    for position, item in enumerate(items):
        if item is ...:
            behind = items[position + 1 :]
            dim = len(sizes) - len(behind) + behind.count(None)
            if dim < 0 or any(other is ... for other in behind):
                return None
            continue
        if item is None:
            strides.insert(dim, sizes[dim] * strides[dim] if dim < len(sizes) else 1)
            sizes.insert(dim, 1)
            dim += 1
            continue
        if dim >= len(sizes):
            return None
        size = sizes[dim]
        if item.__class__ is int:
            place = item + size if item < 0 else item
            if not 0 <= place < size:
                return None
            offset += place * strides[dim]
            del sizes[dim], strides[dim]
        elif item.__class__ is _slice and _is_forward(item):
            start, stop, step = item.indices(size)
            offset += start * strides[dim]
            sizes[dim] = (stop - start + step - 1) // step if stop > start else 0
            strides[dim] *= step
            dim += 1
        else:
            return None
    return sizes, strides, offset


# Taking.

SMALL = 512  # elements of an index tensor up to which NumPy's take costs less than the operator
SEVERAL_SMALL = 4096  # the same for a mask, and for several that the operator has to combine


def make_taker(key: int) -> Way | None:
    """The way of `tensor[tensor]`; it answers None if the index is large, wrong or a rare one."""
    if not _is_on_cpu(key) or key & keys.ZERO_DIM:
        return None
    bare = key & ~keys.GRAD

    def take(self: Tensor, index: Tensor) -> Tensor | None:
        limit = _TAKEN_BY.get(index._key)
        if limit is None:
            return None
        places = index._array()
        if places.size > limit:
            return None
        try:
            found = self._array().take(places, 0) if index._key == _INT64 else self._array()[places]
        except IndexError:  # the operator says what is wrong
            return None
        sizes = _new_tuple(Size, found.shape)
        return build(bare, sizes, contiguous_strides(sizes), 0, None, found.reshape(-1))

    if key == bare:
        return take
    recorded = _recorded_take(lambda self, indices: take(self, indices[0]))
    return lambda self, index: recorded(self, [index])


def make_several_taker(key: int) -> Way | None:
    """The way of `tensor[tensor, tensor ...]`, from the first dim on; None as above."""
    if not _is_on_cpu(key) or key & keys.ZERO_DIM:
        return None
    bare = key & ~keys.GRAD

    def take(self: Tensor, items: Sequence[Any]) -> Tensor | None:
        places = _several_places(items)
        if places is None or len(places) > len(self._sizes):
            return None
        try:
            found = self._array()[places]
        except IndexError:
            return None
        sizes = _new_tuple(Size, found.shape)
        return build(bare, sizes, contiguous_strides(sizes), 0, None, found.reshape(-1))

    if key == bare:
        return take
    recorded = _recorded_take(take)
    return lambda self, items: recorded(self, list(items))


several_takers = Ways(make_several_taker)


def _several_places(items: Sequence[Any]) -> tuple[Any, ...] | None:
    """Small index tensors as arrays; None if one is none, or not small."""
    places = []
    for item in items:
        if item.__class__ is not Tensor or item._key != _INT64:
            return None
        array = item._array()
        if array.size > SEVERAL_SMALL:
            return None
        places.append(array)
    return tuple(places)


def _recorded_take(take: Callable[[Tensor, Any], Tensor | None]) -> Way:
    """The operator `index` recorded around a way; None where that answers None."""

    def take_or_refuse(self: Tensor, indices: list[Tensor]) -> Tensor:
        found = take(self, indices)
        if found is None:
            raise LookupError
        return found

    recorded = _recorded("index.Tensor", take_or_refuse)

    def call(self: Tensor, indices: list[Any]) -> Tensor | None:
        try:
            return recorded(self, indices)  # type: ignore[no-any-return]
        except LookupError:
            return None

    return call


_INT64, _MASK = dtypes.int64.index, dtypes.bool.index
_TAKEN_BY = {_INT64: SMALL, _MASK: SEVERAL_SMALL}  # keys of CPU tensors with dims, outside autograd


readers: dict[type, Ways] = {
    int: Ways(make_row),
    _slice: Ways(make_cut),
    tuple: Ways(make_part),
    Tensor: Ways(make_taker),
    type(None): Ways(make_new_dim),
    type(...): Ways(make_whole),
}
"""The ways of `tensor[index]` by the class of the index; other classes have none."""


# Writing.


def make_writer(key: int) -> Way | None:
    """The way of `tensor[index] = number or tensor`, for a basic index or small index tensors.

    It answers whether it has written.
    """
    own = dtypes.BY_INDEX[key & keys.DTYPE_MASK]
    if not _is_on_cpu(key) or key & (keys.GRAD | keys.ZERO_DIM):
        return None
    numbers, low, high = _accepted_numbers(own)

    def write(self: Tensor, index: Any, value: Any) -> bool:
        if 0 in self._strides:
            return False
        if not _is_basic(index):
            index = _several_places(index if index.__class__ is tuple else (index,))
            if index is None or len(index) > len(self._sizes):
                return False
        if isinstance(value, Tensor):
            if value._key & ~keys.ZERO_DIM != key:
                return False
            value = value._array()
        elif value.__class__ not in numbers or not low <= value <= high:
            return False
        try:
            self._array()[index] = value
        except (IndexError, ValueError):  # the operators say what is wrong
            return False
        self._storage.version += 1
        return True

    return write


writers = Ways(make_writer)


def _accepted_numbers(own: dtypes.dtype) -> tuple[tuple[type, ...], float, float]:
    """The classes and the range of the numbers that NumPy writes as the operators would."""
    if own in (dtypes.float32, dtypes.float64):
        return (float, int, bool), -finfo(own).max, finfo(own).max
    if own.kind == "i":
        return (int, bool), iinfo(own).min, iinfo(own).max
    if own.kind == "b":
        return (bool,), 0, 1
    return (), 0, 0


def _is_basic(index: Any) -> bool:
    """Whether an index is an int, a slice without step, or a tuple of these."""
    for item in index if index.__class__ is tuple else (index,):
        cls = item.__class__
        if cls is not int and (cls is not _slice or item.step is not None):
            return False
    return True
