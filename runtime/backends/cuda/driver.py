"""What the backend asks of the CUDA driver. Handles and addresses are ints, sizes are bytes.

`bindings` answers with NVIDIA's driver; tests put a recording driver in its place (`use`).
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda import availability
from torchgen_out._runtime.forks import at_fork

if TYPE_CHECKING:
    from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source


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


Grid = tuple[int, int]
"""Blocks of a grid, or threads of a block, in two dims."""
Values = Sequence[Any]


def word_size(address: int, size: int) -> int:
    """Return the bytes of the words in which memory can be written: 1, 2 or 4."""
    both = address | size
    return min(both & -both, 4)


class MemoryExhausted(Exception):
    """The driver has no memory left."""


DeviceProperties.__module__ = "torchgen_out.cuda"


class Driver(Protocol):
    """The driver's calls. `device` is an index; each call makes that device's context current.

    Raises, all of them: RuntimeError ("CUDA error: ...") where the driver refuses.
    """

    def enter(self, device: int) -> None:
        """Make a device's context current in this thread, for calls that are not the driver's."""

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
        """Give an event back. Raises nothing: nobody would hear it."""

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

    def allocate(self, device: int, size: int, stream: int) -> int:
        """The address of new memory, for use in a stream.

        Raises: MemoryExhausted.
        """

    def free(self, device: int, address: int, stream: int) -> None:
        """Give memory back when the work so far of a stream is done."""

    def device_of(self, address: int) -> int:
        """The device on which an address lies."""

    def allocate_host(self, device: int, size: int) -> int:
        """The address of new page-locked memory of the host, for it and for all devices.

        Also while work is written down. Raises: MemoryExhausted.
        """

    def free_host(self, device: int, address: int) -> None:
        """Give page-locked memory back, of which no device has any more to read or write."""

    def copy(self, device: int, target: int, source: int, size: int, stream: int) -> None:
        """Copy bytes between addresses of a device or of the host."""

    def copy_peer(
        self, target_device: int, target: int, device: int, source: int, size: int, stream: int
    ) -> None:
        """Copy bytes of `device` to another device; the stream is `device`'s."""

    def fill(self, device: int, address: int, byte: int, size: int, stream: int) -> None:
        """Set bytes."""

    def write(self, device: int, address: int, data: bytes, stream: int) -> None:
        """Write a few bytes, in words that suit their address: taken along, so nobody waits."""

    def load(self, device: int, source: Source) -> int:
        """A kernel, compiled for the device."""

    def begin_capture(self, device: int, stream: int, mode: str) -> None:
        """Write down the work of a stream from now on, instead of doing it.

        mode: what other calls are refused meanwhile: "global", "thread_local" or "relaxed".
        """

    def end_capture(self, device: int, stream: int) -> int:
        """The graph of what was written down."""

    def instantiate(self, device: int, graph: int) -> int:
        """A graph made ready to run."""

    def launch_graph(self, device: int, executable: int, stream: int) -> None:
        """Do the work of a graph."""

    def destroy_graph(self, device: int, graph: int, executable: int) -> None:
        """Give a graph back, and what was made ready of it. Raises nothing."""

    def relaxed(self) -> AbstractContextManager[None]:
        """A block whose calls take no part in what is captured, and are allowed meanwhile."""

    def allocate_fixed(self, device: int, size: int) -> int:
        """The address of new memory of no stream, also while work is written down.

        Raises: MemoryExhausted.
        """

    def free_fixed(self, device: int, address: int) -> None:
        """Give such memory back; waits for the device."""

    def launch(
        self, device: int, kernel: int, grid: Grid, block: Grid, stream: int, values: Values
    ) -> None:
        """Run a kernel. values: its arguments, addresses and numbers."""


_driver: Driver | None = None


def current() -> Driver:
    """Return the driver, opened by the first who asks.

    Raises: RuntimeError saying what is missing where CUDA cannot be used.
    """
    global _driver
    if _driver is None:
        availability.require()
        module = importlib.import_module("torchgen_out._runtime.backends.cuda.bindings")
        _driver = module.BindingsDriver()
    return _driver


class _Thread(threading.local):
    captures = 0


_thread = _Thread()
_captures = 0
"""Of all threads."""


def begin_capture() -> None:
    """Refuse `waiting` in this thread, and `waiting_for_all` in any, until `end_capture`."""
    global _captures
    _captures += 1
    _thread.captures += 1


def end_capture() -> None:
    """Allow `waiting` again."""
    global _captures
    _captures -= 1
    _thread.captures -= 1


def captures_of_thread() -> int:
    """Return how many captures this thread has begun."""
    return _thread.captures


def continue_captures(count: int) -> None:
    """Make this thread one that goes on with the captures of another, which waits for it."""
    _thread.captures = count


def is_capturing() -> bool:
    """Return whether this thread's work is written down instead of being done."""
    return _thread.captures > 0


def has_captures() -> bool:
    """Return whether any thread's work is: to ask for events, and to wait for all, would end it."""
    return _captures > 0


def waiting() -> Driver:
    """Return the driver, to wait for a stream.

    Raises: RuntimeError while this thread's work is only written down: it would never be done.
    """
    if _thread.captures:
        raise errors.wait_during_capture()
    return current()


def waiting_for_all() -> Driver:
    """Return the driver, to wait for a device, or for an event.

    Raises: RuntimeError while any thread's work is only written down.
    """
    if _captures:
        raise errors.wait_during_capture()
    return current()


def is_open() -> bool:
    """Return whether somebody has asked for the driver."""
    return _driver is not None


def _close() -> None:
    """A forked child has no driver: none is asked to give back what is its parent's."""
    global _driver
    _driver = None


at_fork(after_in_child=_close)


def use(driver: Driver | None) -> Driver | None:
    """Put a driver in the place of NVIDIA's, None for that one again; return the one before."""
    global _driver, _captures
    before, _driver, _captures = _driver, driver, 0
    _thread.captures = 0
    return before
