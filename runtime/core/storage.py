"""The memory that tensors share: one flat buffer and the version counter of its contents."""

from __future__ import annotations

from typing import Any

from runtime.core import shared_memory


class Storage:
    """A flat buffer. Views of one tensor share their storage, and with it the version counter.

    `buffer` is a one-dimensional array of the dtype that allocated it (None on the meta device);
    `version` counts the in-place writes. No storage is false, not even an empty one.
    """

    __slots__ = ("__weakref__", "buffer", "version")

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer
        self.version = 0

    def nbytes(self) -> int:
        """Size in bytes."""
        return 0 if self.buffer is None else int(self.buffer.nbytes)

    def data_ptr(self) -> int:
        """Address of the first byte; 0 without memory."""
        if self.buffer is None:
            return 0
        address = getattr(self.buffer, "address", None)  # that of a device
        return int(self.buffer.ctypes.data if address is None else address)

    def is_shared(self) -> bool:
        """Whether other processes can have the memory, too."""
        return shared_memory.memory_of(self.buffer) is not None
