"""How requests and answers of stores look as bytes: counted strings, with a limit on everything.

A connection begins with a greeting in each direction. Whoever says anything else is refused, and
no count is believed before as many bytes have come.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from torchgen_out._runtime.library.distributed.stores.table import OPERATIONS

GREETING = b"torchgen-store\0\x01"
"""The last byte is the version."""
MOST_STRINGS = 1 << 16
MOST_BYTES = 1 << 28
"""Of one request or answer, all strings together."""
_HEAD = struct.Struct(
    "<BdII"
)  # operation or status, time-out, number of strings, bytes that follow
_LENGTH = struct.Struct("<I")

OK, REFUSED, TIMED_OUT = range(3)


class Garbage(ValueError):
    """Bytes that are no request and no answer."""


class Request(NamedTuple):
    """One request, and how many bytes it took."""

    operation: str
    arguments: list[bytes]
    timeout: float
    length: int


def pack(code: int, timeout: float, strings: list[bytes]) -> bytes:
    """A head and counted strings. **Raises** Garbage beyond the limits."""
    body = b"".join(_LENGTH.pack(len(each)) + each for each in strings)
    if len(strings) > MOST_STRINGS or len(body) > MOST_BYTES:
        raise Garbage(f"{len(body)} bytes in {len(strings)} strings are more than a store takes")
    return _HEAD.pack(code, timeout, len(strings), len(body)) + body


def pack_request(operation: str, arguments: list[bytes], timeout: float) -> bytes:
    """A request as bytes."""
    return pack(OPERATIONS.index(operation), timeout, arguments)


def unpack(data: memoryview | bytes | bytearray) -> tuple[int, float, list[bytes], int] | None:
    """Code, time-out, strings, and the length of the first message; None if more has to come.

    **Raises** Garbage if no message begins like this.
    """
    if len(data) < _HEAD.size:
        return None
    code, timeout, count, size = _HEAD.unpack_from(data)
    if count > MOST_STRINGS or size > MOST_BYTES or size < count * _LENGTH.size:
        raise Garbage(f"a message of {size} bytes in {count} strings")
    end = _HEAD.size + size
    if len(data) < end:
        return None
    strings, at = [], _HEAD.size
    for _ in range(count):
        if at + _LENGTH.size > end:
            raise Garbage("a message whose strings do not fill it")
        start = at + _LENGTH.size
        at = start + _LENGTH.unpack_from(data, at)[0]
        if at > end:
            raise Garbage("a message whose strings do not fit into it")
        strings.append(bytes(data[start:at]))
    if at != end:
        raise Garbage("a message whose strings do not fill it")
    return code, timeout, strings, end


def unpack_request(data: memoryview | bytes | bytearray) -> Request | None:
    """The first request of some bytes; None if more has to come. **Raises** Garbage."""
    message = unpack(data)
    if message is None:
        return None
    code, timeout, arguments, length = message
    if code >= len(OPERATIONS) or not 0 <= timeout < 1e9:
        raise Garbage(f"operation {code} with time-out {timeout}")
    return Request(OPERATIONS[code], arguments, timeout, length)
