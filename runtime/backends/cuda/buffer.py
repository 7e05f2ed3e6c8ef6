"""The memory behind a tensor on a device: a block of the allocator, seen as elements of a type."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

ORDINARY = 0
"""The pool of all memory that belongs to no graph."""


class Place:
    """Where memory belongs: to a pool, the stream in which it may be used, a size in bytes.

    unused: the addresses of blocks that are free.
    """

    __slots__ = ("pool", "size", "stream", "unused")

    def __init__(self, pool: int, stream: int, size: int) -> None:
        self.pool, self.stream, self.size = pool, stream, size
        self.unused: list[int] = []


class Block:
    """Memory of a device that goes back to its allocator with the last buffer that sees it.

    others: streams that have used it since, besides its own.
    """

    __slots__ = ("address", "allocator", "others", "place")

    def __init__(self, allocator: Any, address: int, place: Place) -> None:
        self.allocator = allocator
        self.address = address
        self.place = place
        self.others: set[int] = set()

    @property
    def stream(self) -> int:
        """The stream in which it may be used."""
        return self.place.stream

    def __del__(self) -> None:
        if self.allocator is not None:
            self.allocator.give_back(self.address, self.place, self.others)


class KeptMemory(Protocol):
    """Memory of a device, of this library or another, as buffers see it."""

    others: set[int]

    @property
    def stream(self) -> int:
        """The stream on which it was made."""


class DeviceBuffer:
    """Elements of one type in a block, as a one-dimensional array has them, but out of reach.

    dtype: of NumPy. address: of the first element; 0 if there is none.
    """

    __slots__ = ("address", "block", "device_index", "dtype", "size")

    def __init__(
        self, block: KeptMemory | None, device_index: int, address: int, size: int, dtype: np.dtype
    ) -> None:
        self.block = block
        self.device_index = device_index
        self.address = address
        self.size = size
        self.dtype = dtype

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return self.size * self.dtype.itemsize

    def view(self, dtype: np.dtype) -> DeviceBuffer:
        """The same memory as elements of another type."""
        other = np.dtype(dtype)
        size = self.nbytes // other.itemsize
        return DeviceBuffer(self.block, self.device_index, self.address, size, other)

    def __getitem__(self, part: slice) -> DeviceBuffer:
        """A run of elements."""
        start, stop, step = part.indices(self.size)
        assert step == 1, "memory of a device is cut into runs only"
        address = self.address + start * self.dtype.itemsize
        return DeviceBuffer(
            self.block, self.device_index, address, max(stop - start, 0), self.dtype
        )

    def __repr__(self) -> str:
        return f"<{self.size} x {self.dtype.name} at {self.address:#x} on cuda:{self.device_index}>"
