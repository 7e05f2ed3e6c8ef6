"""Vectors of undefined values that begin at a cache line.

The widest vectors are whole cache lines: read from elsewhere, each costs two. NumPy's memory begins
at a multiple of 16 bytes, and looking for the line in a larger array takes 1.5 us in Python.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from torchgen_out._runtime.kernels.machine import callers, library

CACHE_LINE = 64


@cache
def empty_of(dtype: Any) -> Any:
    """empty(count): what makes vectors of a dtype."""
    library.prepare()
    return callers.empty_of(dtype)
