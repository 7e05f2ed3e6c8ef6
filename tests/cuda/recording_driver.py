"""A driver that does nothing but remember what it was asked, and refuses what NVIDIA's would."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from torchgen_out._runtime.backends.cuda.driver import (
    DeviceProperties,
    Grid,
    MemoryExhausted,
    Values,
)
from torchgen_out._runtime.backends.cuda.parameters import Parameters
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source

PROPERTIES = DeviceProperties(
    name="Recorded",
    major=9,
    minor=0,
    total_memory=1 << 30,
    multi_processor_count=132,
    max_threads_per_multi_processor=2048,
    warp_size=32,
    regs_per_multiprocessor=65536,
    shared_memory_per_block=49152,
    shared_memory_per_block_optin=232448,
    shared_memory_per_multiprocessor=233472,
    L2_cache_size=52428800,
    is_integrated=False,
    is_multi_gpu_board=False,
)


FIRST_STREAM = 1 << 12
"""Handles of streams are addresses; small numbers have meanings of their own."""
DEFAULT_STREAMS = (0, 1, 2)
"""What a device has without having made it."""
MOST_BLOCKS = (1 << 31) - 1, (1 << 16) - 1
MOST_THREADS = 1024


class Refused(AssertionError):
    """NVIDIA's driver would answer this call with an error."""


@dataclass
class RecordedEvent:
    """What there is to an event."""

    device: int
    timing: bool
    recorded: bool = False


class RecordingDriver:
    """Answers as if all work were done at once. calls: (name, arguments) in order."""

    def __init__(self, devices: int = 2, capacity: int = 1 << 30) -> None:
        self.devices = devices
        self.capacity, self.in_use = capacity, 0
        self.sizes: dict[int, int] = {}
        self.host: dict[int, Any] = {}
        self.sources: dict[int, Source] = {}
        self._next_address = 1 << 40
        self.calls: list[tuple[Any, ...]] = []
        self.pending: set[int] = set()
        """Events and streams that are said not to be done."""
        self.entered = -1
        """The device whose context is current."""
        self.streams: dict[int, int] = {}
        """The device of each stream that was made here; those of other libraries are not known."""
        self.events: dict[int, RecordedEvent] = {}
        self.is_relaxed = False
        """Whether calls are allowed that a capture forbids."""
        self._handles = count(1)

    def named(self, name: str) -> list[tuple[Any, ...]]:
        """The arguments of all calls of one name."""
        return [call[1:] for call in self.calls if call[0] == name]

    def _check_stream(self, device: int, stream: int) -> None:
        if not 0 <= device < self.devices:
            raise Refused(f"CUDA_ERROR_INVALID_DEVICE: {device}")
        if stream not in DEFAULT_STREAMS and self.streams.get(stream, device) != device:
            raise Refused(f"CUDA_ERROR_INVALID_HANDLE: stream {stream:#x} is not of cuda:{device}")

    def _check_event(self, event: int, device: int | None = None) -> RecordedEvent:
        found = self.events.get(event)
        if found is None or device not in (None, found.device):
            raise Refused(f"CUDA_ERROR_INVALID_HANDLE: event {event} on cuda:{device}")
        return found

    def enter(self, device: int) -> None:
        assert 0 <= device < self.devices
        self.entered = device

    def device_count(self) -> int:
        return self.devices

    def properties(self, device: int) -> DeviceProperties:
        return PROPERTIES

    def can_access_peer(self, device: int, peer: int) -> bool:
        return device != peer

    def memory_info(self, device: int) -> tuple[int, int]:
        return self.capacity - self.in_use, self.capacity

    def synchronize(self, device: int) -> None:
        self.calls.append(("synchronize", device))

    def create_stream(self, device: int, priority: int) -> int:
        self.calls.append(("create_stream", device, priority))
        stream = FIRST_STREAM + next(self._handles)
        self.streams[stream] = device
        return stream

    def is_stream_done(self, device: int, stream: int) -> bool:
        self._check_stream(device, stream)
        return stream not in self.pending

    def synchronize_stream(self, device: int, stream: int) -> None:
        self._check_stream(device, stream)
        self.calls.append(("synchronize_stream", device, stream))

    def create_event(self, device: int, timing: bool, blocking: bool) -> int:
        self.calls.append(("create_event", device, timing, blocking))
        event = next(self._handles)
        self.events[event] = RecordedEvent(device, timing)
        return event

    def destroy_event(self, device: int, event: int) -> None:
        self._check_event(event)
        del self.events[event]
        self.calls.append(("destroy_event", device, event))

    def record_event(self, device: int, event: int, stream: int) -> None:
        self._check_stream(device, stream)
        self._check_event(event, device).recorded = True
        self.calls.append(("record_event", device, event, stream))

    def wait_event(self, device: int, stream: int, event: int) -> None:
        self._check_stream(device, stream)
        self._check_event(event)
        self.calls.append(("wait_event", device, stream, event))

    def is_event_done(self, device: int, event: int) -> bool:
        self._check_event(event)
        return event not in self.pending

    def synchronize_event(self, device: int, event: int) -> None:
        self._check_event(event)
        self.calls.append(("synchronize_event", device, event))

    def elapsed_time(self, device: int, start: int, end: int) -> float:
        for each in (start, end):
            found = self._check_event(each, self.events[start].device)
            if not (found.timing and found.recorded):
                raise Refused(f"CUDA_ERROR_INVALID_HANDLE: event {each} takes no time")
        return float(end - start)

    def allocate(self, device: int, size: int, stream: int) -> int:
        self._check_stream(device, stream)
        if not size:
            raise Refused("CUDA_ERROR_INVALID_VALUE: memory of no bytes")
        if self.in_use + size > self.capacity:
            self.calls.append(("refuse", device, size))
            raise MemoryExhausted
        self.in_use += size
        address = self._next_address
        self._next_address += size
        self.sizes[address] = size
        self.calls.append(("allocate", device, size, stream))
        return address

    def free(self, device: int, address: int, stream: int) -> None:
        self._check_stream(device, stream)
        self.in_use -= self.sizes.pop(address)
        self.calls.append(("free", device, address, stream))

    def device_of(self, address: int) -> int:
        return 0

    def allocate_host(self, device: int, size: int) -> int:
        memory = ctypes.create_string_buffer(size)
        self.host[ctypes.addressof(memory)] = memory
        return ctypes.addressof(memory)

    def free_host(self, device: int, address: int) -> None:
        del self.host[address]

    def copy(self, device: int, target: int, source: int, size: int, stream: int) -> None:
        self._check_stream(device, stream)
        self.calls.append(("copy", device, target, source, size, stream))

    def copy_peer(
        self, target_device: int, target: int, device: int, source: int, size: int, stream: int
    ) -> None:
        self._check_stream(device, stream)
        self.calls.append(("copy_peer", target_device, target, device, source, size, stream))

    def fill(self, device: int, address: int, byte: int, size: int, stream: int) -> None:
        self._check_stream(device, stream)
        self.calls.append(("fill", device, address, byte, size, stream))

    def write(self, device: int, address: int, data: bytes, stream: int) -> None:
        self._check_stream(device, stream)
        self.calls.append(("write", device, address, data, stream))

    @contextmanager
    def relaxed(self) -> Iterator[None]:
        before, self.is_relaxed = self.is_relaxed, True
        try:
            yield
        finally:
            self.is_relaxed = before

    def allocate_fixed(self, device: int, size: int) -> int:
        return self.allocate(device, size, 0)

    def free_fixed(self, device: int, address: int) -> None:
        self.free(device, address, 0)

    def begin_capture(self, device: int, stream: int, mode: str) -> None:
        self._check_stream(device, stream)
        if stream in DEFAULT_STREAMS[:2]:
            raise Refused("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: the default stream")
        assert mode in ("global", "thread_local", "relaxed")
        self.calls.append(("begin_capture", device, stream))

    def end_capture(self, device: int, stream: int) -> int:
        self.calls.append(("end_capture", device, stream))
        return next(self._handles)

    def instantiate(self, device: int, graph: int) -> int:
        return next(self._handles)

    def launch_graph(self, device: int, executable: int, stream: int) -> None:
        self.calls.append(("launch_graph", device, executable, stream))

    def destroy_graph(self, device: int, graph: int, executable: int) -> None:
        self.calls.append(("destroy_graph", device, graph, executable))

    def load(self, device: int, source: Source) -> int:
        handle = next(self._handles)
        self.sources[handle] = source
        self.calls.append(("load", device, source.name))
        return handle

    def launch(
        self, device: int, kernel: int, grid: Grid, block: Grid, stream: int, values: Values
    ) -> None:
        source = self.sources[kernel]
        assert len(values) == len(source.arguments), source.name
        Parameters(source.arguments).pack(values)
        self._check_stream(device, stream)
        check_launch(source, grid, block, values)
        self.calls.append(("launch", device, source.name, grid, block, stream, tuple(values)))


def check_launch(source: Source, grid: Grid, block: Grid, values: Values) -> None:
    """Refuse what no device runs: empty or too large grids and blocks, elements between others.

    Raises: Refused.
    """
    blocks = all(1 <= size <= most for size, most in zip(grid, MOST_BLOCKS, strict=True))
    if not blocks or not 1 <= block[0] * block[1] <= min(source.threads, MOST_THREADS):
        raise Refused(f"CUDA_ERROR_INVALID_VALUE: {source.name} over {grid} blocks of {block}")
    for name, value in zip(source.arguments, values, strict=True):
        if name.endswith("*") and value % _alignment(name.rstrip("*")):
            raise Refused(f"CUDA_ERROR_MISALIGNED_ADDRESS: {source.name}, {name} {value:#x}")


def _alignment(name: str) -> int:
    """How the elements of an array are aligned; complex numbers as the compiler reads them."""
    return np.dtype({"bool": "bool_"}.get(name, name)).itemsize
