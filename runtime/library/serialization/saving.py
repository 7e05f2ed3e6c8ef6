"""`save`: the zip archive of PyTorch since 1.6, or the stream of before."""

from __future__ import annotations

import os
import pickle
import struct
import sys
import zipfile
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from torchgen_out._runtime.library.serialization import options
from torchgen_out._runtime.library.serialization.destination import Output, atomic_path
from torchgen_out._runtime.library.serialization.legacy_stream import MAGIC_NUMBER, PROTOCOL_VERSION
from torchgen_out._runtime.library.serialization.pickling import StorageRecord, dumps

File: TypeAlias = str | os.PathLike[str] | Any

_EARLIEST = (1980, 1, 1, 0, 0, 0)  # no time of writing: equal contents give equal files
_ALIGNMENT = 64  # of storages in the file, so that they can be used where they are mapped
_LOCAL_HEADER = 30
_ZIP64_EXTRA = 20
_PADDING = b"FB"  # PyTorch's mark of an extra field that only fills up
_CHUNK = 1 << 22


def save(
    obj: object,
    f: File,
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Save an object with its tensors to a path or a binary file; PyTorch can read it.

    A path is written whole or not at all. Tensors that share memory still do after loading.
    Without `_use_new_zipfile_serialization` the file has the format of before 1.6.
    """
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "write"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )
    legacy = not _use_new_zipfile_serialization
    pickled, records = dumps(obj, pickle_module, pickle_protocol, is_legacy=legacy)

    def write(file: Any, root: str) -> None:
        if legacy:
            _write_stream(Output(file), pickled, records, pickle_protocol)
        else:
            _write_archive(Output(file), root, pickled, records, not _disable_byteorder_record)

    if isinstance(f, (str, os.PathLike)):
        with atomic_path(f) as path, open(path, "wb") as file:
            write(file, Path(f).stem or "archive")
    else:
        write(f, "archive")


def _write_archive(
    output: Output, root: str, pickled: bytes, records: list[StorageRecord], has_byte_order: bool
) -> None:
    with zipfile.ZipFile(output, "w", zipfile.ZIP_STORED) as archive:  # type: ignore[call-overload]

        def add(name: str, data: Any) -> None:
            size = memoryview(data).nbytes
            entry = _entry(f"{root}/{name}", size, output.tell())
            with archive.open(entry, "w") as record:
                for start in range(0, size, _CHUNK):
                    record.write(data[start : start + _CHUNK])

        add("data.pkl", pickled)
        if has_byte_order:
            add("byteorder", sys.byteorder.encode())
        for record in records:
            add(f"data/{record.key}", _data(record))
        add("version", b"3\n")


def _entry(name: str, size: int, place: int) -> zipfile.ZipInfo:
    """A record whose bytes begin at a multiple of the alignment."""
    entry = zipfile.ZipInfo(name, _EARLIEST)
    entry.file_size = size
    header = _LOCAL_HEADER + len(name.encode())
    if size * 1.05 > zipfile.ZIP64_LIMIT:  # as `ZipFile.open` decides
        header += _ZIP64_EXTRA
    missing = -(place + header + 4) % _ALIGNMENT
    entry.extra = _PADDING + struct.pack("<H", missing) + bytes(missing)
    return entry


def _data(record: StorageRecord) -> Any:
    """The bytes of a storage; zeros, which take no memory, if data is to be left out."""
    if options.skips_data():
        zeros: Any = np.zeros(record.buffer.nbytes, np.uint8)
        return memoryview(zeros)
    return memoryview(record.buffer.view(np.uint8))


def _write_stream(
    output: Output, pickled: bytes, records: list[StorageRecord], protocol: int
) -> None:
    system = {
        "protocol_version": PROTOCOL_VERSION,
        "little_endian": sys.byteorder == "little",
        "type_sizes": {"short": 2, "int": 4, "long": 4},
    }
    for head in (MAGIC_NUMBER, PROTOCOL_VERSION, system):
        output.write(pickle.dumps(head, protocol))
    output.write(pickled)
    ordered = sorted(records, key=lambda record: record.key)
    output.write(pickle.dumps([record.key for record in ordered], protocol))
    for record in ordered:
        output.write(struct.pack("<q", record.count))
        little = record.buffer.byteswap() if sys.byteorder == "big" else record.buffer
        output.write(_data(record._replace(buffer=little)))
