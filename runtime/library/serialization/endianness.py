"""The byte order of files that do not say theirs."""

from __future__ import annotations

import enum
import sys

from torchgen_out._runtime.core import public


class LoadEndianness(enum.Enum):
    """What to take it for: this machine's, or one of the two."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


public.place("serialization", LoadEndianness)

_default: LoadEndianness | None = None


def get_default_load_endianness() -> LoadEndianness | None:
    """Return what was set; None means little-endian."""
    return _default


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Set the byte order of archives that do not say theirs, as those of before 2.1."""
    global _default
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError(
            "set_default_load_endianness: expected a LoadEndianness or None, got "
            + type(endianness).__name__
        )
    _default = endianness


def default_byte_order() -> bytes:
    """Return "little" or "big"."""
    if _default is LoadEndianness.NATIVE:
        return sys.byteorder.encode()
    return b"big" if _default is LoadEndianness.BIG else b"little"
