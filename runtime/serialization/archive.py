"""`save` and `load`: the zip file around a pickle and its storages, as PyTorch writes it."""

from __future__ import annotations

import io
import os
import pickle
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from runtime.core import device as devices
from runtime.core.storage import Storage
from runtime.serialization.atomic import atomic_path
from runtime.serialization.pickling import dumps
from runtime.serialization.unpickling import LoadedStorage, SafeUnpickler, TrustingUnpickler

File: TypeAlias = str | os.PathLike[str] | Any
MapLocation: TypeAlias = str | devices.device | dict[str, str] | Callable[[Any, str], Any] | None

_EARLIEST = (1980, 1, 1, 0, 0, 0)  # no time of writing: equal contents give equal files


def save(
    obj: Any,
    f: File,
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Save an object with its tensors to a path or a binary file; PyTorch can read it.

    A path is written whole or not at all. Tensors that share memory still do after loading.
    """
    if isinstance(f, (str, os.PathLike)):
        with atomic_path(f) as path, open(path, "wb") as file:
            _write(obj, file, Path(f).stem or "archive")
        return
    if not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with write")
    buffer = io.BytesIO()
    _write(obj, buffer, "archive")
    f.write(buffer.getvalue())


def _write(obj: Any, file: Any, root: str) -> None:
    pickled, records = dumps(obj)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:

        def add(name: str, data: Any) -> None:
            with archive.open(zipfile.ZipInfo(f"{root}/{name}", _EARLIEST), "w") as entry:
                entry.write(data)

        add("data.pkl", pickled)
        add("byteorder", sys.byteorder.encode())
        for record in records:
            add(f"data/{record.key}", memoryview(record.buffer.view(np.uint8)))
        add("version", b"3\n")


def load(
    f: File,
    map_location: MapLocation = None,
    pickle_module: Any = None,
    *,
    weights_only: bool = True,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load what `save`, or PyTorch 1.6 and later, has written.

    map_location: where tensors go, instead of where they were. With `weights_only` (the default)
    a file can hold tensors and plain containers; other classes must be allowed by
    `add_safe_globals`. Without it a file can run any code: load only what you trust.
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _read(file, map_location, weights_only)
    if not hasattr(f, "read"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with read")
    return _read(f, map_location, weights_only)


def _read(file: Any, map_location: MapLocation, weights_only: bool) -> Any:
    if not hasattr(file, "seek"):
        file = io.BytesIO(file.read())
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile:
        raise RuntimeError(
            "load: expected a zip archive as PyTorch writes it since 1.6, got another file; "
            "if it is older, load and save it again with PyTorch"
        ) from None
    with archive:
        names = archive.namelist()
        pickles = [name for name in names if name.split("/", 1)[-1] == "data.pkl"]
        if not pickles:
            raise RuntimeError("load: the archive has no data.pkl; it is no file of torch.save")
        root = pickles[0].rpartition("data.pkl")[0]
        if f"{root}constants.pkl" in names:
            raise RuntimeError("load: the archive holds a TorchScript program, not saved tensors")
        reader = _Storages(archive, root, map_location)
        unpickler = SafeUnpickler if weights_only else TrustingUnpickler
        return unpickler(io.BytesIO(archive.read(pickles[0])), reader.load).load()


class _Storages:
    """The storages of one archive; each is read once."""

    def __init__(self, archive: zipfile.ZipFile, root: str, map_location: MapLocation) -> None:
        self.archive, self.root, self.map_location = archive, root, map_location
        names = archive.namelist()
        order = archive.read(f"{root}byteorder") if f"{root}byteorder" in names else b"little"
        self.swapped = order.decode() != sys.byteorder
        self.loaded: dict[str, LoadedStorage] = {}

    def load(self, reference: tuple[Any, ...]) -> LoadedStorage:
        """Return the storage that ("storage", dtype, key, location, count) names."""
        _, dtype, key, location, _ = reference
        found = self.loaded.get(key)
        if found is None:
            array = np.frombuffer(
                bytearray(self.archive.read(f"{self.root}data/{key}")), dtype.numpy
            )
            if self.swapped:
                array = array.byteswap()
            found = LoadedStorage(Storage(array), dtype, self._target(location))
            self.loaded[key] = found
        return found

    def _target(self, location: str) -> Any:
        """The device for a storage that was at `location`."""
        chosen: Any = self.map_location
        if isinstance(chosen, dict):
            chosen = chosen.get(location, location)
        elif callable(chosen):
            chosen = getattr(chosen(None, location), "device", None) or location
        elif chosen is None:
            chosen = location
        return chosen
