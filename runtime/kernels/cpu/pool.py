"""Large buffers that are kept when freed, and lent again: fresh pages cost more than arithmetic.

A buffer is lent as an array whose base is an object of its own; when the last array over it has
gone - views, gradients, NumPy's and DLPack's included, since each keeps the base alive -, the base
goes, too, and its memory returns. Kept are buffers of 1 MiB and more, up to as
many bytes as `set_limit` says.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from ctypes import c_char
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np

from torchgen_out._runtime import config
from torchgen_out._runtime.core import shape
from torchgen_out._runtime.forks import at_fork
from torchgen_out._runtime.kernels.cpu.aligned import CACHE_LINE, empty_of

LEAST_BYTES = 1 << 20
STEPS = 16  # size classes between two powers of two: at most a sixteenth is wasted
MOST_KEPT = 1 << 30


class _Loan(weakref.ref[Any]):
    """A reference to the base of what is lent, that keeps the memory."""

    __slots__ = ("memory",)

    memory: Any


_free: dict[int, list[Any]] = {}
"""Kept memory by size."""
_loans: dict[int, _Loan] = {}
"""What is lent; a reference that is gone itself would not be told."""


class _Counts:
    """Bytes in use, the most so far, and bytes kept; how often these served."""

    __slots__ = ("allocated", "hits", "kept", "misses", "most_allocated")

    def __init__(self) -> None:
        self.allocated = self.kept = self.most_allocated = 0
        self.hits = self.misses = 0


_counts = _Counts()
_lock = threading.RLock()  # a thread that holds it may free a buffer
_limit = min(MOST_KEPT, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 8)
_limit = config.env_int("TORCHGEN_KEPT_MEGABYTES", _limit >> 20) << 20


def empty(numel: int, dtype: Any) -> Any:
    """A vector of undefined values, which begins at a cache line."""
    nbytes = numel * dtype.itemsize
    if nbytes < LEAST_BYTES:
        return empty_of(dtype)(numel)
    size = class_size(nbytes)
    counts = _counts
    with _lock:
        kept = _free.get(size)
        if kept:
            memory = kept.pop()
            counts.kept -= size
            counts.hits += 1
        else:
            shape.check_storable((numel,))
            memory = _new_memory(size)
            counts.misses += 1
        allocated = counts.allocated = counts.allocated + size
        if allocated > counts.most_allocated:
            counts.most_allocated = allocated
    base: Any = (c_char * size).from_buffer(memory)
    loan = _Loan(base, _take_back)
    loan.memory = memory
    _loans[id(loan)] = loan
    return np.ndarray(numel, dtype, base)


def maker(nbytes: int, dtype: Any) -> Callable[[int], Any]:
    """make(numel): what makes such vectors of a dtype and of some bytes."""
    return empty_of(dtype) if nbytes < LEAST_BYTES else partial(empty, dtype=dtype)


@cache
def any_size(dtype: Any) -> Callable[[int], Any]:
    """make(numel): the same for vectors of all sizes."""
    small, least = empty_of(dtype), LEAST_BYTES // dtype.itemsize

    def make(numel: int) -> Any:
        return small(numel) if numel < least else empty(numel, dtype)

    return make


@lru_cache
def class_size(nbytes: int) -> int:
    """The bytes that are set aside for a buffer of some."""
    step = 1 << max(nbytes - 1, 1).bit_length() - STEPS.bit_length()
    return -(-nbytes // step) * step


def _new_memory(size: int) -> Any:
    """Fresh memory that begins at a cache line.

    Raises: MemoryError if there is none, not even without what is kept.
    """
    try:
        whole = np.empty(size + CACHE_LINE, np.uint8)
    except MemoryError:
        empty_cache()
        whole = np.empty(size + CACHE_LINE, np.uint8)
    start = -whole.__array_interface__["data"][0] % CACHE_LINE
    return whole[start : start + size]


def _take_back(loan: _Loan) -> None:
    """Keep what was lent, unless that is too much; called when nothing refers to it any more."""
    if _loans.pop(id(loan), None) is None:
        return
    size = loan.memory.size
    with _lock:
        _counts.allocated -= size
        if _counts.kept + size > _limit:
            empty_cache()
        if size <= _limit:
            _free.setdefault(size, []).append(loan.memory)
            _counts.kept += size


def empty_cache() -> None:
    """Give the memory that is kept, but not lent, back to the system."""
    with _lock:
        _free.clear()
        _counts.kept = 0


def _renew_lock() -> None:
    """A forked child has none of its parent's threads, one of which may hold the lock."""
    global _lock
    _lock = threading.RLock()


at_fork(after_in_child=_renew_lock)


def set_limit(nbytes: int) -> None:
    """Keep at most so many bytes of freed buffers; 0 keeps none.

    Raises: ValueError if negative.
    """
    global _limit
    if nbytes < 0:
        raise ValueError(f"limit: expected a number of bytes from 0 on, got {nbytes}")
    _limit = nbytes
    if _counts.kept > nbytes:
        empty_cache()


def memory_stats() -> dict[str, int]:
    """Numbers of large buffers: bytes in use (now, at most), bytes kept for reuse, the limit of
    these; how often a buffer was kept memory (hits), how often new (misses).
    """
    return {
        "allocated_bytes.all.current": _counts.allocated,
        "allocated_bytes.all.peak": _counts.most_allocated,
        "reserved_bytes.all.current": _counts.allocated + _counts.kept,
        "kept_bytes.limit": _limit,
        "hits": _counts.hits,
        "misses": _counts.misses,
    }


def memory_allocated() -> int:
    """How many bytes of large buffers are in use."""
    return _counts.allocated


def max_memory_allocated() -> int:
    """The most bytes of large buffers that were in use at a time."""
    return _counts.most_allocated


def memory_reserved() -> int:
    """How many bytes of large buffers are in use or kept for reuse."""
    return _counts.allocated + _counts.kept


def reset_peak_memory_stats() -> None:
    """Let the peak begin at what is in use now."""
    _counts.most_allocated = _counts.allocated
