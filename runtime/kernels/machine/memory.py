"""Memory that holds machine code: written first, then executed, never both."""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Callable
from functools import cache
from typing import Any

from torchgen_out._runtime.kernels.machine.images import Image

PAGE = mmap.PAGESIZE
READ, WRITE, EXECUTE = 1, 2, 4
held = {"bytes": 0, "images": 0}
"""What this process has placed. It stays: a kernel's caller may be anywhere."""


def place(image: Image, resolve: Callable[[str], int]) -> dict[str, int]:
    """Place an image into memory of its own, and return the addresses of its functions.

    resolve: gives the address of a name, or raises.
    """
    addresses = [(slot, resolve(name)) for slot, name in image.slots]
    size = -(-len(image.code) // PAGE) * PAGE
    base = _allocate(size)
    content = bytearray(image.code)
    for slot, address in addresses:
        struct.pack_into("<Q", content, slot, address)
    for at in image.absolute:
        (value,) = struct.unpack_from("<q", content, at)
        struct.pack_into("<q", content, at, base + value)
    ctypes.memmove(base, bytes(content), len(content))
    _make_executable(base, size)
    held["bytes"] += size
    held["images"] += 1
    return {name: base + at for name, at in image.entries.items()}


if hasattr(ctypes, "WinDLL"):

    @cache
    def _kernel32() -> Any:
        library = getattr(ctypes, "WinDLL")("kernel32", use_last_error=True)  # noqa: B009
        library.VirtualAlloc.restype = ctypes.c_void_p
        word = ctypes.c_size_t
        library.VirtualAlloc.argtypes = (ctypes.c_void_p, word, ctypes.c_ulong, ctypes.c_ulong)
        pointer = ctypes.POINTER(ctypes.c_ulong)
        library.VirtualProtect.argtypes = (ctypes.c_void_p, word, ctypes.c_ulong, pointer)
        return library

    def _allocate(size: int) -> int:
        commit, may_be_written = 0x3000, 0x04
        base = _kernel32().VirtualAlloc(None, size, commit, may_be_written)
        if not base:
            raise MemoryError(f"no memory for {size} bytes of machine code")
        return int(base)

    def _make_executable(base: int, size: int) -> None:
        before, may_be_executed = ctypes.c_ulong(), 0x20
        if not _kernel32().VirtualProtect(base, size, may_be_executed, ctypes.byref(before)):
            raise OSError("this system does not let memory be executed")

else:

    @cache
    def _system() -> Any:
        library = ctypes.CDLL(None, use_errno=True)
        library.mmap.restype = ctypes.c_void_p
        library.mmap.argtypes = (
            *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int),
            ctypes.c_int64,
        )
        library.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        return library

    def _allocate(size: int) -> int:
        private_anonymous = 2 | getattr(mmap, "MAP_ANONYMOUS", 0x20)
        base = _system().mmap(None, size, READ | WRITE, private_anonymous, -1, 0)
        if base in (None, ctypes.c_void_p(-1).value):
            raise MemoryError(f"no memory for {size} bytes of machine code")
        return int(base)

    def _make_executable(base: int, size: int) -> None:
        if _system().mprotect(base, size, READ | EXECUTE) != 0:
            raise OSError(ctypes.get_errno(), "this system does not let memory be executed")
