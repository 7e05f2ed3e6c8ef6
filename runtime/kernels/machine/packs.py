"""Packs: files of compiled kernels, found by what they were compiled from.

A pack begins with a checksum of its header and index. The index has a row of 48 bytes for each
kernel, in the order of their keys: the key's hash, where its entry is, how long that is, and its
checksum. An entry is a description (JSON) and an image. Nothing in a pack is run, unpickled or
believed before its checksum holds and its numbers fit its bytes.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from torchgen_out._runtime.kernels.machine import digests
from torchgen_out._runtime.kernels.machine.images import Image

MAGIC = b"torchgen pack 1\n"
"""How each file begins; another number where the layout of files changes."""
ABI = 1
"""How kernels are called and what they call: another number where that changes."""

DIGEST, ROW = 16, 48
_FRONT = len(MAGIC) + DIGEST


class Damaged(Exception):
    """A file or an entry is cut off, changed, or was never a pack's."""


class Entry(NamedTuple):
    """A compiled kernel. about: its key, its types and its errors, as plain data."""

    about: dict[str, Any]
    image: Image


def digest(content: bytes | memoryview) -> bytes:
    """A checksum, or the hash of a key."""
    return digests.blake2b(content, DIGEST)


def key_hash(key: str) -> bytes:
    """What a kernel is found by."""
    return digest(key.encode())


def encoded(entry: Entry) -> bytes:
    """An entry as bytes."""
    image = entry.image
    about = {
        **entry.about,
        "entries": image.entries,
        "slots": image.slots,
        "absolute": image.absolute,
        "size": len(image.code),
    }
    head = json.dumps(about, separators=(",", ":")).encode()
    return len(head).to_bytes(4, "little") + head + image.code


def decoded(content: bytes | memoryview) -> Entry:
    """An entry from bytes whose checksum holds.

    Raises: Damaged if its numbers do not fit its bytes.
    """
    end = 4 + int.from_bytes(content[:4], "little")
    try:
        about = json.loads(bytes(content[4:end]))
        code = bytes(content[end:])
        slots = tuple((int(place), str(name)) for place, name in about.pop("slots"))
        absolute = tuple(map(int, about.pop("absolute")))
        entries = {str(name): int(place) for name, place in about.pop("entries").items()}
        size = int(about.pop("size"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(f"its description does not read: {error}") from None
    words = [*(place for place, _ in slots), *absolute]
    are_inside = all(0 <= place <= size - 8 for place in words)
    if size != len(code) or not are_inside or any(not 0 <= at < size for at in entries.values()):
        raise Damaged("its description does not fit its code")
    return Entry(about, Image(code, entries, slots, absolute))


def written(header: Mapping[str, Any], entries: Mapping[bytes, bytes]) -> bytes:
    """A pack of encoded entries by the hashes of their keys."""
    head = json.dumps(header, separators=(",", ":")).encode()
    at = _FRONT + 12 + len(head) + ROW * len(entries)
    rows = []
    for key in sorted(entries):
        content = entries[key]
        place = at.to_bytes(8, "little") + len(content).to_bytes(8, "little")
        rows.append(key + place + digest(content))
        at += len(content)
    front = len(head).to_bytes(4, "little") + head + len(entries).to_bytes(8, "little")
    sealed = front + b"".join(rows)
    return b"".join([MAGIC, digest(sealed), sealed, *(entries[key] for key in sorted(entries))])


class Pack:
    """A pack that is read, from bytes or from a file that is mapped into memory.

    Raises: Damaged for anything but a whole header and index.
    """

    def __init__(self, content: bytes | memoryview) -> None:
        self.content = memoryview(content)
        if self.content[: len(MAGIC)] != MAGIC or len(self.content) < _FRONT + 12:
            raise Damaged("it is no pack, or one of another version")
        head_end = _FRONT + 4 + int.from_bytes(self.content[_FRONT : _FRONT + 4], "little")
        self.count = int.from_bytes(self.content[head_end : head_end + 8], "little")
        self._rows = head_end + 8
        end = self._rows + ROW * self.count
        if end > len(self.content):
            raise Damaged("it is cut off")
        if digest(self.content[_FRONT:end]) != self.content[len(MAGIC) : _FRONT]:
            raise Damaged("its index is damaged")
        self.header: dict[str, Any] = json.loads(bytes(self.content[_FRONT + 4 : head_end]))

    def keys(self) -> list[bytes]:
        """The hashes of all keys, in order."""
        rows = range(self._rows, self._rows + ROW * self.count, ROW)
        return [bytes(self.content[at : at + DIGEST]) for at in rows]

    def find(self, key: bytes) -> bytes | None:
        """The encoded entry of a key; None if the pack has none.

        Raises: Damaged if it has one whose checksum does not hold.
        """
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            at = self._rows + ROW * middle
            own = bytes(self.content[at : at + DIGEST])
            if own == key:
                return self._checked(bytes(self.content[at + DIGEST : at + ROW]))
            low, high = (middle + 1, high) if own < key else (low, middle)
        return None

    def _checked(self, row: bytes) -> bytes:
        start, length = int.from_bytes(row[:8], "little"), int.from_bytes(row[8:16], "little")
        content = bytes(self.content[start : start + length])
        if len(content) != length or digest(content) != row[16:]:
            raise Damaged("an entry is damaged")
        return content


def is_safe(status: os.stat_result) -> bool:
    """Whether nobody but this user and root can have written a file, or put files into a folder."""
    if sys.platform == "win32":
        return True
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
