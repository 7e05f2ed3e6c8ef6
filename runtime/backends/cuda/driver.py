"""What the backend asks of the CUDA driver. Handles and addresses are ints, sizes are bytes.

`bindings` answers with NVIDIA's driver; tests put a recording driver in its place (`use`).
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Protocol

from runtime.backends.cuda import availability


@dataclass(frozen=True)
class DeviceProperties:
    """What a device is. Names are PyTorch's."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    max_threads_per_multi_processor: int
    warp_size: int
    regs_per_multiprocessor: int
    shared_memory_per_block: int
    shared_memory_per_block_optin: int
    shared_memory_per_multiprocessor: int
    L2_cache_size: int
    is_integrated: bool
    is_multi_gpu_board: bool


DeviceProperties.__module__ = "torchgen_out.cuda"


class Driver(Protocol):
    """The driver's calls. `device` is an index; each call makes that device's context current.

    Raises, all of them: RuntimeError ("CUDA error: ...") where the driver refuses.
    """

    def device_count(self) -> int:
        """How many devices there are."""

    def properties(self, device: int) -> DeviceProperties:
        """What a device is."""

    def can_access_peer(self, device: int, peer: int) -> bool:
        """Whether one device can read the memory of another."""

    def memory_info(self, device: int) -> tuple[int, int]:
        """(free, total) bytes of a device."""

    def synchronize(self, device: int) -> None:
        """Wait for all work of a device."""

    def create_stream(self, device: int, priority: int) -> int:
        """A new stream, which does not wait for the default stream."""

    def is_stream_done(self, device: int, stream: int) -> bool:
        """Whether all work of a stream is done."""

    def synchronize_stream(self, device: int, stream: int) -> None:
        """Wait for all work of a stream."""

    def create_event(self, device: int, timing: bool, blocking: bool) -> int:
        """A new event. blocking: whether a thread that waits for it sleeps."""

    def destroy_event(self, device: int, event: int) -> None:
        """Give an event back."""

    def record_event(self, device: int, event: int, stream: int) -> None:
        """Let an event happen when the work so far of a stream is done."""

    def wait_event(self, device: int, stream: int, event: int) -> None:
        """Let a stream wait for an event."""

    def is_event_done(self, device: int, event: int) -> bool:
        """Whether an event has happened."""

    def synchronize_event(self, device: int, event: int) -> None:
        """Wait for an event."""

    def elapsed_time(self, device: int, start: int, end: int) -> float:
        """Milliseconds between two events."""


_driver: Driver | None = None


def current() -> Driver:
    """Return the driver, opened by the first who asks.

    Raises: RuntimeError saying what is missing where CUDA cannot be used.
    """
    global _driver
    if _driver is None:
        availability.require()
        module = importlib.import_module("runtime.backends.cuda.bindings")
        _driver = module.BindingsDriver()
    return _driver


def is_open() -> bool:
    """Return whether somebody has asked for the driver."""
    return _driver is not None


def use(driver: Driver | None) -> Driver | None:
    """Put a driver in the place of NVIDIA's, None for that one again; return the one before."""
    global _driver
    before, _driver = _driver, driver
    return before
