"""Records of a zip archive, believed only as far as the file's own bytes bear them out.

PyTorch writes them uncompressed, and other tools may have packed them again by deflation; there is
no other method. Every offset and size is compared with the file before anything is allocated.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any, NamedTuple

from torchgen_out._runtime.library.serialization import errors
from torchgen_out._runtime.library.serialization.source import Source

SIGNATURE = b"PK\x03\x04"

_END = struct.Struct("<4s4H2LH")
_END64_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_MAX_COMMENT = 1 << 16
_STORED, _DEFLATED = 0, 8
_ENCRYPTED = 1
_UNKNOWN32 = 0xFFFFFFFF
_ZIP64_EXTRA = 1

_INFLATION = 4  # how many times the file's size its deflated records may take together ...
_ALLOWANCE = 1 << 24  # ... and this much besides: small files of equal bytes pack well


class Record(NamedTuple):
    """One entry of the archive's directory."""

    name: str
    method: int
    crc: int
    packed: int
    """Bytes that it takes in the file."""
    size: int
    """Bytes that it holds."""
    header: int
    """Where its local header lies."""


class ZipRecords:
    """The records of the archive that a source holds, by name."""

    def __init__(self, source: Source) -> None:
        self.source = source
        start, size = _directory(source)
        self.records = _records(source.read_at(start, size, "the archive's directory"))
        inflated = sum(each.size for each in self.records.values() if each.method == _DEFLATED)
        if inflated > _INFLATION * source.size + _ALLOWANCE:
            raise errors.damaged(
                f"{source.size} bytes claim to inflate to {inflated}; if that is meant, pack the "
                "archive without compression"
            )
        if sum(each.packed for each in self.records.values()) > source.size:
            raise errors.damaged("the archive's records overlap")

    def __contains__(self, name: str) -> bool:
        return name in self.records

    def find(self, name: str) -> Record:
        """Return a record.

        **Raises** LoadError if there is none of that name.
        """
        found = self.records.get(name)
        if found is None:
            raise errors.damaged(f"the archive has no record '{errors.shown(name)}'")
        return found

    def offset(self, record: Record) -> int:
        """Where the bytes of a record begin."""
        header = self.source.read_at(record.header, _LOCAL.size, "a record's header")
        fields = _LOCAL.unpack(header)
        name_size, extra_size = fields[-2:]
        name = self.source.read_at(record.header + _LOCAL.size, name_size, "a record's name")
        if fields[0] != SIGNATURE or name != record.name.encode("utf-8", "surrogateescape"):
            shown = errors.shown(record.name)
            raise errors.damaged(f"the archive's directory names '{shown}' where it is not")
        return record.header + _LOCAL.size + int(name_size) + int(extra_size)

    def read(self, name: str) -> bytearray:
        """Return the bytes of a record.

        **Raises** LoadError if they are not what the directory says, in number or checksum.
        """
        record = self.find(name)
        self.check(record)
        data = bytearray(record.size)
        self.read_into(record, data)
        return data

    def read_into(self, record: Record, target: Any) -> None:
        """Fill a buffer of the record's size."""
        offset = self.offset(record)
        shown = f"record '{errors.shown(record.name)}'"
        if record.method == _STORED:
            self.source.read_into(offset, target, shown)
        else:
            packed = self.source.read_at(offset, record.packed, shown)
            memoryview(target).cast("B")[:] = _inflated(packed, record.size, shown)
        if record.crc and zlib.crc32(target) != record.crc:  # 0 where PyTorch left it out
            raise errors.damaged(f"{shown} does not have its checksum")

    def check(self, record: Record) -> None:
        """Raise LoadError if a record claims more than the file can hold."""
        if record.method == _STORED and record.size > self.source.size:
            shown = f"record '{errors.shown(record.name)}'"
            raise errors.truncated(shown, record.size, self.source.size)

    def is_stored(self, record: Record) -> bool:
        """Whether the record's bytes lie in the file as they are."""
        return record.method == _STORED


def _inflated(packed: bytes, size: int, shown: str) -> bytes:
    inflate = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        data = inflate.decompress(packed, size + 1)
    except zlib.error as error:
        raise errors.damaged(f"{shown} cannot be inflated: {error}") from None
    if len(data) != size:
        raise errors.damaged(f"{shown} does not inflate to the {size} bytes that it claims")
    return data


def _directory(source: Source) -> tuple[int, int]:
    """Find the directory's place and size from the end of the file."""
    tail_start = max(0, source.size - _END.size - _MAX_COMMENT)
    tail = source.read_at(tail_start, source.size - tail_start, "the archive's end")
    at = tail.rfind(b"PK\x05\x06", 0, max(0, len(tail) - _END.size) + 4)
    if at < 0 or at + _END.size > len(tail):
        raise errors.damaged("the archive has no directory; the file may be cut off at its end")
    _, _, _, _, _, size, start, _ = _END.unpack_from(tail, at)
    locator = tail_start + at - _END64_LOCATOR.size
    if locator >= 0:
        mark, _, end64, _ = _END64_LOCATOR.unpack(source.read_at(locator, _END64_LOCATOR.size))
        if mark == b"PK\x06\x07":
            fields = _END64.unpack(source.read_at(end64, _END64.size, "the archive's directory"))
            if fields[0] != b"PK\x06\x06":
                raise errors.damaged("the archive's directory is not where it should be")
            size, start = fields[-2:]
    return start, size


def _records(directory: bytes) -> dict[str, Record]:
    found: dict[str, Record] = {}
    place = 0
    while place < len(directory):
        if place + _CENTRAL.size > len(directory):
            raise errors.damaged("the archive's directory ends within an entry")
        fields = _CENTRAL.unpack_from(directory, place)
        place += _CENTRAL.size
        name_size, extra_size, comment_size = fields[10:13]
        name = directory[place : place + name_size].decode("utf-8", "surrogateescape")
        extra = directory[place + name_size : place + name_size + extra_size]
        place += name_size + extra_size + comment_size
        record = _record(name, fields, extra)
        if name in found:
            raise errors.damaged(f"the archive has two records '{errors.shown(name)}'")
        found[name] = record
    return found


def _record(name: str, fields: tuple[Any, ...], extra: bytes) -> Record:
    mark, _, _, flags, method, _, _, crc, packed, size = fields[:10]
    if mark != b"PK\x01\x02":
        raise errors.damaged("the archive's directory holds something else than entries")
    shown = errors.shown(name)
    if flags & _ENCRYPTED:
        raise errors.damaged(f"record '{shown}' is encrypted")
    if method not in (_STORED, _DEFLATED):
        raise errors.damaged(f"record '{shown}' is packed by method {method}; 0 and 8 are known")
    size, packed, header = _wide([size, packed, fields[-1]], extra, shown)
    if method == _STORED and size != packed:
        raise errors.damaged(f"record '{shown}' is not packed, but has two sizes")
    return Record(name, method, crc, packed, size, header)


def _wide(numbers: list[int], extra: bytes, shown: str) -> list[int]:
    """Replace the numbers that do not fit in 32 bits by those of the zip64 field."""
    if _UNKNOWN32 not in numbers:
        return numbers
    place = 0
    while place + 4 <= len(extra):
        kind, size = struct.unpack_from("<2H", extra, place)
        if kind == _ZIP64_EXTRA:
            wide = extra[place + 4 : place + 4 + size]
            count = numbers.count(_UNKNOWN32)
            if len(wide) < 8 * count:
                raise errors.damaged(f"record '{shown}' lacks its 64-bit sizes")
            given = iter(struct.unpack_from(f"<{count}Q", wide))
            return [next(given) if each == _UNKNOWN32 else each for each in numbers]
        place += 4 + size
    raise errors.damaged(f"record '{shown}' lacks its 64-bit sizes")
