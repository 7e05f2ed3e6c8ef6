"""Scratch memory for NVIDIA's libraries: one piece per stream, since a stream works in order."""

from __future__ import annotations

import numpy as np

from runtime.backends.cuda import memory, streams
from runtime.backends.cuda.buffer import DeviceBuffer

BYTES = 32 << 20
"""What NVIDIA recommends for Hopper; older devices need less."""

_by_stream: dict[tuple[int, int], DeviceBuffer] = {}


def current(index: int) -> tuple[int, int]:
    """Return (address of the current stream's workspace, the stream)."""
    stream = streams.current_handle(index)
    found = _by_stream.get((index, stream))
    if found is None:
        found = memory.allocator(index).buffer(BYTES, np.dtype(np.uint8), stream)
        _by_stream[index, stream] = found
    return found.address, stream


def forget() -> None:
    """Give all workspaces back."""
    _by_stream.clear()
