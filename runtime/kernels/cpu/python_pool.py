"""Large buffers lent and taken back by Python, where compiled code cannot (`compiled_pool`).

A buffer is lent as an array whose base is an object of its own; when the last array over it has
gone, the base goes, too, and its memory returns.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from ctypes import c_char
from functools import lru_cache
from typing import Any

import numpy as np

from torchgen_out._runtime.core import shape
from torchgen_out._runtime.forks import at_fork
from torchgen_out._runtime.kernels.cpu.aligned import CACHE_LINE, empty_of
from torchgen_out._runtime.kernels.machine.pool_text import COUNTS, LEAST_BYTES, STEPS


@lru_cache
def class_size(nbytes: int) -> int:
    """The bytes that are set aside for a buffer of some."""
    step = 1 << max(nbytes - 1, 1).bit_length() - STEPS.bit_length()
    return -(-nbytes // step) * step


class _Loan(weakref.ref[Any]):
    """A reference to the base of what is lent, that keeps the memory."""

    __slots__ = ("memory",)

    memory: Any


class PythonPool:
    """A pool of arrays of bytes, by their size."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._allocated = self._most_allocated = self._kept = 0
        self._hits = self._misses = 0
        self._free: dict[int, list[Any]] = {}
        self._loans: dict[int, _Loan] = {}  # a reference that is gone itself would not be told
        self._renew_lock()
        at_fork(after_in_child=self._renew_lock)

    def _renew_lock(self) -> None:
        """A forked child has none of its parent's threads, one of which may hold the lock."""
        self._lock = threading.RLock()  # a thread that holds it may free a buffer

    def make_lender(self, dtype: Any) -> Callable[[int], Any]:
        """lend(numel): vectors of a dtype and of any size, the large ones lent."""
        small, least = empty_of(dtype), LEAST_BYTES // dtype.itemsize

        def lend(numel: int) -> Any:
            return small(numel) if numel < least else self._lent(numel, dtype)

        return lend

    def _lent(self, numel: int, dtype: Any) -> Any:
        size = class_size(numel * dtype.itemsize)
        with self._lock:
            kept = self._free.get(size)
            if kept:
                memory = kept.pop()
                self._kept -= size
                self._hits += 1
            else:
                shape.check_storable((numel,))
                memory = self._new_memory(size)
                self._misses += 1
            self._allocated += size
            self._most_allocated = max(self._most_allocated, self._allocated)
        base: Any = (c_char * size).from_buffer(memory)
        loan = _Loan(base, self._take_back)
        loan.memory = memory
        self._loans[id(loan)] = loan
        return np.ndarray(numel, dtype, base)

    def _new_memory(self, size: int) -> Any:
        """Fresh memory that begins at a cache line.

        Raises: MemoryError if there is none, not even without what is kept.
        """
        try:
            whole = np.empty(size + CACHE_LINE, np.uint8)
        except MemoryError:
            self.empty_cache()
            whole = np.empty(size + CACHE_LINE, np.uint8)
        start = -whole.__array_interface__["data"][0] % CACHE_LINE
        return whole[start : start + size]

    def _take_back(self, loan: _Loan) -> None:
        """Keep what was lent, unless that is too much; called when nothing refers to it."""
        if self._loans.pop(id(loan), None) is None:
            return
        size = loan.memory.size
        with self._lock:
            self._allocated -= size
            if self._kept + size > self._limit:
                self.empty_cache()
            if size <= self._limit:
                self._free.setdefault(size, []).append(loan.memory)
                self._kept += size

    def empty_cache(self) -> None:
        """Give the memory that is kept, but not lent, back to the system."""
        with self._lock:
            self._free.clear()
            self._kept = 0

    def set_limit(self, nbytes: int) -> None:
        """Keep at most so many bytes."""
        self._limit = nbytes
        if self._kept > nbytes:
            self.empty_cache()

    def counts(self) -> dict[str, int]:
        """The numbers of now: COUNTS."""
        return {name: getattr(self, f"_{name}") for name in COUNTS}

    def reset_peak(self) -> None:
        """Let the most bytes in use begin at what is in use now."""
        self._most_allocated = self._allocated
