"""The memory behind a tensor on a device: a block of the allocator, seen as elements of a type."""

from __future__ import annotations

from typing import Any, Protocol

from torchgen_out._runtime.backends.common.buffer import DeviceBuffer

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


class CUDABuffer(DeviceBuffer[KeptMemory | None]):
    """Elements of one type in a block of a CUDA device."""

    __slots__ = ()
