"""Memory that processes share: a file without a name, mapped by whoever holds its descriptor.

Nothing is left behind, however a process ends: the system frees the pages with the last mapping
and the last descriptor. An array over such memory has the `SharedMemory`, or a `Lease` of it, at
the end of its chain of bases, which keeps it mapped and says that it is shared.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.forks import at_fork

_FAILED = ctypes.c_void_p(-1).value


class SharedMemory:
    """A file's descriptor and the place where its bytes are mapped. Both end with the object."""

    __slots__ = ("_forks", "_is_known_elsewhere", "address", "descriptor", "size")

    def __init__(self, descriptor: int, size: int) -> None:
        self.descriptor, self.size = descriptor, size
        self._forks, self._is_known_elsewhere = _forks, False
        self.address = _map(descriptor, size)

    @property
    def has_left(self) -> bool:
        """Whether other processes may have it without this one's knowing when they let go."""
        return self._is_known_elsewhere or self._forks != _forks

    def leave(self) -> None:
        """Note that the descriptor has been given to another process, or has come from one."""
        self._is_known_elsewhere = True

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {
            "version": 3,
            "typestr": "|u1",
            "shape": (self.size,),
            "data": (self.address, False),
        }

    def file(self) -> tuple[int, int]:
        """Return what all descriptors of this memory have in common, in whatever process."""
        status = os.fstat(self.descriptor)
        return status.st_dev, status.st_ino

    def __del__(self) -> None:
        if hasattr(self, "address"):
            _system().munmap(self.address, self.size)
            os.close(self.descriptor)


class Lease:
    """Shared memory for one use. When nothing refers to the lease any more, `end` is called."""

    __slots__ = ("__array_interface__", "_end", "memory")

    def __init__(self, memory: SharedMemory, end: Callable[[], None]) -> None:
        self.memory, self._end = memory, end
        self.__array_interface__ = memory.__array_interface__

    def __del__(self) -> None:
        self._end()


def create(size: int) -> SharedMemory:
    """Make shared memory of `size` bytes, all of them 0.

    **Raises** OSError if there is no room for it, or for another descriptor; RuntimeError on a
    system whose processes do not hand each other descriptors.
    """
    if sys.platform == "win32":
        raise errors.no_shared_memory()
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("torchgen", os.MFD_CLOEXEC)
    else:
        import tempfile  # late: it loads `shutil` and `random`, too

        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    try:
        os.ftruncate(descriptor, size)
        return SharedMemory(descriptor, size)
    except OSError:
        os.close(descriptor)
        raise


def memory_of(buffer: Any) -> SharedMemory | None:
    """Return the shared memory that an array looks into; None if it is the process's own."""
    while isinstance(buffer, np.ndarray):
        buffer = buffer.base
    if isinstance(buffer, Lease):
        return buffer.memory
    return buffer if isinstance(buffer, SharedMemory) else None


@cache
def _system() -> ctypes.CDLL:
    """The C library with its functions for mapping memory."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_ssize_t,
    )
    library.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    return library


def _map(descriptor: int, size: int) -> int:
    """Map a file's bytes, and return where they are.

    Not by `mmap.mmap`: that holds a second descriptor of the file.
    **Raises** OSError if there is no room.
    """
    access = mmap.PROT_READ | mmap.PROT_WRITE
    address: int | None = _system().mmap(None, size, access, mmap.MAP_SHARED, descriptor, 0)
    if address is None or address == _FAILED:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return address


_forks = 0
"""How often the process has forked: what is mapped at that time is in the child, too."""


def _count_fork() -> None:
    global _forks
    _forks += 1


at_fork(before=_count_fork)
