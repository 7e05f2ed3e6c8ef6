"""The memory that tensors share: one flat buffer and the version counter of its contents."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from torchgen_out._runtime.core import mapped_file, public, shared_memory


class Storage:
    """A flat buffer. Views of one tensor share their storage, and with it the version counter.

    `buffer` is a one-dimensional array of the dtype that allocated it (None on the meta device);
    `version` counts the in-place writes. An empty storage is false, as anything without elements:
    ask whether it `is None`.
    """

    __slots__ = ("__weakref__", "buffer", "version")
    is_resizable = True
    """Whether the memory may be replaced by more."""
    is_page_locked = False
    """Whether a device reads the memory while the host goes on."""

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer
        self.version = 0

    @staticmethod
    def from_file(
        filename: str | os.PathLike[str], shared: bool = False, nbytes: int = 0
    ) -> Storage:
        """Memory that is the beginning of a file; `shared` memory is written back.

        **Raises** RuntimeError if the file is smaller, unless it is shared: then it grows.
        """
        return Storage(mapped_file.map_file(filename, shared, nbytes))

    def check_readable(self) -> None:
        """Raise NotImplementedError if this is no flat memory."""

    def untyped(self) -> Storage:
        """The storage itself: it knows bytes only."""
        return self

    def __getitem__(self, index: Any) -> Any:
        """A byte, or the bytes of a slice as a storage over the same memory."""
        found = self._bytes()[index]
        return Storage(found) if isinstance(index, slice) else int(found)

    def _bytes(self) -> Any:
        if not isinstance(self.buffer, np.ndarray):
            raise NotImplementedError("the bytes of a storage can be read in the CPU's memory only")
        return self.buffer.view(np.uint8)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if not isinstance(self.buffer, np.ndarray):
            raise AttributeError("no memory of the CPU")
        interface: dict[str, Any] = self._bytes().__array_interface__
        return interface

    def nbytes(self) -> int:
        """Size in bytes."""
        return 0 if self.buffer is None else int(self.buffer.nbytes)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def data_ptr(self) -> int:
        """Address of the first byte; 0 without memory."""
        if self.buffer is None:
            return 0
        address = getattr(self.buffer, "address", None)  # that of a device
        return int(self.buffer.ctypes.data if address is None else address)

    def is_shared(self) -> bool:
        """Whether other processes can have the memory, too."""
        return shared_memory.memory_of(self.buffer) is not None


Storage.__name__ = Storage.__qualname__ = "UntypedStorage"
public.place("", Storage)


class ForeignStorage(Storage):
    """Memory of somebody else - an array, an exporter -, who would not see it replaced."""

    __slots__ = ()
    is_resizable = False
