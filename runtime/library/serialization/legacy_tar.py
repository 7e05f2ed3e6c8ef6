"""The format of PyTorch 0.1.1 to 0.1.9: a tar with storages, tensors and the object's pickle.

Source: what `torch.serialization.legacy_load` reads.
"""

from __future__ import annotations

import struct
import sys
from typing import Any

from torchgen_out._runtime.library.serialization import errors
from torchgen_out._runtime.library.serialization.legacy_stream import StreamContents
from torchgen_out._runtime.library.serialization.options import Options
from torchgen_out._runtime.library.serialization.pickle_machine import PickleMachine
from torchgen_out._runtime.library.serialization.policies import WeightsOnly
from torchgen_out._runtime.library.serialization.rebuilding import OldTensor, rebuild_tensor
from torchgen_out._runtime.library.serialization.source import ByteReader, Source
from torchgen_out._runtime.library.serialization.storage_types import DTYPE_OF_TYPE
from torchgen_out._runtime.library.serialization.storages import Description, Storages

_BLOCK = 512
_MAX_DIMS = 64
_REGULAR = (b"0", b"\0")


def is_tar(head: bytes) -> bool:
    """Whether a file's first block is that of a tar."""
    return head[257:262] == b"ustar"


def load(source: Source, options: Options) -> Any:
    """Load the object that a tar holds."""
    members = _members(source)
    for name in ("storages", "tensors", "pickle"):
        if name not in members:
            raise errors.damaged(f"the tar has no member '{name}'; it is no file of torch.save")
    objects = _Objects(source, options)
    objects.read_storages(*members["storages"])
    objects.read_tensors(*members["tensors"])
    start, end = members["pickle"]
    return options.unpickle(source, objects.find, start, end)


def _members(source: Source) -> dict[str, tuple[int, int]]:
    """The regular files of a tar by name: where each begins and ends."""
    found: dict[str, tuple[int, int]] = {}
    place = 0
    while place + _BLOCK <= source.size:
        block = source.read_at(place, _BLOCK)
        if not any(block):
            break
        size = _octal(block[124:136])
        start = place + _BLOCK
        if not is_tar(block) or _octal(block[148:156]) != _checksum(block):
            raise errors.damaged("a member of the tar does not have its checksum")
        if size > source.size - start:
            raise errors.truncated("a member of the tar", size, source.size - start)
        if block[156:157] in _REGULAR:
            name = block[:100].rstrip(b"\0").decode("utf-8", "replace")
            found[name] = start, start + size
        place = start + -(-size // _BLOCK) * _BLOCK
    return found


def _octal(field: bytes) -> int:
    try:
        number = int(field.rstrip(b" \0") or b"0", 8)
    except ValueError:
        number = -1
    if number < 0:
        raise errors.damaged("a number in the tar is not octal")
    return number


def _checksum(block: bytes) -> int:
    """The sum of a header's bytes, with spaces where it stands itself."""
    return sum(block[:148]) + sum(block[156:]) + 8 * ord(" ")


class _Objects:
    """Storages and tensors, by the numbers under which the pickle refers to them."""

    def __init__(self, source: Source, options: Options) -> None:
        self._source, self._options = source, options
        self._contents = StreamContents(source)
        self._storages = Storages(
            self._contents,
            options.map_location,
            is_swapped=sys.byteorder == "big",
            without_data=options.without_data,
        )
        self._described: dict[int, Description] = {}
        self._found: dict[int, Any] = {}

    def find(self, reference: Any) -> Any:
        """What a reference of the pickle means: a number, or a module's class with its source."""
        if type(reference) is tuple and reference and not self._options.weights_only:
            return reference[0]
        number = self._number(reference)
        if number not in self._found:
            raise errors.damaged("the pickle refers to a tensor that the file lacks")
        return self._found[number]

    @staticmethod
    def _number(given: Any) -> int:
        if type(given) is str and given.removeprefix("-").isdecimal() and len(given) < 30:
            return int(given)
        if type(given) is not int:
            raise errors.wrong_argument("a reference", "a number", given)
        return given

    def _machine(self, reader: ByteReader) -> PickleMachine:
        return PickleMachine(reader, WeightsOnly(self.find, reader.remaining), "latin1")

    def _tuple(self, machine: PickleMachine, size: int) -> Any:
        given = machine.load()
        if type(given) not in (tuple, list) or len(given) != size:
            raise errors.wrong_argument("an entry of the tar", f"a tuple of {size}", given)
        return given

    def _count(self, machine: PickleMachine) -> int:
        """How many entries follow; each takes a byte at least."""
        count = machine.load()
        if type(count) is not int or not 0 <= count <= machine.reader.remaining:
            raise errors.damaged("the tar holds more entries than bytes")
        return count

    def read_storages(self, start: int, end: int) -> None:
        """Read all storages, and the views into them."""
        reader = ByteReader(self._source, start, end)
        machine = self._machine(reader)
        for _ in range(self._count(machine)):
            key, location, kind = self._tuple(machine, 3)
            of = DTYPE_OF_TYPE.get(id(kind))
            if of is None or type(location) is not str:
                raise errors.damaged("a storage of the tar has no type, or no location")
            number = self._number(key)
            count = self._contents.count_at(reader.tell())
            described = Description(of, str(number), location, count, None)
            reader.seek(self._contents.find(described, reader.tell()))
            if reader.remaining < 0:
                raise errors.damaged("a storage reaches beyond its member of the tar")
            self._described[number] = described
            self._found[number] = self._storages.find(described)
        self._read_views(machine.load())

    def _read_views(self, views: Any) -> None:
        if type(views) is not list:
            raise errors.wrong_argument("the views of the tar", "a list", views)
        for view in views:
            if type(view) not in (tuple, list) or len(view) != 4:
                raise errors.wrong_argument("a view of the tar", "a tuple of four", view)
            target, root, offset, count = (self._number(each) for each in view)
            whole = self._described.get(root)
            if whole is None or not 0 <= offset <= offset + count <= whole.count:
                raise errors.damaged("a view of a storage reaches beyond it")
            viewed = whole._replace(view=(str(target), offset, count))
            self._found[target] = self._storages.find(viewed)

    def read_tensors(self, start: int, end: int) -> None:
        """Read the geometry of all tensors."""
        reader = ByteReader(self._source, start, end)
        machine = self._machine(reader)
        for _ in range(self._count(machine)):
            key, storage, kind = self._tuple(machine, 3)
            if type(kind) is not OldTensor:
                raise errors.wrong_argument("a tensor of the tar", "a type of tensors", kind)
            (dims,) = struct.unpack("<q", reader.read(8))
            dims &= 0xFFFFFFFF  # the upper half was not always written
            if dims > _MAX_DIMS:
                raise errors.damaged(f"a tensor has {dims} dimensions")
            sizes = struct.unpack(f"<{dims}q", reader.read(8 * dims))
            strides = struct.unpack(f"<{dims}q", reader.read(8 * dims))
            (offset,) = struct.unpack("<q", reader.read(8))
            over = self.find(storage)
            self._found[self._number(key)] = rebuild_tensor(over, offset, sizes, strides)
