"""Arrays beside pages that must not be touched: whoever reads beyond them ends the process."""

from __future__ import annotations

import ctypes
import mmap
from math import prod
from typing import Any

import numpy as np

_DENIED = 0  # PROT_NONE


def guarded(shape: tuple[int, ...], dtype: Any, at_end: bool) -> np.ndarray:
    """An array of zeros whose first byte follows such a page, or whose last one precedes one."""
    nbytes = prod(shape) * np.dtype(dtype).itemsize
    pages = -(-nbytes // mmap.PAGESIZE)
    memory = mmap.mmap(-1, (pages + 2) * mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for page in (0, pages + 1):
        assert protect(start + page * mmap.PAGESIZE, mmap.PAGESIZE, _DENIED) == 0
    offset = mmap.PAGESIZE + (pages * mmap.PAGESIZE - nbytes if at_end else 0)
    return np.frombuffer(memory, dtype, prod(shape), offset).reshape(shape)


def guarded_copy(array: np.ndarray, at_end: bool) -> np.ndarray:
    """The same numbers in such memory."""
    copy = guarded(array.shape, array.dtype, at_end)
    copy[...] = array
    return copy
