"""Numbers that libraries read from the host's memory, by address."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from torchgen_out._runtime.core import dtype as dtypes


@lru_cache(maxsize=1024)
def _number(value: Any, dtype: str) -> tuple[np.ndarray, int]:
    made = np.array([value], dtype)
    return made, int(made.ctypes.data)


def number(value: Any, dtype: dtypes.dtype) -> tuple[np.ndarray, int]:
    """Return (memory that holds a factor, its address), of the type in which is computed.

    The address is good as long as the memory is kept.
    """
    return _number(value, dtype.opmath.name)
