"""Memory of devices, kept in free lists by stream and size class: no driver call in a steady state.

A block belongs to the stream that was current when it was asked for. Given back, it may be used
again in that stream at once, since a stream works in order. What other streams did with it
(`record_stream`) must be over first: an event in each tells.

What is asked for while a graph is captured comes from a pool of that graph, and goes back there:
a replay writes to it again.

A block is given back when Python forgets the last tensor over it, at any moment and in any thread,
also while this allocator works. So that only notes it; the next request or question settles it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda.awaited import Awaited
from torchgen_out._runtime.backends.cuda.buffer import ORDINARY, Block, CUDABuffer, Place
from torchgen_out._runtime.backends.cuda.driver import (
    Driver,
    MemoryExhausted,
    has_captures,
    is_capturing,
)

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

    def reset_accumulated(self) -> None:
        """Begin anew with what came and went."""
        self.allocated = self.freed = 0


class Allocator:
    """The memory of one device.

    allocated: bytes in use by tensors, allocations: how many blocks. waiting: bytes of blocks that
    were given back and that another stream may still use. reserved: bytes that were asked of the
    driver, segments: in how many pieces. retries: how often caches had to be freed, exhaustions:
    how often in vain. pool: of the graph that is being captured.
    """

    def __init__(self, driver: Driver, device: int) -> None:
        self.driver = driver
        self.device = device
        self.allocated, self.allocations = Counter(), Counter()
        self.reserved, self.segments, self.waiting = Counter(), Counter(), Counter()
        self.retries = self.exhaustions = 0
        self._lock = threading.RLock()
        self.pool = ORDINARY
        self._places: dict[tuple[int, int, int], Place] = {}
        self._returned: deque[tuple[int, Place, set[int]]] = deque()
        self._awaited = Awaited(driver)
        self._dead: set[int] = set()

    def buffer(self, numel: int, dtype: np.dtype, stream: int) -> CUDABuffer:
        """Memory for elements, in a stream.

        Raises: OutOfMemoryError if the device has none left.
        """
        if numel == 0:
            return CUDABuffer(None, self.device, 0, 0, dtype)
        block = self.block(numel * dtype.itemsize, stream)
        return CUDABuffer(block, self.device, block.address, numel, dtype)

    def block(self, count: int, stream: int) -> Block:
        """A block of at least `count` bytes, in a stream."""
        size = size_class(count)
        with self._lock:
            if self._returned or self._awaited.queues:
                self._settle()
            key = self.pool_of_thread(), stream, size
            place = self._places.get(key)
            if place is None:
                place = self._places[key] = Place(*key)
            address = place.unused.pop() if place.unused else self._ask(place)
            self.allocated.add(size)
            self.allocations.add(1)
        return Block(self, address, place)

    def pool_of_thread(self) -> int:
        """The pool for what this thread asks for: other threads go on while one captures."""
        return self.pool if self.pool and is_capturing() else ORDINARY

    def give_back(self, address: int, place: Place, others: set[int]) -> None:
        """Note that a block is not needed any more; may be called at any moment."""
        self._returned.append((address, place, others))

    def settle(self) -> None:
        """Put blocks that were given back into the free lists."""
        with self._lock:
            self._settle()

    def _settle(self) -> None:
        shared = []
        while self._returned:
            address, place, others = self._returned.popleft()
            if others and has_captures():  # an event would be part of the graph
                shared.append((address, place, others))
                continue
            self.allocated.take(place.size)
            self.allocations.take(1)
            if others:
                self._awaited.add((address, place), {(self.device, each) for each in others})
                self.waiting.add(place.size)
            else:
                place.unused.append(address)
        self._returned.extend(shared)
        if self._awaited.queues and not has_captures():
            self._take_back(self._awaited.over())

    def _take_back(self, blocks: Iterable[tuple[int, Place]]) -> None:
        """Free blocks that no other stream uses any more."""
        for address, place in blocks:
            self.waiting.take(place.size)
            place.unused.append(address)

    def _ask(self, place: Place) -> int:
        """Memory from the driver; if it has none, once more after giving back what is unused."""
        try:
            address = self._allocate(place)
        except MemoryExhausted:
            self.retries += 1
            if not has_captures():  # giving back waits
                self._take_back(self._awaited.wait())
                self.release()
            address = self._ask_again(place)
        self.reserved.add(place.size)
        self.segments.add(1)
        return address

    def _allocate(self, place: Place) -> int:
        if place.pool != ORDINARY:
            return self.driver.allocate_fixed(self.device, place.size)
        return self.driver.allocate(self.device, place.size, place.stream)

    def _ask_again(self, place: Place) -> int:
        try:
            return self._allocate(place)
        except MemoryExhausted:
            self.exhaustions += 1
            free, total = self.driver.memory_info(self.device)
            in_use = self.allocated.current
            unused = self.reserved.current - in_use
            raise errors.cuda_out_of_memory(
                place.size, self.device, total, free, in_use, unused
            ) from None

    def release(self) -> None:
        """Give all unused memory back to the driver, but for that of graphs.

        Raises: RuntimeError while a graph is captured.
        """
        if has_captures():
            raise errors.wait_during_capture()
        with self._lock:
            self._settle()
            for place in self._places.values():
                while place.unused and self._may_go(place.pool):
                    self._free_block(place.unused.pop(), place)
            self.driver.synchronize(self.device)

    def _may_go(self, pool: int) -> bool:
        return pool == ORDINARY or pool in self._dead

    def _free_block(self, address: int, place: Place) -> None:
        if place.pool == ORDINARY:
            self.driver.free(self.device, address, place.stream)
        else:
            self.driver.free_fixed(self.device, address)
        self.reserved.take(place.size)
        self.segments.take(1)

    def drop_pool(self, pool: int) -> None:
        """Let the memory of a pool go, now or with its last tensor: no graph writes to it."""
        with self._lock:
            self._dead.add(pool)
