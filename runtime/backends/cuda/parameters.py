"""The arguments of a kernel as the driver takes them: an array of addresses, one per value."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Sequence
from typing import Any

FORMATS = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i",
    "uint32": "I", "int64": "q", "uint64": "Q", "float32": "f", "float64": "d",
}  # fmt: skip
SLOT = 8
"""Bytes of each value's place, which fits all types."""


class Parameters:
    """Packs the values of one kernel. The driver copies them, so each thread packs in one place.

    types: "float32*" for a pointer, otherwise as in `FORMATS`.
    """

    def __init__(self, types: Sequence[str]) -> None:
        formats = ["Q" if each.endswith("*") else FORMATS[each] for each in types]
        padded = [form + f"{SLOT - struct.calcsize('=' + form)}x" for form in formats]
        self._struct = struct.Struct("=" + "".join(padded))
        self._count = len(formats)
        self._places = threading.local()

    def pack(self, values: Sequence[Any]) -> int:
        """The address of the array of the values' addresses, good until this thread's next call."""
        try:
            memory, addresses = self._places.memory
        except AttributeError:
            memory, addresses = self._places.memory = self._make()
        self._struct.pack_into(memory, 0, *values)
        return ctypes.addressof(addresses)

    def _make(self) -> tuple[Any, Any]:
        memory = ctypes.create_string_buffer(max(self._struct.size, 1))
        start = ctypes.addressof(memory)
        addresses = (ctypes.c_void_p * max(self._count, 1))(
            *[start + SLOT * i for i in range(self._count)]
        )
        return memory, addresses
