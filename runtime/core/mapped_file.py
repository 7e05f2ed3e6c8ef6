"""Files as memory: their bytes are read when they are used."""

from __future__ import annotations

import mmap
import os
from typing import Any

import numpy as np


def map_file(filename: str | os.PathLike[str], shared: bool, nbytes: int) -> Any:
    """Return the first `nbytes` bytes of a file as an array.

    shared: what is written goes to the file, which is made, and as large as needed. Otherwise it
    stays in this process.
    **Raises** RuntimeError if the file is too small, or `nbytes` negative.
    """
    if nbytes < 0:
        raise RuntimeError(f"from_file: expected a size of 0 or more, got {nbytes}")
    flags = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
    descriptor = os.open(filename, flags, 0o666)
    try:
        size = os.fstat(descriptor).st_size
        if size < nbytes:
            if not shared:
                raise RuntimeError(
                    f"from_file: {nbytes} bytes wanted, file <{os.fspath(filename)}> has {size}"
                )
            os.ftruncate(descriptor, nbytes)
        if not nbytes:
            return np.empty(0, np.uint8)
        access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        return np.frombuffer(mmap.mmap(descriptor, nbytes, access=access), np.uint8)
    finally:
        os.close(descriptor)
