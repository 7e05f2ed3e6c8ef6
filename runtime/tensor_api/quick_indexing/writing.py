"""Writes of a number or a tensor to a basic index, or where small index tensors say."""

from __future__ import annotations

import builtins
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.finfo import finfo, iinfo
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.tensor_api.quick_indexing.fast_paths import (
    Way,
    Ways,
    is_forward,
    is_on_cpu,
)
from torchgen_out._runtime.tensor_api.quick_indexing.gathering import several_places

_slice = builtins.slice


def make_writer(key: int) -> Way | None:
    """The way of `tensor[index] = number or tensor`, for a basic index or small index tensors.

    It answers whether it has written.
    """
    own = dtypes.BY_INDEX[key & keys.DTYPE_MASK]
    if not is_on_cpu(key) or key & (keys.GRAD | keys.ZERO_DIM):
        return None
    ranges = _accepted_numbers(own)

    def write(self: Tensor, index: Any, value: Any) -> bool:
        if 0 in self._strides:
            return False
        is_at_places = not _is_basic(index)
        if is_at_places:
            index = several_places(index if index.__class__ is tuple else (index,))
            if index is None:
                return False
        if isinstance(value, Tensor):
            if value._key & ~keys.ZERO_DIM != key:
                return False
            if is_at_places and value._storage is self._storage:  # the operator refuses overlaps
                return False
            value = value._array()
        else:
            accepted = ranges.get(value.__class__)
            if accepted is None or not accepted[0] <= value <= accepted[1]:
                return False
        try:
            self._array()[index] = value
        except (IndexError, ValueError):  # the operators say what is wrong
            return False
        self._storage.version += 1
        return True

    return write


writers = Ways(make_writer)


def _accepted_numbers(own: dtypes.dtype) -> dict[type, tuple[float, float]]:
    """The numbers that NumPy writes as the operators would: the range of each class."""
    if own in (dtypes.float32, dtypes.float64):
        most = finfo(own).max
        return {float: (-most, most), int: (-(2**63), 2**63 - 1), bool: (0, 1)}
    if own.kind == "i":
        return {int: (iinfo(own).min, iinfo(own).max), bool: (0, 1)}
    return {bool: (0, 1)} if own.kind == "b" else {}


def _is_basic(index: Any) -> bool:
    """Whether an index is an int, a slice that goes forward, or a tuple of these."""
    for item in index if index.__class__ is tuple else (index,):
        cls = item.__class__
        if cls is not int and (cls is not _slice or not is_forward(item)):
            return False
    return True
