"""Scratch memory for NVIDIA's libraries: one piece per stream, since a stream works in order,
and of its own for each pool of graphs, whose replays may run in any stream."""

from __future__ import annotations

import numpy as np

from torchgen_out._runtime.backends.cuda import memory, streams
from torchgen_out._runtime.backends.cuda.buffer import CUDABuffer

BYTES = 32 << 20
"""What NVIDIA recommends for Hopper; older devices need less."""

_by_stream: dict[tuple[int, int, int], CUDABuffer] = {}


def current(index: int) -> tuple[int, int]:
    """Return (address of the current stream's workspace, the stream)."""
    stream = streams.current_handle(index)
    return _of_stream(index, stream).address, stream


def of(index: int, size: int) -> CUDABuffer:
    """Return memory for one call in the current stream: its workspace, if that is large enough.

    Nobody need keep it when the call is queued: what takes it next works later in that stream.
    """
    stream = streams.current_handle(index)
    if size <= BYTES:
        return _of_stream(index, stream)
    return memory.allocator(index).buffer(size, np.dtype(np.uint8), stream)


def _of_stream(index: int, stream: int) -> CUDABuffer:
    allocator = memory.allocator(index)
    place = index, allocator.pool_of_thread(), stream
    found = _by_stream.get(place)
    if found is None:
        found = _by_stream[place] = allocator.buffer(BYTES, np.dtype(np.uint8), stream)
    return found


def forget(index: int | None = None, pool: int | None = None) -> None:
    """Give the workspaces back: all, or those of a graph's pool."""
    for place in list(_by_stream):
        if pool is None or place[:2] == (index, pool):
            del _by_stream[place]
