"""`tensor[index]` and `tensor[index] = value`, out of select, slice, unsqueeze, index, index_put_.

An index is taken item by item from the left. Ints, slices, None and `...` make views; tensors,
lists and masks are collected and go to the operator `index` in one call at the end.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from operator import index as _as_int
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import batched, deprecation, number
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.factories import creation, from_data
from torchgen_out._runtime.tensor_api import interop
from torchgen_out._runtime.tensor_api.quick_indexing import gathering, reading, writing

_among_takers = gathering.among_takers
_readers, _writers = reading.readers.get, writing.writers
_size_at = tuple.__getitem__
_slice = builtins.slice
_Collected = list[Tensor | None]
_NUMBERS = frozenset((bool, int, float))
_FAR = 2**63 - 1
_EVERYTHING = (None, None, None)


def getitem(self: Tensor, index: Any) -> Tensor:
    """`tensor[index]`: a view for ints, slices, None and `...`; a copy for tensors and lists.

    **Raises** IndexError if an index is out of range, of a wrong kind, or there are too many.
    """
    ways = _readers(index.__class__)
    if ways is not None:
        way = ways[self._key]
        if way is not None:
            found: Tensor | None = way(self, index)
            if found is not None:
                return found
    viewed, collected = _resolve(self, _items(index))
    if collected:
        take = _among_takers[viewed._key]
        found = None if take is None else take(viewed, collected)
        return ops.index(viewed, collected) if found is None else found
    return ops.alias(self) if viewed is self else viewed


def setitem(self: Tensor, index: Any, value: Any) -> None:
    """`tensor[index] = value`: write a number or a tensor, broadcast, at the places of `index`.

    **Raises** IndexError as for reading, TypeError if the value is neither number nor tensor.
    """
    if index.__class__ is Tensor and index._sizes == self._sizes and _may_fill(self, index, value):
        ops.masked_fill_(self, index, value)
        return
    write = _writers[self._key]
    if write is not None and write(self, index, value):
        return
    value = _value(self, value)
    if index is False:
        return
    if index is True:
        index = ...
    part = reading.basic_view(self, index)
    if part is not None:
        _write(part, value)
        return
    items = _items(index)
    viewed, collected = _resolve(self, items)
    if not collected:
        _write(viewed, value)
        return
    if not isinstance(value, Tensor):
        mask = _sole_mask(viewed, collected)
        if mask is not None and _is_stored_as_given(self, value):
            ops.masked_fill_(viewed, mask, value)
            return
        _refuse_bytes(collected)
        value = creation.full((), value, self.dtype, None, self.device)
    elif value.numel() == 1:
        _refuse_bytes(collected)
        if value.dtype is not self.dtype and _is_masked(items, collected):
            value = _converted(value, self.dtype)
    if value.dtype is not self.dtype:
        raise errors.index_put_dtypes(self.dtype, value.dtype)
    ops.index_put_(viewed, collected, _without_leading_ones(value))


def _may_fill(self: Tensor, index: Tensor, value: Any) -> bool:
    """Whether an index is a mask of the tensor's sizes, and the value a number that it holds."""
    if index.dtype is not dtypes.bool or value.__class__ not in _NUMBERS or not self._sizes:
        return False
    if self.dtype.opmath is not self.dtype or batched.is_batched(index):
        return False
    if value.__class__ is int and abs(value) > _FAR:
        return False
    return _is_stored_as_given(self, value) and index.device == self.device


def _is_stored_as_given(self: Tensor, value: Any) -> bool:
    """Whether a number is of the tensor's kind: nothing is cut off it."""
    kind = self.dtype.kind
    if kind == "f":
        return not isinstance(value, complex)
    if kind == "b":
        return value.__class__ is bool
    return kind == "i" and value.__class__ is int and number.is_in_range(value, self.dtype)


def _sole_mask(viewed: Tensor, collected: _Collected) -> Tensor | None:
    """The mask that is the only index, as it broadcasts to the tensor; None if there is none.

    Filling under a mask is one loop, where `index_put_` looks for the places first.
    """
    mask, dim = collected[-1], len(collected) - 1
    if (
        mask is None
        or mask.dtype is not dtypes.bool
        or any(each is not None for each in collected[:-1])
    ):
        return None
    if mask._sizes != viewed._sizes[dim : dim + mask.ndim] or batched.is_batched(mask):
        return None
    rest = viewed.ndim - dim - mask.ndim
    return ops.reshape(mask, (*mask._sizes, *[1] * rest)) if rest else mask


def _refuse_bytes(collected: _Collected) -> None:
    """Raises: RuntimeError if one value is to be written where a mask of bytes says, and no more.

    Such a write is a fill under a mask, which takes no bytes; others do.
    """
    given = [each for each in collected if each is not None]
    if len(given) == 1 and given[0].dtype is dtypes.uint8:
        raise errors.boolean_mask_expected("masked_fill_", given[0].dtype)


def _is_masked(items: tuple[Any, ...], collected: _Collected) -> bool:
    """Whether a mask with dims is the only index: a value may be of another dtype then."""
    given = [each for each in collected if each is not None]
    return len(given) == 1 and given[0].dtype is dtypes.bool and not any(map(_is_truth, items))


def _is_truth(item: Any) -> bool:
    """Whether an item takes all or nothing."""
    if isinstance(item, Tensor):
        return not item._sizes and item.dtype in (dtypes.bool, dtypes.uint8)
    return isinstance(item, (bool, np.bool_))


def _converted(value: Tensor, target: dtypes.dtype) -> Tensor:
    """A value of one element in another dtype. Raises: RuntimeError if it is out of its range."""
    if value.device == devices.cpu and not batched.is_batched(value):
        number.check_fits(value.detach().item(), target)
    return value.real.to(target) if value.is_complex() and target.kind != "c" else value.to(target)


def _write(viewed: Tensor, value: Any) -> None:
    if not isinstance(value, Tensor):
        ops.fill_(viewed, value)
        return
    if value._sizes != viewed._sizes:
        value = ops.expand(_fewer_dims(value, viewed.ndim), viewed._sizes)
    ops.copy_(viewed, value)


def _fewer_dims(value: Tensor, ndim: int) -> Tensor:
    """Drop leading dims of size 1 beyond `ndim`, as broadcasting from the right allows."""
    return _without_leading_ones(value) if value.ndim > ndim else value


def _without_leading_ones(value: Tensor) -> Tensor:
    """Drop leading dims of size 1, which broadcasting from the right puts back."""
    sizes = value._sizes
    count = next((dim for dim, size in enumerate(sizes) if size != 1), len(sizes))
    return value.reshape(sizes[count:]) if count else value


def _value(self: Tensor, value: Any) -> Any:
    """The value as a tensor or a number that fits; 16-bit floats take a large one as infinity."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        value = value.item()
    elif not isinstance(value, (bool, int, float, complex)):
        raise errors.cannot_assign(value, self.dtype)
    if isinstance(value, int):
        number.check_long(value)
    is_half = self.dtype.opmath is not self.dtype
    return from_data.from_data(value, self.dtype, self.device) if is_half else value


# Reading an index.


def _items(index: Any) -> Any:
    """The items of an index: of a tuple its own, otherwise the index itself."""
    if index.__class__ is tuple:
        return index
    if isinstance(index, (list, range)) and _is_several(index):
        warn(
            "Using a non-tuple sequence for multidimensional indexing is deprecated; use "
            "x[tuple(seq)] instead of x[seq].",
        )
        return tuple(index)
    return (index,)


def _is_several(index: Any) -> bool:
    """Whether a list stands for a tuple of indices: NumPy's old rule."""
    several = (Tensor, _slice, list, tuple, str)
    return len(index) < 32 and any(
        item is None or item is ... or isinstance(item, several) for item in index
    )


def _resolve(self: Tensor, items: tuple[Any, ...]) -> tuple[Tensor, _Collected]:
    """Apply the items that make views; collect the tensors at the dims of the view they index."""
    items = tuple([_as_item(self, item) for item in items])
    given = sum(map(_dims_taken, items))
    if given > self.ndim:
        if not self.ndim and not isinstance(items[0], _slice):
            raise errors.index_of_zero_dim()
        if not self.ndim:
            raise errors.slice_of_zero_dim()
        raise errors.too_many_indices(self.ndim, given)
    viewed, dim = self, 0
    collected: _Collected = []
    for position, item in enumerate(items):
        if item.__class__ is int:
            viewed = _select(viewed, dim, item, position)
        elif item.__class__ is _slice:
            viewed = _cut(viewed, dim, item, len(items) == 1)
            dim += 1
        elif item is None:
            viewed = ops.unsqueeze(viewed, dim)
            dim += 1
        elif item is ...:
            dim += self.ndim - given
        else:
            if item.dtype is dtypes.uint8:
                deprecation.bytes_as_mask()
            if not item.ndim and item.dtype in (dtypes.bool, dtypes.uint8):
                viewed = ops.unsqueeze(viewed, dim)
                item = item.to(dtypes.bool).reshape(1)
            collected += [None] * (dim - sum(map(_dims_of, collected))) + [item]
            dim += _dims_indexed(item)
    return viewed, collected


def _as_item(self: Tensor, item: Any) -> Any:
    """An item as an int, a slice, None, `...` or a tensor.

    Raises: IndexError for anything else.
    """
    if item is None or item is ... or item.__class__ in (int, _slice):
        return item
    if isinstance(item, Tensor):
        is_number = not item._sizes and item.dtype.kind == "i" and item.dtype is not dtypes.uint8
        if is_number and not batched.is_batched(item):
            return interop.as_index(item)
        return item  # of a number for each sample of vmap, too
    if isinstance(item, (bool, np.bool_)):
        return from_data.from_data(bool(item), None, self.device)
    if isinstance(item, np.ndarray):
        return from_data.as_tensor(item, device=self.device)
    if isinstance(item, (list, tuple, range, str)):
        return _listed(self, item)
    if hasattr(item.__class__, "__index__"):
        return _as_int(item)
    raise errors.invalid_index(item)


def _listed(self: Tensor, item: Any) -> Tensor:
    if isinstance(item, str):
        raise errors.invalid_data_type(item)
    made = from_data.from_data(item, None, devices.cpu)
    if not made.numel():
        made = from_data.from_data(item, dtypes.int64, devices.cpu)
    return from_data.as_tensor(made, device=self.device)


def _dims_taken(item: Any) -> int:
    """How many dims of the indexed tensor an item uses up."""
    if item is None or item is ...:
        return 0
    return _dims_indexed(item) if isinstance(item, Tensor) else 1


def _dims_of(entry: Tensor | None) -> int:
    """How many dims an entry of the list for `index` stands for."""
    return 1 if entry is None else _dims_indexed(entry)


def _dims_indexed(item: Tensor) -> int:
    """A mask covers as many dims as it has, numbers index one."""
    return item.ndim if item.dtype in (dtypes.bool, dtypes.uint8) else 1


def _select(viewed: Tensor, dim: int, index: int, position: int) -> Tensor:
    size = _size_at(viewed._sizes, dim)
    if not -size <= index < size:
        raise _out_of_bounds(viewed, index, dim, position)
    return ops.select(viewed, dim, index)


def _out_of_bounds(viewed: Tensor, index: int, dim: int, position: int) -> IndexError:
    if not viewed._sizes:
        return errors.index_of_zero_dim()
    return errors.int_out_of_bounds(index, position, viewed._sizes[dim])


def _cut(viewed: Tensor, dim: int, item: _slice, alone: bool) -> Tensor:
    """A slice; beside other items one that takes everything is left out."""
    if not alone and (item.start, item.stop, item.step) == _EVERYTHING:
        return viewed
    start, stop, step = _bounds(item)
    if not alone and step == 1 and not start:
        size = viewed._sizes[dim]
        if stop is None or stop >= size:
            return viewed
    return ops.slice(viewed, dim, start, stop, step)


def _bounds(item: _slice) -> tuple[int | None, int | None, int]:
    """Start, stop and step of a slice.

    Raises: ValueError if step is not positive, TypeError if one is no int.
    """
    start, stop, step = item.start, item.stop, item.step
    if start is not None and start.__class__ is not int:
        start = _bound(start)
    if stop is not None and stop.__class__ is not int:
        stop = _bound(stop)
    if step is None:
        return start, stop, 1
    step = _bound(step)
    if step <= 0:
        raise ValueError("step must be greater than zero" if step else "slice step cannot be zero")
    return start, stop, step


def _bound(value: Any) -> int:
    if not hasattr(value.__class__, "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return _as_int(value)


# Walking a tensor.


def length(self: Tensor) -> int:
    """`len(tensor)`: the size of the first dim."""
    if not self._sizes:
        raise errors.length_of_zero_dim()
    return _size_at(self._sizes, 0)


def iterate(self: Tensor) -> Iterator[Tensor]:
    """`iter(tensor)`: the slices along the first dim."""
    if not self._sizes:
        raise errors.iteration_of_zero_dim()
    return iter(ops.unbind(self, 0))


def contains(self: Tensor, element: Any) -> bool:
    """`element in tensor`: whether any element equals it."""
    if not isinstance(element, (Tensor, int, float, complex)):
        raise errors.not_contained(element)
    return bool((self == element).any().item())
