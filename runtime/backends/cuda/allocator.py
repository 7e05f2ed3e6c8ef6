"""Memory of devices, kept in free lists by stream and size class: no driver call in a steady state.

A block belongs to the stream that was current when it was asked for. Given back, it may be used
again in that stream at once, since a stream works in order. What other streams did with it
(`record_stream`) must be over first: an event in each tells.

A block is given back when Python forgets the last tensor over it, at any moment and in any thread,
also while this allocator works. So that only notes it; the next request or question settles it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable

import numpy as np

from runtime import errors
from runtime.backends.cuda.buffer import Block, DeviceBuffer
from runtime.backends.cuda.driver import Driver, MemoryExhausted

SMALLEST = 512
"""Bytes of the smallest block; all sizes are multiples, so all addresses of one alignment."""
STEPS_PER_OCTAVE = 8
"""Size classes between a power of two and the next: at most an eighth of a block is unused."""


def size_class(count: int) -> int:
    """The size of the block for `count` bytes."""
    if count <= SMALLEST * STEPS_PER_OCTAVE:
        return max(-(-count // SMALLEST), 1) * SMALLEST
    step = (1 << (count - 1).bit_length()) // (2 * STEPS_PER_OCTAVE)
    return -(-count // step) * step


class Counter:
    """How much of something there is, the most there was, and how much came and went."""

    __slots__ = ("allocated", "current", "freed", "peak")

    def __init__(self) -> None:
        self.current = self.peak = self.allocated = self.freed = 0

    def add(self, amount: int) -> None:
        """Something came."""
        self.current += amount
        self.allocated += amount
        self.peak = max(self.peak, self.current)

    def take(self, amount: int) -> None:
        """Something went."""
        self.current -= amount
        self.freed += amount

    def reset_peak(self) -> None:
        """Begin anew with the most there was."""
        self.peak = self.current


class Allocator:
    """The memory of one device.

    allocated: bytes in use by tensors, allocations: how many blocks. reserved: bytes that were
    asked of the driver. retries: how often caches had to be freed, exhaustions: how often in vain.
    """

    def __init__(self, driver: Driver, device: int) -> None:
        self.driver = driver
        self.device = device
        self.allocated, self.reserved, self.allocations = Counter(), Counter(), Counter()
        self.retries = self.exhaustions = 0
        self._lock = threading.RLock()
        self._free: dict[tuple[int, int], list[int]] = {}
        self._returned: deque[tuple[int, int, int, set[int]]] = deque()
        self._waiting: list[tuple[list[int], int, int, int]] = []

    def buffer(self, numel: int, dtype: np.dtype, stream: int) -> DeviceBuffer:
        """Memory for elements, in a stream.

        Raises: OutOfMemoryError if the device has none left.
        """
        if numel == 0:
            return DeviceBuffer(None, self.device, 0, 0, dtype)
        block = self.block(numel * dtype.itemsize, stream)
        return DeviceBuffer(block, self.device, block.address, numel, dtype)

    def block(self, count: int, stream: int) -> Block:
        """A block of at least `count` bytes, in a stream."""
        size = size_class(count)
        with self._lock:
            self._settle()
            free = self._free.get((stream, size))
            address = free.pop() if free else self._ask(size, stream)
            self.allocated.add(size)
            self.allocations.add(1)
        return Block(self, address, size, stream)

    def give_back(self, address: int, size: int, stream: int, others: set[int]) -> None:
        """Note that a block is not needed any more; may be called at any moment."""
        self._returned.append((address, size, stream, others))

    def settle(self) -> None:
        """Put blocks that were given back into the free lists."""
        with self._lock:
            self._settle()

    def _settle(self) -> None:
        while self._returned:
            address, size, stream, others = self._returned.popleft()
            self.allocated.take(size)
            self.allocations.take(1)
            if others:
                self._waiting.append((self._mark(others), address, size, stream))
            else:
                self._free.setdefault((stream, size), []).append(address)
        if self._waiting:
            self._waiting = [each for each in self._waiting if not self._is_over(*each)]

    def _mark(self, streams: Iterable[int]) -> list[int]:
        """An event in each stream."""
        events = []
        for stream in sorted(streams):
            event = self.driver.create_event(self.device, timing=False, blocking=False)
            self.driver.record_event(self.device, event, stream)
            events.append(event)
        return events

    def _is_over(self, events: list[int], address: int, size: int, stream: int) -> bool:
        """Free a block if all its events have happened."""
        if not all(self.driver.is_event_done(self.device, event) for event in events):
            return False
        for event in events:
            self.driver.destroy_event(self.device, event)
        self._free.setdefault((stream, size), []).append(address)
        return True

    def _ask(self, size: int, stream: int) -> int:
        """Memory from the driver; if it has none, once more after giving back what is unused."""
        try:
            address = self.driver.allocate(self.device, size, stream)
        except MemoryExhausted:
            self.retries += 1
            self._wait_for_others()
            self.release()
            address = self._ask_again(size, stream)
        self.reserved.add(size)
        return address

    def _ask_again(self, size: int, stream: int) -> int:
        try:
            return self.driver.allocate(self.device, size, stream)
        except MemoryExhausted:
            self.exhaustions += 1
            free, total = self.driver.memory_info(self.device)
            in_use = self.allocated.current
            unused = self.reserved.current - in_use
            raise errors.cuda_out_of_memory(
                size, self.device, total, free, in_use, unused
            ) from None

    def _wait_for_others(self) -> None:
        """Wait until no other stream uses a block that was given back."""
        for events, *_ in self._waiting:
            for event in events:
                self.driver.synchronize_event(self.device, event)
        self._settle()

    def release(self) -> None:
        """Give all unused memory back to the driver."""
        with self._lock:
            self._settle()
            for (stream, size), addresses in self._free.items():
                for address in addresses:
                    self.driver.free(self.device, address, stream)
                    self.reserved.take(size)
            self._free.clear()
            self.driver.synchronize(self.device)
