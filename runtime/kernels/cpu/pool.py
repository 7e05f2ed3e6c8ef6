"""Large buffers that are kept when freed, and lent again: fresh pages cost more than arithmetic.

When the last array over a buffer has gone - views, gradients, NumPy's and DLPack's included, since
each keeps what it looks at alive -, its memory returns. Kept are buffers of 1 MiB and more, up to
as many bytes as `set_limit` says. Compiled code lends and takes back (`compiled_pool`); where
NumPy's arrays do not look as it expects, Python does (`python_pool`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any

from torchgen_out._runtime import config
from torchgen_out._runtime.kernels.cpu.aligned import empty_of
from torchgen_out._runtime.kernels.cpu.compiled_pool import CompiledPool
from torchgen_out._runtime.kernels.cpu.python_pool import PythonPool, class_size
from torchgen_out._runtime.kernels.machine import array_memory
from torchgen_out._runtime.kernels.machine.pool_text import LEAST_BYTES, STEPS

__all__ = [
    "LEAST_BYTES",
    "MOST_KEPT",
    "STEPS",
    "any_size",
    "class_size",
    "empty",
    "empty_cache",
    "maker",
    "max_memory_allocated",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "set_limit",
]

MOST_KEPT = 1 << 30
_first_limit = min(MOST_KEPT, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 8)
_first_limit = max(config.env_int("TORCHGEN_KEPT_MEGABYTES", _first_limit >> 20), 0) << 20
_pools: dict[str, CompiledPool | PythonPool] = {}
"""The process's own, whichever thread made it."""


@cache
def _pool() -> CompiledPool | PythonPool:
    kind = CompiledPool if array_memory.is_possible() else PythonPool
    return _pools.setdefault("own", kind(_first_limit))


def empty(numel: int, dtype: Any) -> Any:
    """A vector of undefined values, which begins at a cache line."""
    return any_size(dtype)(numel)


def maker(nbytes: int, dtype: Any) -> Callable[[int], Any]:
    """make(numel): what makes such vectors of a dtype and of some bytes."""
    return (empty_of if nbytes < LEAST_BYTES else any_size)(dtype)


@cache
def any_size(dtype: Any) -> Callable[[int], Any]:
    """make(numel): the same for vectors of all sizes."""
    return _pool().make_lender(dtype)


def empty_cache() -> None:
    """Give the memory that is kept, but not lent, back to the system."""
    _pool().empty_cache()


def set_limit(nbytes: int) -> None:
    """Keep at most so many bytes of freed buffers; 0 keeps none.

    Raises: ValueError if negative.
    """
    if nbytes < 0:
        raise ValueError(f"limit: expected a number of bytes from 0 on, got {nbytes}")
    _pool().set_limit(nbytes)


def memory_stats() -> dict[str, int]:
    """Numbers of large buffers: bytes in use (now, at most), bytes kept for reuse, the limit of
    these; how often a buffer was kept memory (hits), how often new (misses).
    """
    counts = _pool().counts()
    return {
        "allocated_bytes.all.current": counts["allocated"],
        "allocated_bytes.all.peak": counts["most_allocated"],
        "reserved_bytes.all.current": counts["allocated"] + counts["kept"],
        "kept_bytes.limit": counts["limit"],
        "hits": counts["hits"],
        "misses": counts["misses"],
    }


def memory_allocated() -> int:
    """How many bytes of large buffers are in use."""
    return _pool().counts()["allocated"]


def max_memory_allocated() -> int:
    """The most bytes of large buffers that were in use at a time."""
    return _pool().counts()["most_allocated"]


def memory_reserved() -> int:
    """How many bytes of large buffers are in use or kept for reuse."""
    counts = _pool().counts()
    return counts["allocated"] + counts["kept"]


def reset_peak_memory_stats() -> None:
    """Let the peak begin at what is in use now."""
    _pool().reset_peak()
