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
    numbers, low, high = _accepted_numbers(own)

    def write(self: Tensor, index: Any, value: Any) -> bool:
        if 0 in self._strides:
            return False
        if not _is_basic(index):
            index = several_places(index if index.__class__ is tuple else (index,))
            if index is None:
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


def _accepted_numbers(own: dtypes.dtype) -> tuple[tuple[Any, ...], float, float]:
    """The classes and the range of the numbers that NumPy writes as the operators would."""
    if own in (dtypes.float32, dtypes.float64):
        return (float, int, bool), -finfo(own).max, finfo(own).max
    if own.kind == "i":
        return (int, bool), iinfo(own).min, iinfo(own).max
    if own.kind == "b":
        return (bool,), 0, 1
    return (), 0, 0


def _is_basic(index: Any) -> bool:
    """Whether an index is an int, a slice that goes forward, or a tuple of these."""
    for item in index if index.__class__ is tuple else (index,):
        cls = item.__class__
        if cls is not int and (cls is not _slice or not is_forward(item)):
            return False
    return True
