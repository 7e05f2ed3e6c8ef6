"""Memory of a device behind a tensor: elements of one type, which the host does not read."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np

Block = TypeVar("Block")
"""What holds memory of a backend."""


Own = TypeVar("Own", bound="DeviceBuffer[Any]")


class DeviceBuffer(Generic[Block]):
    """Elements of one type in a block, as a one-dimensional array has them, but out of reach.

    block: what holds the memory. dtype: of NumPy. address: of the first element.
    """

    __slots__ = ("address", "block", "device_index", "dtype", "size")

    def __init__(
        self, block: Block, device_index: int, address: int, size: int, dtype: np.dtype
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

    def view(self: Own, dtype: np.dtype) -> Own:
        """The same memory as elements of another type."""
        other = np.dtype(dtype)
        return self._part(self.address, self.nbytes // other.itemsize, other)

    def __getitem__(self: Own, part: slice) -> Own:
        """A run of elements."""
        start, stop, step = part.indices(self.size)
        assert step == 1, "memory of a device is cut into runs only"
        address = self.address + start * self.dtype.itemsize
        return self._part(address, max(stop - start, 0), self.dtype)

    def _part(self: Own, address: int, size: int, dtype: np.dtype) -> Own:
        return self.__class__(self.block, self.device_index, address, size, dtype)

    def __repr__(self) -> str:
        return f"<{self.size} x {self.dtype.name} at {self.address:#x} of {self.device_index}>"
