"""How a file is to be loaded, and what is the same for all kinds of files."""

from __future__ import annotations

import mmap
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.serialization.pickle_machine import PickleMachine
from torchgen_out._runtime.library.serialization.policies import WeightsOnly, trusting_unpickler
from torchgen_out._runtime.library.serialization.source import ByteReader, Source
from torchgen_out._runtime.library.serialization.storages import MapLocation


@dataclass(frozen=True)
class Options:
    """What `load` was asked for."""

    map_location: MapLocation
    weights_only: bool
    pickle_module: Any
    """Whose Unpickler reads the pickle, if the file is trusted."""
    mmap: bool
    mmap_is_shared: bool
    without_data: bool
    """Storages are made, but not read."""
    pickle_load_args: dict[str, Any] = field(default_factory=dict)

    @property
    def encoding(self) -> str:
        """Of the strings that Python 2 wrote."""
        return str(self.pickle_load_args.get("encoding", "utf-8"))

    @property
    def decoding_errors(self) -> str:
        """What is done about strings that do not have the encoding."""
        return str(self.pickle_load_args.get("errors", "strict"))

    def unpickle(
        self,
        source: Source,
        refer: Callable[[Any], Any],
        start: int = 0,
        end: int | None = None,
    ) -> Any:
        """Run the pickle that lies at `start` of a source."""
        reader = ByteReader(source, start, end)
        if not self.weights_only:
            given = {"encoding": self.encoding, **self.pickle_load_args}
            return trusting_unpickler(self.pickle_module, reader, refer, **given).load()
        policy = WeightsOnly(refer, reader.remaining)
        return PickleMachine(reader, policy, self.encoding, self.decoding_errors).load()


class _Settings(threading.local):
    """What a `with` block of this thread has set."""

    skip_data = False


_settings = _Settings()


class skip_data:
    """Inside a `with` block, `save` writes zeros for storages and `load` does not read them."""

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors
        self._before = False

    def __enter__(self) -> None:
        self._before, _settings.skip_data = _settings.skip_data, True

    def __exit__(self, *_: object) -> None:
        _settings.skip_data = self._before


def skips_data() -> bool:
    """Whether storages are left out."""
    return _settings.skip_data


MAP_PRIVATE = getattr(mmap, "MAP_PRIVATE", None)
MAP_SHARED = getattr(mmap, "MAP_SHARED", None)
"""None on Windows, where files are mapped privately."""
_mmap_flags = MAP_PRIVATE


def get_default_mmap_options() -> int | None:
    """Return how `load(mmap=True)` maps: privately, or for all who map the file."""
    return _mmap_flags


def maps_for_all() -> bool:
    """Whether what is written to mapped tensors goes to the file."""
    return _mmap_flags is not None and _mmap_flags == MAP_SHARED


class set_default_mmap_options:
    """Set how `load(mmap=True)` maps; as a context manager, until the block ends."""

    def __init__(self, flags: int) -> None:
        global _mmap_flags
        if MAP_SHARED is None:
            raise RuntimeError("Changing the default mmap options is not supported for Windows")
        if flags not in (MAP_PRIVATE, MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, expected "
                f"mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got {flags}"
            )
        self._before, _mmap_flags = _mmap_flags, flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        global _mmap_flags
        _mmap_flags = self._before


public.place("serialization", set_default_mmap_options, skip_data)
