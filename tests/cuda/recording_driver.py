"""A driver that does nothing but remember what it was asked."""

from __future__ import annotations

from itertools import count
from typing import Any

from runtime.backends.cuda.driver import DeviceProperties

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


class RecordingDriver:
    """Answers as if all work were done at once. calls: (name, arguments) in order."""

    def __init__(self, devices: int = 2) -> None:
        self.devices = devices
        self.calls: list[tuple[Any, ...]] = []
        self.pending: set[int] = set()
        """Events and streams that are said not to be done."""
        self._handles = count(1)

    def named(self, name: str) -> list[tuple[Any, ...]]:
        """The arguments of all calls of one name."""
        return [call[1:] for call in self.calls if call[0] == name]

    def device_count(self) -> int:
        return self.devices

    def properties(self, device: int) -> DeviceProperties:
        return PROPERTIES

    def can_access_peer(self, device: int, peer: int) -> bool:
        return device != peer

    def memory_info(self, device: int) -> tuple[int, int]:
        return 1 << 29, 1 << 30

    def synchronize(self, device: int) -> None:
        self.calls.append(("synchronize", device))

    def create_stream(self, device: int, priority: int) -> int:
        self.calls.append(("create_stream", device, priority))
        return next(self._handles)

    def is_stream_done(self, device: int, stream: int) -> bool:
        return stream not in self.pending

    def synchronize_stream(self, device: int, stream: int) -> None:
        self.calls.append(("synchronize_stream", device, stream))

    def create_event(self, device: int, timing: bool, blocking: bool) -> int:
        self.calls.append(("create_event", device, timing, blocking))
        return next(self._handles)

    def destroy_event(self, device: int, event: int) -> None:
        self.calls.append(("destroy_event", device, event))

    def record_event(self, device: int, event: int, stream: int) -> None:
        self.calls.append(("record_event", device, event, stream))

    def wait_event(self, device: int, stream: int, event: int) -> None:
        self.calls.append(("wait_event", device, stream, event))

    def is_event_done(self, device: int, event: int) -> bool:
        return event not in self.pending

    def synchronize_event(self, device: int, event: int) -> None:
        self.calls.append(("synchronize_event", device, event))

    def elapsed_time(self, device: int, start: int, end: int) -> float:
        return float(end - start)
