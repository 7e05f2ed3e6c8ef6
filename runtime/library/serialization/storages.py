"""The storages of one file: what the pickle says of each, its bytes, and the device it goes to."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

import torchgen_out as torch
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.library.serialization import errors
from torchgen_out._runtime.library.serialization.storage_types import DTYPE_OF_TYPE, TYPES
from torchgen_out._runtime.tensor_api.typed_storage import TypedStorage

MapLocation: TypeAlias = str | devices.device | dict[str, str] | Callable[[Any, str], Any] | None

_LIMIT = 1 << 63
_PRINTED = re.compile(
    r"\('storage', <class 'torch\.(?P<type>\w+)'>, '(?P<key>\d+)', '(?P<location>[\w:]+)', "
    r"(?P<count>\d{1,19})(, None)?\)"
)


class Description(NamedTuple):
    """What a pickle says of a storage."""

    dtype: dtypes.dtype
    key: str
    location: str
    count: int  # type: ignore[assignment]  # of elements; nobody counts in the tuple
    """Number of elements."""
    view: tuple[str, int, int] | None
    """For a view of 0.1 to 0.3: its own key, offset and number of elements."""

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.count * self.dtype.itemsize


def describe(reference: Any) -> Description:
    """Read a reference: ("storage", type, key, location, count), and in old files a view.

    **Raises** LoadError if it is anything else.
    """
    if type(reference) is str:
        reference = _parsed(reference)
    if type(reference) is not tuple or len(reference) not in (5, 6):
        raise errors.wrong_argument("a reference", "a tuple of five or six", reference)
    if _text(reference[0]) != "storage":
        raise errors.damaged("a reference of the pickle names no storage")
    of = DTYPE_OF_TYPE.get(id(reference[1]))
    if of is None:
        raise errors.wrong_argument("a storage", "a type of storages", reference[1])
    key, location, count = _text(reference[2]), _text(reference[3]), _count(reference[4])
    view = reference[5] if len(reference) == 6 else None
    if view is not None:
        if type(view) is not tuple or len(view) != 3:
            raise errors.wrong_argument("a view of a storage", "a tuple of three", view)
        view = _text(view[0]), _count(view[1]), _count(view[2])
        if view[1] + view[2] > count:
            raise errors.damaged("a view of a storage reaches beyond it")
    return Description(of, key, location, count, view)


def _parsed(line: str) -> tuple[Any, ...]:
    """Read a reference of protocol 0, where Python wrote the tuple as it prints it."""
    match = _PRINTED.fullmatch(line)
    if match is None or match["type"] not in TYPES:
        raise errors.damaged(f"a reference in the pickle names no storage: {errors.shown(line)}")
    return "storage", TYPES[match["type"]], match["key"], match["location"], int(match["count"])


def is_module(reference: Any) -> bool:
    """Whether a reference is the class of a module, with its source."""
    return (
        type(reference) is tuple
        and len(reference) > 1
        and type(reference[0]) in (str, bytes)
        and reference[0] in ("module", b"module")
    )


def _text(given: Any) -> str:
    """A word of a reference; `encoding="bytes"` leaves those of Python 2 as bytes."""
    if type(given) is bytes and given.isascii():
        return given.decode("ascii")
    if type(given) is int:
        return str(given)
    if type(given) is not str:
        raise errors.wrong_argument("a storage", "a str", given)
    return given


def _count(given: Any) -> int:
    if type(given) is not int:
        raise errors.wrong_argument("a storage's size", "an int", given)
    if not 0 <= given < _LIMIT:
        raise errors.damaged("a storage's size must lie in [0, 2**63)")
    return given


class Contents(Protocol):
    """Where in a file the bytes of storages are."""

    def check(self, described: Description) -> None:
        """Raise LoadError unless the file holds as many bytes as the storage takes."""

    def fill(self, described: Description, target: Any) -> None:
        """Write the bytes into a uint8 array."""

    def mapped(self, described: Description) -> Any:
        """The bytes as a uint8 array over the file itself; None if that cannot be."""


class Storages:
    """Storages by key, each made once."""

    def __init__(
        self,
        contents: Contents,
        map_location: MapLocation,
        *,
        is_swapped: bool = False,
        without_data: bool = False,
    ) -> None:
        self._contents = contents
        self._map_location = map_location
        self._is_swapped, self._without_data = is_swapped, without_data
        self._made: dict[str, tuple[Description, TypedStorage]] = {}

    def of_reference(self, reference: Any) -> Any:
        """What a reference in the pickle means: a storage, or in old files a module's class."""
        if is_module(reference):
            return reference[1]
        return self.find(describe(reference))

    def find(self, described: Description) -> TypedStorage:
        """Return the storage that a reference describes.

        **Raises** LoadError if the file lacks its bytes, or describes it in two ways.
        """
        known = self._made.get(described.key)
        if known is None or not (known[0].count or described.count):
            known = described, self._make(described)
            self._made[described.key] = known
        if (known[0].dtype, known[0].count) != (described.dtype, described.count):
            raise errors.damaged(
                f"storage '{errors.shown(described.key)}' is described in two ways"
            )
        return known[1] if described.view is None else self._view(described, known[1])

    def _view(self, described: Description, whole: TypedStorage) -> TypedStorage:
        assert described.view is not None
        key, offset, count = described.view
        known = self._made.get(f"{described.key}/{key}")
        if known is None:
            part = whole.untyped().buffer
            if part is not None:
                part = part[offset : offset + count]
            known = described, TypedStorage(wrap_storage=Storage(part), dtype=described.dtype)
            self._made[f"{described.key}/{key}"] = known
        return known[1]

    def _make(self, described: Description) -> TypedStorage:
        self._contents.check(described)
        if _is_meta(self._map_location):
            return TypedStorage(described.count, dtype=described.dtype, device="meta")
        return _placed(self._read(described), described.location, self._map_location)

    def _read(self, described: Description) -> TypedStorage:
        mapped = None if self._without_data else self._contents.mapped(described)
        if mapped is None:
            data = np.zeros(described.nbytes, np.uint8)  # pages cost nothing until written
            if not self._without_data:
                self._contents.fill(described, data)
        else:
            data = mapped
        array = data.view(described.dtype.numpy)
        if self._is_swapped:
            array = array.byteswap()
        if described.dtype is dtypes.bool:
            # A truth value other than 0 and 1 counts as one in one kernel and many in another.
            np.minimum(data, 1, out=data)
        return TypedStorage(wrap_storage=Storage(array), dtype=described.dtype)


def _is_meta(map_location: MapLocation) -> bool:
    if isinstance(map_location, str):
        return map_location == "meta"
    return isinstance(map_location, devices.device) and map_location.type == "meta"


def _placed(storage: TypedStorage, location: str, map_location: MapLocation) -> TypedStorage:
    """Move a storage to where `map_location` wants it.

    **Raises** RuntimeError if that is no device of this machine.
    """
    if isinstance(map_location, bytes):
        map_location = map_location.decode()
    if isinstance(map_location, str | devices.device):
        location = str(map_location)
    elif isinstance(map_location, dict):
        location = str(map_location.get(location, location))
    elif map_location is not None:
        chosen = map_location(storage, location)
        if isinstance(chosen, Storage):
            return TypedStorage(wrap_storage=chosen, dtype=storage.dtype)
        if isinstance(chosen, TypedStorage):
            return chosen
        if chosen is not None:
            raise TypeError(
                "load: map_location must return a storage or None, got " + type(chosen).__name__
            )
    return _moved(storage, location)


def _moved(storage: TypedStorage, location: str) -> TypedStorage:
    if location == "cpu":
        return storage
    try:
        target = devices.device(location)
    except (RuntimeError, TypeError):
        raise _unknown_location(location) from None
    if target.type not in devices.TYPE_INDEX:  # a device that PyTorch has
        raise _unknown_location(location)
    if target.type == "cuda" and not torch.cuda.is_available():
        raise errors.LoadError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
            "False. If you are running on a CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU."
        )
    if target.type == "cuda" and (target.index or 0) >= torch.cuda.device_count():
        raise errors.LoadError(
            f"Attempting to deserialize object on CUDA device {target.index} but "
            f"torch.cuda.device_count() is {torch.cuda.device_count()}. Please use torch.load with "
            "map_location to map your storages to an existing device."
        )
    if target.type == "meta":
        return TypedStorage(storage.size(), dtype=storage.dtype, device=target)
    moved: Any = storage._elements.to(target)
    return TypedStorage.of_tensor(moved)


def _unknown_location(location: str) -> errors.LoadError:
    return errors.LoadError(
        "load: don't know how to restore data location of torch.storage.UntypedStorage "
        f"(tagged with {errors.shown(location)}); name a device by map_location"
    )
