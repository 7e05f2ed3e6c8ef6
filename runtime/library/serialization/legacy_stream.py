"""The format of PyTorch 0.1.10 to 1.5: pickles one after another, then the bytes of storages.

A magic number, the format's version and sizes of C types come first, then the object, then the
keys of the storages; and behind them for each, in that order, its number of elements as int64 and
its bytes, all little-endian. The object's pickle is measured first, so that the storages are there
when it runs.
"""

from __future__ import annotations

import struct
import sys
from typing import Any, NamedTuple

from torchgen_out._runtime.library.serialization import errors
from torchgen_out._runtime.library.serialization.measuring import Measuring, MeasuringMachine
from torchgen_out._runtime.library.serialization.options import Options
from torchgen_out._runtime.library.serialization.pickle_machine import PickleMachine
from torchgen_out._runtime.library.serialization.source import ByteReader, Source
from torchgen_out._runtime.library.serialization.storages import (
    Description,
    Storages,
    describe,
    is_module,
)

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001

_COUNT = struct.Struct("<q")


def load(source: Source, options: Options) -> Any:
    """Load the object that a stream holds, and leave the file behind it.

    **Raises** LoadError if the stream does not begin with the magic number.
    """
    reader = ByteReader(source)
    _check_head(reader)
    start = reader.tell()
    noted = Measuring()
    MeasuringMachine(reader, noted, options.encoding, options.decoding_errors).load()
    end = reader.tell()
    keys = PickleMachine(reader, Measuring(), "latin1").load()
    contents = StreamContents(source)
    behind = contents.find_all(keys, noted.references, reader.tell())
    storages = Storages(
        contents,
        options.map_location,
        is_swapped=sys.byteorder == "big",
        without_data=options.without_data,
    )
    loaded = options.unpickle(source, storages.of_reference, start, end)
    source.leave_at(behind)
    return loaded


def _check_head(reader: ByteReader) -> None:
    try:
        magic = PickleMachine(reader, Measuring()).load()
    except errors.LoadError as error:
        if isinstance(error, EOFError) and not reader.source.size:
            raise errors.TruncatedFileError("load: the file is empty: Ran out of input") from None
        raise errors.LoadError(
            "load: Invalid magic number; corrupt file? It is neither a zip archive, as PyTorch "
            f"writes it since 1.6, nor a stream or tar of before ({error})"
        ) from None
    if type(magic) is not int or magic != MAGIC_NUMBER:
        raise errors.LoadError(
            "load: Invalid magic number; corrupt file? It is a pickle, but not of torch.save"
        )
    version = PickleMachine(reader, Measuring()).load()
    if type(version) is not int or version != PROTOCOL_VERSION:
        raise errors.damaged(f"Invalid protocol version: only {PROTOCOL_VERSION} is known")
    system = PickleMachine(reader, Measuring(), "latin1").load()
    if type(system) is not dict:
        raise errors.wrong_argument("the head of the file", "a dict of C's sizes", system)


class Run(NamedTuple):
    """Where the bytes of one storage lie."""

    offset: int
    count: int  # type: ignore[assignment]  # of elements; nobody counts in the tuple


class StreamContents:
    """Storages whose bytes lie in the file one after another."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._runs: dict[str, Run] = {}

    def find_all(self, keys: Any, references: list[Any], place: int) -> int:
        """Find the bytes of all storages from `place` on; return where they end.

        **Raises** LoadError unless the file holds just what the references describe.
        """
        storages = (each for each in references if not is_module(each))
        described = {each.key: each for each in map(describe, storages)}
        if type(keys) is not list:
            raise errors.wrong_argument("the keys of the storages", "a list", keys)
        for key in keys:
            name = key if type(key) is str else str(key) if type(key) is int else ""
            if name not in described or name in self._runs:
                raise errors.damaged("the keys of the storages are not those of the pickle")
            place = self.find(described[name], place)
        return place

    def find(self, described: Description, place: int) -> int:
        """Find the bytes of one storage; return where they end."""
        (count,) = _COUNT.unpack(self._source.read_at(place, _COUNT.size, "a storage's size"))
        if count != described.count:
            raise errors.damaged(f"a storage of {described.count} elements has {count} in the file")
        start = place + _COUNT.size
        if described.nbytes > self._source.size - start:
            raise errors.truncated("a storage", described.nbytes, self._source.size - start)
        self._runs[described.key] = Run(start, count)
        return start + described.nbytes

    def count_at(self, place: int) -> int:
        """The number of elements of the storage whose bytes begin at `place`."""
        count: int = _COUNT.unpack(self._source.read_at(place, _COUNT.size, "a storage's size"))[0]
        if count < 0:
            raise errors.damaged(f"a storage has {count} elements")
        return count

    def check(self, described: Description) -> None:
        """Only storages that were found have bytes."""
        run = self._runs.get(described.key)
        if run is None or run.count != described.count:
            raise errors.damaged(f"storage '{errors.shown(described.key)}' is not in the file")

    def fill(self, described: Description, target: Any) -> None:
        """Read the bytes."""
        self._source.read_into(self._runs[described.key].offset, target)

    def mapped(self, described: Description) -> Any:
        """Nothing: in these files elements lie at odd places."""
        return None
