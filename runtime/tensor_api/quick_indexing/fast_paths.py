"""The ways of quick indexing by key, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import operator as registered

_new = object.__new__
_new_tuple = tuple.__new__
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


def view_of(
    self: Tensor, key: int, sizes: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> Tensor:
    """A view outside autograd that knows its base. key: without a bit for sizes that are none."""
    base = self._base
    result = _new(Tensor)
    result._key = key if sizes else key | keys.ZERO_DIM
    result._sizes = _new_tuple(Size, sizes)
    result._strides = strides
    result._offset = offset
    shared = self._shared
    result._shared = self._storage if shared is None else shared
    result._flat = None
    result._base = self if base is None else base
    result._edge = None
    result._meta = None
    return result


def is_on_cpu(key: int) -> bool:
    """Whether tensors of this key lie in the host's memory."""
    return key >> keys.DEVICE_SHIFT & keys.DEVICE_MASK == devices.CPU


def is_forward(item: slice) -> bool:
    """Whether a slice has no step, or one that is an int above 0."""
    step = item.step
    return step is None or (step.__class__ is int and step > 0)


def make_recorded(name: str, below: Way) -> Way:
    """The call of an operator of one differentiable operand, recorded, around another way."""
    record = registered.operators[name].record
    assert record is not None
    return record(below, True)
