"""`load`: what was asked for, and which of the formats a file has."""

from __future__ import annotations

import os
import pickle
from typing import Any, TypeAlias

from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.library.serialization import (
    errors,
    legacy_stream,
    legacy_tar,
    options,
    safetensors_files,
    zip_archive,
)
from torchgen_out._runtime.library.serialization.measuring import Measuring, MeasuringMachine
from torchgen_out._runtime.library.serialization.safe_globals import is_known
from torchgen_out._runtime.library.serialization.source import ByteReader, Source
from torchgen_out._runtime.library.serialization.storages import MapLocation
from torchgen_out._runtime.library.serialization.zip_records import SIGNATURE

File: TypeAlias = str | os.PathLike[str] | Any

_TRUE = ("1", "y", "yes", "true")


def load(
    f: File,
    map_location: MapLocation = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load what `save`, or any release of PyTorch, has written.

    map_location: where storages go, instead of where they were: a device, a dict from old to new,
    or a function of storage and location. With `weights_only` (the default, unless there is a
    `pickle_module`) a file can hold tensors and plain containers; other classes must be allowed by
    `add_safe_globals`. Without it a file can run any code: load only what you trust. mmap: tensors
    look into the file itself, and pages are read when they are used.
    **Raises** LoadError for damaged files, and for those that want more than they may.
    """
    trusts = not _is_weights_only(weights_only, pickle_module)
    if pickle_module is not None and not trusts:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    chosen = options.Options(
        map_location=map_location,
        weights_only=not trusts,
        pickle_module=pickle_module or pickle,
        mmap=bool(mmap),
        mmap_is_shared=options.maps_for_all(),
        without_data=options.skips_data(),
        pickle_load_args=pickle_load_args,
    )
    if isinstance(f, (str, os.PathLike)):
        if os.fspath(f).endswith(".safetensors"):
            return safetensors_files.load_file(f, _device_of(map_location))
        writes = chosen.mmap and chosen.mmap_is_shared
        with open(f, "r+b" if writes else "rb") as file:
            return _load(Source(file), chosen)
    if mmap:
        raise ValueError("f must be a file path in order to use the mmap argument")
    if not hasattr(f, "read"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with read")
    return _load(Source(f), chosen)


def get_unsafe_globals_in_checkpoint(f: File) -> list[str]:
    """Return the names in a zip archive that `load(weights_only=True)` would refuse."""
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return get_unsafe_globals_in_checkpoint(file)
    source = Source(f)
    if not source.read_at(0, min(source.size, 4)).startswith(SIGNATURE):
        raise ValueError("Expected input to be a checkpoint returned by torch.save")
    noted = Measuring()
    pickled = Source.of_bytes(zip_archive.pickle_of(source))
    MeasuringMachine(ByteReader(pickled), noted).load()
    return sorted(".".join(place) for place in noted.names if not is_known(*place))


def _is_weights_only(given: bool | None, pickle_module: Any) -> bool:
    forced = os.getenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "0").lower() in _TRUE
    forbidden = os.getenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "0").lower() in _TRUE
    if forced and forbidden:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` "
            "should be set, but both were set."
        )
    if forced:
        return True
    if given is None and forbidden:
        warn(
            "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD is set and `weights_only` was not given: "
            "loading with weights_only=False, which runs code from the file",
        )
        return False
    return pickle_module is None if given is None else bool(given)


def _device_of(map_location: MapLocation) -> str:
    if map_location is None:
        return "cpu"
    if isinstance(map_location, str | devices.device):
        return str(map_location)
    raise RuntimeError(
        "load: a safetensors file does not say where its tensors were; give map_location as a "
        f"device, not as a {type(map_location).__name__}"
    )


def _load(source: Source, chosen: options.Options) -> Any:
    head = source.read_at(0, min(source.size, 512), "the file's head")
    if head.startswith(SIGNATURE):
        return zip_archive.load(source, chosen)
    if chosen.mmap:
        raise errors.LoadError(
            "mmap can only be used with files saved with "
            "`torch.save(_use_new_zipfile_serialization=True)`, please torch.save your checkpoint "
            "with this option in order to use mmap."
        )
    if legacy_tar.is_tar(head):
        return legacy_tar.load(source, chosen)
    return legacy_stream.load(source, chosen)
