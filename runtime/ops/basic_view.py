"""Common indexing in one step: views by ints, slices, None and `...`, writes there, small takes.

What the operators select, slice, unsqueeze, index and fill_ do in several calls is done at once,
for tensors whose keys say that nobody else takes part: no autograd, no mode. The way is chosen per
key, as an operator chooses its call; any other key gets None, which means: use the operators.

Source: benchmarks/cases/overhead.py; a third to a half of the operators' time.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from runtime import errors
from runtime.core import device as devices
from runtime.core import dtype as dtypes
from runtime.core import key as keys
from runtime.core.finfo import finfo, iinfo
from runtime.core.shape import contiguous_strides
from runtime.core.size import Size
from runtime.core.tensor import Tensor, build

_slice = builtins.slice
_at = tuple.__getitem__
_new = object.__new__
_new_tuple = tuple.__new__
_TAIL = slice(1, None)
_KNOWN_BITS = keys.DTYPE_MASK | keys.DEVICE_MASK << keys.DEVICE_SHIFT | keys.ZERO_DIM


class Ways(dict[int, Any]):
    """The way for each key; a missing one is made."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[int], Any]) -> None:
        self.make = make

    def __missing__(self, key: int) -> Any:
        way = self[key] = self.make(key) if not key & ~_KNOWN_BITS else None
        return way


# Reading.


def make_row(key: int) -> Callable[[Tensor, int], Tensor] | None:
    """The way of `tensor[int]`."""
    if key & keys.ZERO_DIM:
        return None

    def row(self: Tensor, index: int) -> Tensor:
        sizes, strides = self._sizes, self._strides
        size = _at(sizes, 0)
        place = index + size if index < 0 else index
        if not 0 <= place < size:
            raise errors.int_out_of_bounds(index, 0, size)
        rest = _new_tuple(Size, _at(sizes, _TAIL))
        base = self._base
        result = _new(Tensor)
        result._key = key if rest else key | keys.ZERO_DIM
        result._sizes = rest
        result._strides = strides[1:]
        result._offset = self._offset + place * strides[0]
        result._shared = self._shared or self._storage
        result._flat = None
        result._base = self if base is None else base
        result._edge = None
        result._meta = None
        return result

    return row


rows = Ways(make_row)


def make_cut(key: int) -> Callable[[Tensor, _slice], Tensor | None] | None:
    """The way of `tensor[slice]`; it answers None for a step that is none."""
    if key & keys.ZERO_DIM:
        return None

    def cut(self: Tensor, item: _slice) -> Tensor | None:
        sizes, strides = self._sizes, self._strides
        step = item.step
        if step is not None and (step.__class__ is not int or step < 1):
            return None
        start, stop, step = item.indices(_at(sizes, 0))
        length = (stop - start + step - 1) // step if stop > start else 0
        base = self._base
        result = _new(Tensor)
        result._key = key
        result._sizes = _new_tuple(Size, (length, *_at(sizes, _TAIL)))
        result._strides = (strides[0] * step, *strides[1:])
        result._offset = self._offset + start * strides[0]
        result._shared = self._shared or self._storage
        result._flat = None
        result._base = self if base is None else base
        result._edge = None
        result._meta = None
        return result

    return cut


cuts = Ways(make_cut)


def make_part(key: int) -> Callable[[Tensor, tuple[Any, ...]], Tensor | None]:
    """The way of `tensor[item, item ...]`; it answers None if an item is of another kind."""

    def part(self: Tensor, items: tuple[Any, ...]) -> Tensor | None:
        if len(items) == 1 and items[0] is ...:
            made = build(
                key, self._sizes, self._strides, self._offset, self._shared or self._storage
            )
        else:
            geometry = locate(self, items)
            if geometry is None:
                return None
            sizes, strides, offset = geometry
            own = key & ~keys.ZERO_DIM if sizes else key | keys.ZERO_DIM
            storage = self._shared or self._storage
            made = build(own, _new_tuple(Size, sizes), tuple(strides), offset, storage)
        made._base = self if self._base is None else self._base
        return made

    return part


parts = Ways(make_part)


def locate(self: Tensor, items: tuple[Any, ...]) -> tuple[list[int], list[int], int] | None:
    """Return the sizes, strides and offset of a basic index; None if it is none, or wrong."""
    behind, own_strides = list(self._sizes), self._strides  # sizes not used up yet
    dim, offset = 0, self._offset
    sizes: list[int] = []
    strides: list[int] = []
    for position, item in enumerate(items):
        cls = item.__class__
        if cls is int:
            if not behind or not -behind[0] <= item < behind[0]:
                return None
            size = behind.pop(0)
            offset += (item + size if item < 0 else item) * own_strides[dim]
            dim += 1
        elif cls is _slice:
            if not behind or not _is_forward(item):
                return None
            start, stop, step = item.indices(behind.pop(0))
            offset += start * own_strides[dim]
            sizes.append((stop - start + step - 1) // step if stop > start else 0)
            strides.append(own_strides[dim] * step)
            dim += 1
        elif item is None:
            sizes.append(1)
            strides.append(behind[0] * own_strides[dim] if behind else 1)
        elif item is ...:
            following = items[position + 1 :]
            count = len(behind) - len(following) + following.count(None)
            if count < 0 or ... in following:
                return None
            sizes += behind[:count]
            del behind[:count]
            strides += own_strides[dim : dim + count]
            dim += count
        else:
            return None
    return sizes + behind, [*strides, *own_strides[dim:]], offset


def _is_forward(item: _slice) -> bool:
    step = item.step
    return step is None or (step.__class__ is int and step > 0)


# Taking.

SMALL = 512  # elements of an index tensor up to which NumPy's take costs less than the operator


def make_taker(key: int) -> Callable[[Tensor, Tensor], Tensor | None] | None:
    """The way of `tensor[tensor]`; it answers None if the index is large, wrong or a rare one."""
    if key >> keys.DEVICE_SHIFT & keys.DEVICE_MASK != devices.CPU or key & keys.ZERO_DIM:
        return None

    def take(self: Tensor, index: Tensor) -> Tensor | None:
        if index._key not in _TAKEN_BY:
            return None
        places = index._array()
        if places.size > SMALL:
            return None
        try:
            found = self._array().take(places, 0) if index._key == _INT64 else self._array()[places]
        except IndexError:  # the operator says what is wrong
            return None
        return _adopt(found, key)

    return take


def _adopt(found: np.ndarray, key: int) -> Tensor:
    """A tensor over a new contiguous array."""
    flat = found.reshape(-1)
    sizes = _new_tuple(Size, found.shape)
    return build(key, sizes, contiguous_strides(sizes), 0, None, flat)


takers = Ways(make_taker)
_INT64, _MASK = dtypes.int64.index, dtypes.bool.index
_TAKEN_BY = (_INT64, _MASK)  # keys of CPU tensors with dims, outside autograd


# Writing.


def make_writer(key: int) -> Callable[[Tensor, Any, Any], bool] | None:
    """The way of `tensor[basic index] = number or tensor`; it answers whether it has written."""
    own = dtypes.BY_INDEX[key & keys.DTYPE_MASK]
    if key >> keys.DEVICE_SHIFT & keys.DEVICE_MASK != devices.CPU or key & keys.ZERO_DIM:
        return None
    numbers, low, high = _accepted_numbers(own)

    def write(self: Tensor, index: Any, value: Any) -> bool:
        if not _is_basic(index) or 0 in self._strides:
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
