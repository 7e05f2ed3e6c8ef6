"""Page-locked memory of the host, which devices read and write while the host goes on.

To lock and unlock pages takes the driver long and may wait for devices. So what is given back is
kept in free lists by size, and used again when no copy that was queued needs it any more.
"""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda import allocator, current, driver, streams
from torchgen_out._runtime.backends.cuda.awaited import Awaited, StreamOf
from torchgen_out._runtime.backends.cuda.driver import Driver, MemoryExhausted
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build


class HostBlock:
    """Page-locked memory that goes back with the last array that sees it.

    users: the streams that were given copies from or to it.
    """

    __slots__ = ("address", "owner", "size", "users")

    def __init__(self, owner: HostMemory, address: int, size: int) -> None:
        self.owner, self.address, self.size = owner, address, size
        self.users: set[StreamOf] = set()

    def __del__(self) -> None:
        self.owner.give_back(self.address, self.size, self.users)


class HostMemory:
    """All page-locked memory, of all devices."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._lock = threading.RLock()
        self._free: dict[int, list[int]] = {}
        self._returned: deque[tuple[int, int, set[StreamOf]]] = deque()
        self._awaited = Awaited(driver)
        self.kept: list[HostBlock] = []
        """What graphs read or write, whenever they are replayed."""

    def block(self, device: int, count: int) -> HostBlock:
        """A block of at least `count` bytes. device: whose driver call makes it.

        Raises: RuntimeError if the host has no more memory to lock.
        """
        size = allocator.size_class(count)
        with self._lock:
            self._settle()
            free = self._free.get(size)
            address = free.pop() if free else self._ask(device, size)
        return HostBlock(self, address, size)

    def _ask(self, device: int, size: int) -> int:
        try:
            return self._driver.allocate_host(device, size)
        except MemoryExhausted:
            if not driver.has_captures():  # giving back waits
                self.release(device)
        try:
            return self._driver.allocate_host(device, size)
        except MemoryExhausted:
            raise errors.no_host_memory(size) from None

    def give_back(self, address: int, size: int, users: set[StreamOf]) -> None:
        """Note that a block is not needed any more; may be called at any moment."""
        self._returned.append((address, size, users))

    def _settle(self) -> None:
        """Put blocks into the free lists; events have no place in a graph that is captured."""
        if driver.has_captures():
            return
        while self._returned:
            address, size, users = self._returned.popleft()
            if users:
                self._awaited.add((address, size), users)
            else:
                self._free.setdefault(size, []).append(address)
        for address, size in self._awaited.over():
            self._free.setdefault(size, []).append(address)

    def release(self, device: int) -> None:
        """Give all unused memory back to the driver. Waits for what was queued."""
        with self._lock:
            self._settle()
            for address, size in self._awaited.wait():
                self._free.setdefault(size, []).append(address)
            while self._free:
                for address in self._free.popitem()[1]:
                    self._driver.free_host(device, address)


_memory: HostMemory | None = None


def host_memory() -> HostMemory:
    """Return the page-locked memory, opened when first asked for."""
    global _memory
    if _memory is None:
        _memory = HostMemory(driver.current())
    return _memory


def forget() -> None:
    """Forget all memory, when another driver takes the place of the one that locked it."""
    global _memory
    _memory = None


def release() -> None:
    """Give unused page-locked memory back to the driver; nothing if none was asked for yet."""
    if _memory is not None:
        _memory.release(current.current_device())


class PinnedStorage(Storage):
    """Storage in page-locked memory."""

    __slots__ = ("block",)
    is_page_locked = True

    def __init__(self, buffer: np.ndarray, block: HostBlock | None) -> None:
        super().__init__(buffer)
        self.block = block


def pin(tensor: Tensor) -> Tensor:
    """Return a contiguous copy of a host tensor in page-locked memory, below autograd."""
    array = tensor._array()
    block, buffer = _allocate(array.size, array.dtype)
    buffer.reshape(array.shape)[...] = array
    strides = shapes.contiguous_strides(tensor._sizes)
    key = tensor._key & ~keys.GRAD
    return build(key, tensor._sizes, strides, 0, PinnedStorage(buffer, block), buffer)


def _allocate(size: int, dtype: np.dtype) -> tuple[HostBlock | None, np.ndarray]:
    """A block, and an array over it, which keeps it."""
    if not size:
        return None, np.empty(0, dtype)
    count = size * dtype.itemsize
    block = host_memory().block(current.current_device(), count)
    memory: Any = (ctypes.c_char * count).from_address(block.address)
    memory.block = block
    return block, np.frombuffer(memory, dtype)


def is_pinned(tensor: Tensor) -> bool:
    """Return whether a host tensor's memory is page-locked."""
    return bool(tensor._storage.is_page_locked)


def note_use(tensor: Tensor, index: int) -> None:
    """Keep a pinned tensor's memory until a device's current stream has come to this point."""
    storage = tensor._storage
    assert isinstance(storage, PinnedStorage)
    block = storage.block
    assert block is not None  # nothing of it was copied else
    if driver.is_capturing():
        block.owner.kept.append(block)
    else:
        block.users.add((index, streams.current_handle(index)))
