"""The bytes of a file: at any place (`Source`), or from one place onwards (`ByteReader`)."""

from __future__ import annotations

import io
from typing import Any

from torchgen_out._runtime.library.serialization import errors

_DECOMPRESSORS = frozenset(["gzip", "bz2", "lzma"])  # going back means inflating again
_CHUNK = 1 << 16


class Source:
    """The bytes of a binary file from its present position to its end."""

    def __init__(self, file: Any) -> None:
        if type(file).__module__ in _DECOMPRESSORS or not _is_seekable(file):
            self.file: Any = io.BytesIO(_all_of(file))
            self.start, self.given = 0, None
        else:
            self.file = self.given = file
            self.start = file.tell()
        self.file.seek(0, io.SEEK_END)
        self.size = max(0, self.file.tell() - self.start)

    @classmethod
    def of_bytes(cls, data: bytes | bytearray) -> Source:
        """A source in memory."""
        return cls(io.BytesIO(data))

    def read_at(self, offset: int, size: int, what: str = "an item") -> bytes:
        """Return `size` bytes.

        **Raises** TruncatedFileError if the file ends before; nothing is allocated then.
        """
        self._check(offset, size, what)
        self.file.seek(self.start + offset)
        parts, missing = [], size
        while missing:
            part = self.file.read(missing)
            if not part:
                raise errors.truncated(what, size, size - missing)
            parts.append(_bytes(part))
            missing -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def read_into(self, offset: int, target: Any, what: str = "a storage") -> None:
        """Fill a writable buffer of bytes."""
        view = memoryview(target).cast("B")
        self._check(offset, len(view), what)
        if not hasattr(self.file, "readinto"):
            view[:] = self.read_at(offset, len(view), what)
            return
        self.file.seek(self.start + offset)
        filled = 0
        while filled < len(view):
            count = self.file.readinto(view[filled:])
            if not count:
                raise errors.truncated(what, len(view), filled)
            filled += count

    def _check(self, offset: int, size: int, what: str) -> None:
        if offset < 0 or size < 0:
            raise errors.damaged(f"{what} lies at {offset} and takes {size} bytes")
        if offset + size > self.size:
            raise errors.truncated(what, size, max(0, self.size - offset))

    def leave_at(self, offset: int) -> None:
        """Put the position of the file behind what has been read, for whoever reads on."""
        if self.given is not None:
            self.given.seek(self.start + offset)


def _is_seekable(file: Any) -> bool:
    """Whether positions of a file can be asked for and set."""
    if not (hasattr(file, "seek") and hasattr(file, "tell")):
        return False
    try:
        file.seek(file.tell())
    except (OSError, AttributeError):  # pipes; wrappers around objects that cannot
        return False
    return True


def _all_of(file: Any) -> bytes:
    parts = []
    while part := file.read(1 << 20):
        parts.append(_bytes(part))
    return b"".join(parts)


def _bytes(part: Any) -> bytes:
    if isinstance(part, str):
        raise TypeError("load: expected a file opened for reading bytes, got one of text")
    return bytes(part)


class ByteReader:
    """Reads a source onwards; what pickles need."""

    def __init__(self, source: Source, offset: int = 0, end: int | None = None) -> None:
        self.source = source
        self.end = source.size if end is None else end
        self._chunk, self._next, self._position = b"", offset, 0

    def tell(self) -> int:
        """Where in the source the next byte lies."""
        return self._next - len(self._chunk) + self._position

    def seek(self, offset: int) -> None:
        """Go on elsewhere."""
        self._chunk, self._next, self._position = b"", offset, 0

    @property
    def remaining(self) -> int:
        """How many bytes are left."""
        return self.end - self.tell()

    def read(self, size: int = -1) -> bytes:
        """Return the next `size` bytes, or what is left with a negative size.

        **Raises** TruncatedFileError if fewer are left.
        """
        stop = self._position + size
        if size > 0 and stop <= len(self._chunk):
            found = self._chunk[self._position : stop]
            self._position = stop
            return found
        return self._read_over(size)

    def _read_over(self, size: int) -> bytes:
        if size < 0:
            size = self.remaining
        place = self.tell()
        if size > self.end - place:
            raise errors.truncated("the pickle's next item", size, self.end - place)
        if size > _CHUNK:
            self.seek(place + size)
            return self.source.read_at(place, size)
        self._fill(place)
        self._position = size
        return self._chunk[:size]

    def _fill(self, place: int) -> None:
        """Buffer what comes next."""
        count = min(_CHUNK, self.end - place)
        self._chunk = self.source.read_at(place, count) if count else b""
        self._next, self._position = place + count, 0

    def readinto(self, target: Any) -> int:
        """Fill a buffer."""
        view = memoryview(target)
        view[:] = self.read(len(view))
        return len(view)

    def readline(self) -> bytes:
        """Return the next line with its end.

        **Raises** TruncatedFileError if no line ends any more.
        """
        parts = []
        while True:
            stop = self._chunk.find(b"\n", self._position) + 1
            parts.append(self._chunk[self._position : stop or None])
            if stop:
                self._position = stop
                return b"".join(parts)
            if self._next >= self.end:
                raise errors.truncated("a line of the pickle", 1, 0)
            self._fill(self._next)
