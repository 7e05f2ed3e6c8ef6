"""Pickling and copying of tensors; tensors that shared memory before share it afterwards."""

from __future__ import annotations

import copy
from typing import Any, SupportsIndex

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.sparse import build_sparse, is_sparse, storage_of
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build


def reduce(self: Tensor, protocol: SupportsIndex) -> tuple[Any, ...]:
    """What pickle stores (`__reduce_ex__`): the storage, once for all tensors over it.

    Of a sparse tensor its parts, which are tensors.
    """
    if is_sparse(self):
        return _reduce_sparse(self)
    arguments = (
        self.__class__,
        self._storage,
        self.dtype,
        tuple(self._sizes),
        self._strides,
        self._offset,
        str(self.device),
        bool(self._key & keys.GRAD),
    )
    return (rebuild, arguments, self.__dict__) if self.__dict__ else (rebuild, arguments)


def _reduce_sparse(self: Tensor) -> tuple[Any, ...]:
    storage = storage_of(self)
    arguments = (
        self.__class__,
        storage.pattern,
        storage.values,
        tuple(self._sizes),
        bool(self._key & keys.GRAD),
    )
    return (
        (rebuild_sparse, arguments, self.__dict__) if self.__dict__ else (rebuild_sparse, arguments)
    )


def rebuild_sparse(
    cls: type[Tensor], pattern: Any, values: Tensor, sizes: tuple[int, ...], requires_grad: bool
) -> Tensor:
    """Make a leaf tensor over indices and values."""
    made = build_sparse(sizes, pattern, values)
    made._key |= keys.GRAD if requires_grad else 0
    return as_class(cls, made)


def rebuild(
    cls: type[Tensor],
    storage: Storage,
    of: dtype,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
    device: str,
    requires_grad: bool,
) -> Tensor:
    """Make a leaf tensor over a storage."""
    type_index = devices.device(device).type_index
    key = keys.pack(of.index, type_index, 0, not sizes) | (keys.GRAD if requires_grad else 0)
    return as_class(cls, build(key, Size(sizes), tuple(strides), offset, storage))


def restore(self: Tensor, state: Any) -> None:
    """Take a state that a pickle holds (`__setstate__`): attributes; or in files of before 0.4 a
    tensor's geometry in a storage, or what a `Variable` was beside its data.

    **Raises** RuntimeError for a geometry that reaches outside the storage, or for another state.
    """
    if state is None or isinstance(state, dict):
        self.__dict__.update(state or {})
    elif len(state) == 2:
        self.__dict__.update(state[0] or {})
    elif len(state) == 4:
        storage, offset, sizes, strides = state
        self.set_(storage._elements.as_strided(sizes, strides, offset))
    elif len(state) == 3:
        self.requires_grad_(state[0] and self.dtype.kind in "fc")
    elif len(state) == 5:
        _become(self, state[0].detach())
        self.requires_grad_(state[3] and self.dtype.kind in "fc")
    else:
        raise RuntimeError(f"__setstate__: expected a tensor's state, got {len(state)} items")


def _become(self: Tensor, other: Tensor) -> None:
    """Let a tensor without elements be another one, whatever that one's dtype."""
    for name in ("_key", "_sizes", "_strides", "_offset", "_flat"):
        setattr(self, name, getattr(other, name))
    self._storage = other._storage


def as_class(cls: type[Tensor], tensor: Tensor) -> Tensor:
    """Return the tensor as an instance of a subclass, with the same memory and history."""
    if cls is tensor.__class__:
        return tensor
    made = object.__new__(cls)
    for name in Tensor.__slots__:
        if not name.startswith("__"):
            setattr(made, name, getattr(tensor, name))
    made._storage = tensor._storage
    made._key = tensor._key & ~keys.OVERRIDES | cls._override_bit
    return made


def deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """Copy a leaf with its storage, its gradient and its attributes (`__deepcopy__`).

    **Raises** RuntimeError if the tensor was computed by a recorded operator.
    """
    if id(self) in memo:
        known: Tensor = memo[id(self)]
        return known
    if self._edge is not None:
        raise errors.deepcopy_of_non_leaf()
    storage = copy.deepcopy(self._storage, memo)
    made = as_class(
        self.__class__, build(self._key, self._sizes, self._strides, self._offset, storage)
    )
    memo[id(self)] = made
    if self._meta is not None and self._meta.grad is not None:
        made.grad = copy.deepcopy(self._meta.grad, memo)
    if self.__dict__:
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return made
