"""What pickle and `copy.deepcopy` make of a device's memory: its bytes, by way of the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.backends.cuda import faults, memory, streams
from torchgen_out._runtime.backends.cuda.buffer import CUDABuffer


def reduce(buffer: CUDABuffer) -> tuple[Any, ...]:
    """How to make the memory again on the device of the same number. Waits for what it holds."""
    index = buffer.device_index
    host = np.empty(buffer.size, buffer.dtype)
    if host.size:
        stream = streams.current_handle(index)
        faults.copy_and_wait(index, host.ctypes.data, buffer.address, host.nbytes, stream)
    return restore, (host, index)


def restore(host: np.ndarray, index: int) -> CUDABuffer:
    """Make new memory of a device that holds these elements."""
    stream = streams.current_handle(index)
    made: CUDABuffer = memory.allocator(index).buffer(host.size, host.dtype, stream)
    if host.size:
        faults.copy_and_wait(index, made.address, host.ctypes.data, host.nbytes, stream)
    return made
