"""Writes of a number or a tensor to a basic index, or by small index tensors, lists and masks."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

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
from torchgen_out._runtime.tensor_api.quick_indexing.gathering import SEVERAL_SMALL, at_places

_slice = builtins.slice


def make_writer(key: int) -> Way | None:
    """The way of `tensor[index] = number or tensor`, for a basic index or small index tensors.

    It answers whether it has written.
    """
    own = dtypes.BY_INDEX[key & keys.DTYPE_MASK]
    if not is_on_cpu(key) or key & (keys.GRAD | keys.ZERO_DIM):
        return None
    ranges = _accepted_numbers(own)
    may_index = own in (dtypes.int64, dtypes.bool)
    holds_all = own.kind in "fc"

    def write(self: Tensor, index: Any, value: Any) -> bool:
        if 0 in self._strides:
            return False
        is_at_places = not _is_basic(index)
        if is_at_places and index.__class__ is not tuple:
            index = (index,)
        is_number = not isinstance(value, Tensor)
        if not is_number:
            if value._key & ~keys.ZERO_DIM != key:
                return False
            if is_at_places and value._storage is self._storage:  # the operator refuses overlaps
                return False
            value = value._array()
        else:
            accepted = ranges.get(value.__class__)
            if accepted is None:
                return False
            if not accepted[0] <= value <= accepted[1] and not (holds_all and _is_no_number(value)):
                return False
        if may_index and is_at_places and _is_among(self, index):  # refused, too
            return False
        array = self._array()
        try:
            if is_at_places:
                array, index = _located(array, index, is_number)
            array[index] = value
        except (LookupError, TypeError, ValueError):  # the operators say what is wrong
            return False
        self._storage.version += 1
        return True

    return write


writers = Ways(make_writer)


def _accepted_numbers(own: dtypes.dtype) -> dict[type, tuple[float, float]]:
    """The numbers that NumPy writes as the operators would: the range of each class."""
    if own in (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128):
        most = finfo(own).max
        return {float: (-most, most), int: (-(2**63), 2**63 - 1), bool: (0, 1)}
    if own.kind == "i":
        return {int: (iinfo(own).min, iinfo(own).max), bool: (0, 1)}
    return {int: (0, 1), bool: (0, 1)} if own.kind == "b" else {}


def _is_no_number(value: float) -> bool:
    """Whether it is infinite or nan."""
    return value - value != 0


def _is_among(self: Tensor, items: tuple[Any, ...]) -> bool:
    """Whether an index tensor has the memory of a tensor."""
    own = self._storage
    return any(item.__class__ is Tensor and item._storage is own for item in items)


def _located(array: Any, items: tuple[Any, ...], is_number: bool) -> tuple[Any, tuple[Any, ...]]:
    """An array, and what NumPy indexes it with.

    Raises: LookupError for other items, and for a number under a mask of much, which is a fill.
    """
    located = at_places(array, items)
    if located is None:
        raise LookupError
    if is_number and located[0].size > SEVERAL_SMALL and _has_mask(located[1]):
        raise LookupError
    return located


def _has_mask(index: tuple[Any, ...]) -> bool:
    return any(item.__class__ is np.ndarray and item.dtype == np.bool_ for item in index)


def _is_basic(index: Any) -> bool:
    """Whether an index is an int, a slice that goes forward, `...`, None, or a tuple of these."""
    for item in index if index.__class__ is tuple else (index,):
        cls = item.__class__
        if cls is int or item is None or item is ...:
            continue
        if cls is not _slice or not is_forward(item):
            return False
    return True
