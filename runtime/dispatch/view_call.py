"""Calls of view operators: another geometry over the same storage, for every backend alike."""

from __future__ import annotations

from typing import Any

from runtime.core import key as keys
from runtime.core.size import Size
from runtime.core.tensor import Tensor

_new = object.__new__


def make_view_call(operator: Any, key: int, tracked: bool) -> Any:
    """The call of a view operator for tensors of one key.

    tracked: whether the view knows its base, so that a write to either reaches the other's graph.
    """
    function, same_elements = operator.function, operator.same_elements
    base_key = key & ~(keys.GRAD | keys.ZERO_DIM)

    def call(self: Tensor, *args: Any) -> Tensor:
        geometry = function(self, *args)
        sizes = geometry[0]
        result = _new(Tensor)
        result._key = base_key if sizes else base_key | keys.ZERO_DIM
        result._sizes = sizes if sizes.__class__ is Size else Size(sizes)
        result._strides = geometry[1]
        result._offset = geometry[2]
        result._shared = self._shared or self._storage
        result._flat = self._flat if same_elements else None
        result._base = (self if self._base is None else self._base) if tracked else None
        result._edge = None
        result._meta = None
        if len(geometry) == 4:
            result._key = result._key & ~keys.DTYPE_MASK | geometry[3].index
        return result

    def call_several(self: Tensor, *args: Any) -> tuple[Tensor, ...]:
        results = []
        for sizes, strides, offset in function(self, *args):
            result = _new(Tensor)
            result._key = base_key if sizes else base_key | keys.ZERO_DIM
            result._sizes = Size(sizes)
            result._strides = strides
            result._offset = offset
            result._shared = self._shared or self._storage
            result._flat = None
            result._base = (self if self._base is None else self._base) if tracked else None
            result._edge = None
            result._meta = None
            results.append(result)
        return tuple(results)

    return call_several if operator.several else call
