"""The zip archive of PyTorch since 1.6: `data.pkl` and beside it a record for each storage."""

from __future__ import annotations

import mmap
import sys
from typing import Any

import numpy as np

from torchgen_out._runtime.library.serialization import endianness, errors
from torchgen_out._runtime.library.serialization.options import Options
from torchgen_out._runtime.library.serialization.source import Source
from torchgen_out._runtime.library.serialization.storages import Description, Storages
from torchgen_out._runtime.library.serialization.zip_records import Record, ZipRecords

_BYTE_ORDERS = (b"little", b"big")


def load(source: Source, options: Options) -> Any:
    """Load the object that an archive holds."""
    records = ZipRecords(source)
    root = _root(records)
    contents = _Contents(records, root, _mapping(source, options))
    storages = Storages(
        contents,
        options.map_location,
        is_swapped=_byte_order(records, root) != sys.byteorder.encode(),
        without_data=options.without_data,
    )
    pickle_source = Source.of_bytes(records.read(f"{root}data.pkl"))
    return options.unpickle(pickle_source, storages.of_reference)


def pickle_of(source: Source) -> bytearray:
    """The pickle in an archive, which describes its object."""
    records = ZipRecords(source)
    return records.read(f"{_root(records)}data.pkl")


def _root(records: ZipRecords) -> str:
    """The folder in the archive that everything lies in, with its slash."""
    pickles = [name for name in records.records if name.split("/", 1)[-1] == "data.pkl"]
    if not pickles:
        raise errors.damaged("the archive has no data.pkl; it is no file of torch.save")
    root = pickles[0].removesuffix("data.pkl")
    if f"{root}constants.pkl" in records:
        raise errors.LoadError(
            "load: the archive holds a TorchScript program, not saved tensors; save the module's "
            "state dict with PyTorch"
        )
    return root


def _byte_order(records: ZipRecords, root: str) -> bytes:
    name = f"{root}byteorder"
    if name not in records:
        return endianness.default_byte_order()
    found = bytes(records.read(name))
    if found not in _BYTE_ORDERS:
        raise errors.damaged("the byte order is neither little nor big")
    return found


def _mapping(source: Source, options: Options) -> mmap.mmap | None:
    """The file in memory: what is written there stays in this process unless asked otherwise."""
    if not options.mmap:
        return None
    access = mmap.ACCESS_WRITE if options.mmap_is_shared else mmap.ACCESS_COPY
    return mmap.mmap(source.file.fileno(), source.size, access=access)


class _Contents:
    """The records that hold the bytes of storages."""

    def __init__(self, records: ZipRecords, root: str, mapping: mmap.mmap | None) -> None:
        self._records, self._root, self._mapping = records, root, mapping

    def _record(self, described: Description) -> Record:
        return self._records.find(f"{self._root}data/{described.key}")

    def check(self, described: Description) -> None:
        """Compare sizes: a storage of several dtypes may end within an element."""
        record = self._record(described)
        self._records.check(record)
        if not described.nbytes <= record.size < described.nbytes + described.dtype.itemsize:
            raise errors.damaged(
                f"storage '{errors.shown(described.key)}' takes {described.nbytes} bytes, its "
                f"record holds {record.size}"
            )

    def fill(self, described: Description, target: Any) -> None:
        """Read the record."""
        record = self._record(described)
        if record.size == len(target):
            self._records.read_into(record, target)
        else:
            target[:] = np.frombuffer(self._records.read(record.name), np.uint8)[: len(target)]

    def mapped(self, described: Description) -> Any:
        """The record's place in the mapped file, if its elements lie there as kernels need it."""
        record = self._record(described)
        if self._mapping is None or not described.nbytes or not self._records.is_stored(record):
            return None
        offset = self._records.offset(record)
        if offset + described.nbytes > len(self._mapping):
            raise errors.truncated("a storage", described.nbytes, len(self._mapping) - offset)
        if offset % described.dtype.itemsize:
            return None
        return np.frombuffer(self._mapping, np.uint8, described.nbytes, offset)
