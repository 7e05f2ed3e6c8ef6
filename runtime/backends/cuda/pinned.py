"""Page-locked memory of the host, which devices read and write while the host goes on."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np

from runtime.backends.cuda import current, driver
from runtime.core import key as keys
from runtime.core import shape as shapes
from runtime.core.storage import Storage
from runtime.core.tensor import Tensor, build


class PinnedStorage(Storage):
    """Storage in page-locked memory."""

    __slots__ = ()
    is_pinned = True


def pin(tensor: Tensor) -> Tensor:
    """Return a contiguous copy of a host tensor in page-locked memory, below autograd."""
    array = tensor._array()
    buffer = _allocate(array.size, array.dtype)
    buffer.reshape(array.shape)[...] = array
    strides = shapes.contiguous_strides(tensor._sizes)
    key = tensor._key & ~keys.GRAD
    return build(key, tensor._sizes, strides, 0, PinnedStorage(buffer), buffer)


def _allocate(size: int, dtype: np.dtype[Any]) -> np.ndarray:
    """An array of page-locked memory, given back when nobody sees it any more."""
    if not size:
        return np.empty(0, dtype)
    opened, index = driver.current(), current.current_device()
    address = opened.allocate_host(index, size * dtype.itemsize)
    memory = (ctypes.c_char * (size * dtype.itemsize)).from_address(address)
    weakref.finalize(memory, opened.free_host, index, address).atexit = False
    return np.frombuffer(memory, dtype)
