"""Views by ints, slices, None and `...`, and the table of all ways to read."""

from __future__ import annotations

import builtins
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import operator as registered
from torchgen_out._runtime.tensor_api import interop
from torchgen_out._runtime.tensor_api.quick_indexing.fast_paths import (
    Way,
    Ways,
    is_forward,
    make_recorded,
    view_of,
)
from torchgen_out._runtime.tensor_api.quick_indexing.gathering import (
    among_takers,
    listed,
    make_taker,
    several_takers,
)

_slice = builtins.slice
_at = tuple.__getitem__
_TAIL = slice(1, None)
_ALL = slice(None)
_MOST = 1 << 10  # more dims than there are
_BASIC = frozenset((int, _slice, type(None), type(...)))  # the classes of items that make views
_TENSORS = frozenset((Tensor,))
_MASK = dtypes.bool.index
_INDICES = dtypes.int64.index, _MASK  # the keys of index tensors with dims
_NUMBER = dtypes.int64.index | keys.ZERO_DIM  # of one that is one number


def make_row(key: int) -> Way | None:
    """The way of `tensor[int]`."""
    select = selects[key]
    return select and (lambda self, index: select(self, 0, index))


def make_select(key: int) -> Way | None:
    """What selects from the first dim: select(tensor, 0, index)."""
    if key & keys.ZERO_DIM:
        return None
    bare = key & ~keys.GRAD

    def select_first(self: Tensor, dim: int, index: int) -> Tensor:
        sizes, strides = self._sizes, self._strides
        size = _at(sizes, 0)
        place = index + size if index < 0 else index
        if not 0 <= place < size:
            raise errors.int_out_of_bounds(index, 0, size)
        offset = self._offset + place * strides[0]
        return view_of(self, bare, _at(sizes, _TAIL), strides[1:], offset)

    return select_first if key == bare else make_recorded("select.int", select_first)


def make_cut(key: int) -> Way | None:
    """The way of `tensor[slice]`; it answers None for a step that is none."""
    call = cuts[key]
    if call is None:
        return None

    def cut(self: Tensor, item: _slice) -> Tensor | None:
        step = item.step
        if step is not None and not is_forward(item):
            return None
        start, stop, step = item.indices(_at(self._sizes, 0))
        return call(self, 0, start, stop, step)  # type: ignore[no-any-return]

    return cut


def make_first_cut(key: int) -> Way | None:
    """What cuts the first dim: cut(tensor, 0, start, stop, step), of numbers within its size."""
    if key & keys.ZERO_DIM:
        return None
    bare = key & ~keys.GRAD

    def cut_first(self: Tensor, dim: int, start: int, stop: int, step: int) -> Tensor:
        sizes, strides = self._sizes, self._strides
        if step == 1:
            length = stop - start if stop > start else 0
            if len(sizes) == 1:
                return view_of(self, bare, (length,), strides, self._offset + start * strides[0])
            rest = (length, *_at(sizes, _TAIL))
            return view_of(self, bare, rest, strides, self._offset + start * strides[0])
        length = (stop - start + step - 1) // step if stop > start else 0
        rest = (length, *_at(sizes, _TAIL))
        offset = self._offset + start * strides[0]
        return view_of(self, bare, rest, (strides[0] * step, *strides[1:]), offset)

    return cut_first if key == bare else make_recorded("slice.Tensor", cut_first)


selects, cuts = Ways(make_select), Ways(make_first_cut)


def make_new_dim(key: int) -> Way:
    """The way of `tensor[None]`."""
    unsqueeze = registered.operators["unsqueeze"].calls[key]
    return lambda self, index: unsqueeze(self, 0)


def make_whole(key: int) -> Way | None:
    """The way of `tensor[...]`."""
    if key & keys.GRAD:
        return None
    bare = key & ~keys.ZERO_DIM
    return lambda self, index: view_of(self, bare, self._sizes, self._strides, self._offset)


def make_part(key: int) -> Way | None:
    """The way of `tensor[item, item ...]`; it answers None if an item is of another kind."""
    if key & keys.GRAD:
        return _make_recorded_part()
    bare = key & ~keys.ZERO_DIM

    def part(self: Tensor, items: tuple[Any, ...]) -> Tensor | None:
        last = items[-1] if items else None
        if last.__class__ is list:
            numbers = listed(last)
            return None if numbers is None else _taken(self, (*items[:-1], numbers))
        if last.__class__ is Tensor and last._key in _INDICES:
            return _taken(self, items)
        geometry = locate(self, items)
        if geometry is None:
            take = several_takers[key]
            return None if take is None else take(self, items)
        sizes, strides, offset = geometry
        return view_of(self, bare, tuple(sizes), tuple(strides), offset)

    return part


def _taken(self: Tensor, items: tuple[Any, ...]) -> Tensor | None:
    """The elements at several index tensors, or at one behind `...` or slices of everything."""
    if items[0].__class__ is int:
        return _taken_of_row(self, items)
    dim = _indexed(self, items)
    take = (several_takers if dim is None else among_takers)[self._key]
    if take is None:
        return None
    found: Tensor | None = take(self, items if dim is None else [*[None] * dim, items[-1]])
    return found


def _taken_of_row(self: Tensor, items: tuple[Any, ...]) -> Tensor | None:
    """What all items but the first, a number, take of the row that this selects."""
    select, number = selects[self._key], items[0]
    if select is None or not -(size := _at(self._sizes, 0)) <= number < size:
        return None
    rest = items[1] if len(items) == 2 else items[1:]
    ways = readers.get(rest.__class__)
    if ways is None:
        return None
    row = select(self, 0, number)
    way = ways[row._key]
    return None if way is None else way(row, rest)


def _indexed(self: Tensor, items: tuple[Any, ...]) -> int | None:
    """The dim that a vector, the last item, indexes if all before it take everything; else None."""
    first, last, dim = items[0], items[-1], len(items) - 1
    if last.__class__ is not Tensor or len(last._sizes) > 1:
        return None
    if first is ...:
        return len(self._sizes) - 1 if dim == 1 else None
    if first.__class__ is not _slice or dim >= len(self._sizes):
        return None
    is_sole = all(each.__class__ is _slice and _is_whole(each) for each in items[:-1])
    return dim if is_sole else None


def _is_whole(item: _slice) -> bool:
    return item.start is None and item.stop is None and item.step is None


def _taken_of_view(self: Tensor, items: tuple[Any, ...], seen: Way) -> Tensor | None:
    """The elements at index tensors, of the view that all other items make by a way."""
    if items[0].__class__ is int:
        return _taken_of_row(self, items)
    if _TENSORS.issuperset(map(type, items)):
        collected: _Collected | None = ((), list(items))
    else:
        collected = _collected(self, items)
    if collected is None:
        return None
    others, indices = collected
    viewed = seen(self, others) if others else self
    if viewed is None or not indices:
        return viewed
    take = among_takers[viewed._key]
    return None if take is None else take(viewed, indices)


_Collected = tuple[tuple[Any, ...], list[Tensor | None]]
"""Items with slices in the place of index tensors, none of them if these make no view; and the
index tensors as the operator `index` takes them of it."""


def _collected(self: Tensor, items: tuple[Any, ...]) -> _Collected | None:
    """Views apart from index tensors; None if an item is of another kind."""
    others: list[Any] = []
    indices: list[Tensor | None] = []
    dim = behind = 0  # behind: the first dim behind the index tensors so far
    is_seen = False
    for item in items:
        cls = item.__class__
        if cls is int:
            others.append(item)
            is_seen = True
            continue
        if cls is list:
            item = listed(item)
            if item is None:
                return None
            cls = Tensor
        if cls is Tensor:
            key = item._key
            if key == _NUMBER:
                others.append(interop.item(item))
                is_seen = True
                continue
            if key not in _INDICES:
                return None
            indices += [*[None] * (dim - behind), item]
            count = len(item._sizes) if key == _MASK else 1
            others += [_ALL] * count
            behind = dim = dim + count
            continue
        others.append(item)
        if item is ...:
            dim += max(len(self._sizes) - sum(map(_dims_taken, items)), 0)
        elif item is None or cls is _slice:
            is_seen = is_seen or item is None or not _is_whole(item)
            dim += 1
        else:
            return None
    if not is_seen and dim > len(self._sizes):
        return None
    return (tuple(others) if is_seen else ()), indices


def _dims_taken(item: Any) -> int:
    """How many dims an item takes; `...` and None take none."""
    if item.__class__ is Tensor and item._key == _MASK:
        return len(item._sizes)
    return item is not None and item is not ...


def _make_recorded_part() -> Way:
    """An operator for each item, as PyTorch records them, but for slices that take everything."""
    select = registered.operators["select.int"].calls
    cut = registered.operators["slice.Tensor"].calls
    unsqueeze = registered.operators["unsqueeze"].calls

    def part(self: Tensor, items: tuple[Any, ...]) -> Tensor | None:
        if not _BASIC.issuperset(map(type, items)):
            return _taken_of_view(self, items, part)
        view, dim, behind = self, 0, len(self._sizes)
        for item in items:  # behind: dims of the tensor that no item has met
            if item is None:
                view = unsqueeze[view._key](view, dim)
                dim += 1
                continue
            if item is ...:
                skipped = behind - _taking(items[items.index(...) + 1 :])
                if skipped < 0:
                    return None
                dim, behind = dim + skipped, behind - skipped
                continue
            if not behind:
                return None
            behind -= 1
            size = _at(view._sizes, dim)
            if item.__class__ is int:
                if not -size <= item < size:
                    return None
                view = (select if dim else selects)[view._key](view, dim, item)
            elif is_forward(item):
                start, stop, step = item.indices(size)
                if start or stop < size or step > 1:
                    view = (cut if dim else cuts)[view._key](view, dim, start, stop, step)
                dim += 1
            else:
                return None
        return None if view is self else view

    return part


def _taking(items: tuple[Any, ...]) -> int:
    """How many dims basic items take, of which none is `...`; too many if one is."""
    return sum([_MOST if item is ... else item is not None for item in items])


Geometry = tuple[list[int], list[int], int]


def locate(self: Tensor, items: tuple[Any, ...]) -> Geometry | None:
    """Return the sizes, strides and offset of a basic index; None if it is none, or wrong."""
    sizes, strides, offset = list(self._sizes), list(self._strides), self._offset
    if len(items) > len(sizes):
        return _locate_any(self, items)
    dim = 0
    for item in items:
        size = sizes[dim]
        if item.__class__ is int:
            place = item + size if item < 0 else item
            if not 0 <= place < size:
                return None
            offset += place * strides[dim]
            del sizes[dim], strides[dim]
        elif item.__class__ is not _slice or item.step is not None:
            return _locate_any(self, items)
        else:
            if item.start is not None or item.stop is not None:
                start, stop, _ = item.indices(size)
                offset += start * strides[dim]
                sizes[dim] = stop - start if stop > start else 0
            dim += 1
    return sizes, strides, offset


def _locate_any(self: Tensor, items: tuple[Any, ...]) -> Geometry | None:
    """The same where there are `...`, None or steps."""
    sizes, strides, offset = list(self._sizes), list(self._strides), self._offset
    dim = position = 0
    for item in items:
        position += 1
        cls = item.__class__
        if item is ...:
            dim = len(sizes)
            for other in items[position:]:
                if other is ...:
                    return None
                if other is not None:
                    dim -= 1
            if dim < 0:
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
        if cls is _slice and is_forward(item):
            start, stop, step = item.indices(size)
            offset += start * strides[dim]
            sizes[dim] = (stop - start + step - 1) // step if stop > start else 0
            strides[dim] *= step
            dim += 1
            continue
        if cls is Tensor and item._key == _NUMBER:
            item, cls = interop.item(item), int
        if cls is not int:
            return None
        place = item + size if item < 0 else item
        if not 0 <= place < size:
            return None
        offset += place * strides[dim]
        del sizes[dim], strides[dim]
    return sizes, strides, offset


def make_by_tensor(key: int) -> Way | None:
    """The way of `tensor[tensor]`: a row, by a tensor of one number, or a copy of several."""
    take, row = make_taker(key), None if key & keys.ZERO_DIM else make_row(key)
    if take is None or row is None:
        return take

    def by_tensor(self: Tensor, index: Tensor) -> Tensor | None:
        if index._key == _NUMBER:
            return row(self, interop.item(index))  # type: ignore[no-any-return]
        return take(self, index)  # type: ignore[no-any-return]

    return by_tensor


def make_by_list(key: int) -> Way | None:
    """The way of `tensor[list]`, of Python's ints."""
    take = make_taker(key)
    if take is None:
        return None

    def by_list(self: Tensor, numbers: list[Any]) -> Tensor | None:
        index = listed(numbers) if numbers else None
        return None if index is None else take(self, index)

    return by_list


readers: dict[type, Ways] = {
    int: Ways(make_row),
    _slice: Ways(make_cut),
    tuple: Ways(make_part),
    Tensor: Ways(make_by_tensor),
    list: Ways(make_by_list),
    type(None): Ways(make_new_dim),
    type(...): Ways(make_whole),
}
"""The ways of `tensor[index]` by the class of the index; other classes have none."""


def basic_view(self: Tensor, index: Any) -> Tensor | None:
    """The view that an int, a slice or a tuple of these makes; None for others, and rare ones."""
    cls = index.__class__
    if not (_BASIC.issuperset(map(type, index)) if cls is tuple else cls is int or cls is _slice):
        return None
    way = readers[cls][self._key]
    return None if way is None else way(self, index)
