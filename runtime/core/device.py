"""Where tensors live: device objects, and the default device of factories; opens no device."""

from __future__ import annotations

import builtins
import re
import threading
from types import TracebackType
from typing import Any, Protocol, TypeAlias

from torchgen_out._runtime import errors

# The number of a device type is three bits of a tensor's key; `register_type` gives out the rest.
CPU, CUDA, META = 0, 1, 2
TYPE_INDEX: dict[str, int] = {"cpu": CPU, "cuda": CUDA, "meta": META}
_TYPE_NAMES = list(TYPE_INDEX)
_MAX_TYPES = 8
ABSENT = (
    "fpga", "hip", "hpu", "ideep", "ipu", "lazy", "maia", "mkldnn", "mps", "mtia", "opencl",
    "opengl", "privateuseone", "ve", "vulkan", "xla", "xpu",
)  # fmt: skip
"""Types that PyTorch knows and no backend serves: devices can be named, no tensor lives there."""
_DEVICE_STRING = re.compile(r"([a-z_0-9]*[a-z_])(?::(0|[1-9]\d*))?")


class device:
    """A device: a type such as "cpu" or "cuda", and the index of one device of that type or None.

    Equal devices are one object. As a context manager it is the default device of factories.

    **Example**

        >>> device("cuda:1")
        device(type='cuda', index=1)
        >>> device("cpu") is device("cpu")
        True
    """

    __slots__ = ("index", "type", "type_index")
    __module__ = "torchgen_out"

    type: str
    index: int | None
    type_index: int
    """The number of the type; a device that no backend serves has none, see `__getattr__`."""

    def __new__(cls, type: str | int | device, index: int | None = None) -> device:
        if isinstance(type, device):
            return type
        if isinstance(type, int) and not isinstance(type, bool):
            return _intern("cuda", type)  # the type of devices that are known by number alone
        if not isinstance(type, str):
            raise TypeError(
                "device() received an invalid combination of arguments - got "
                f"({type.__class__.__name__}), but expected a device, or a str and an int"
            )
        if index is None:
            return _BY_STRING.get(type) or _intern(*_parse(type))
        if isinstance(index, bool) or not isinstance(index, int):
            got = index.__class__.__name__
            raise TypeError(f"device(): argument 'index' (position 2) must be int, not {got}")
        if ":" in type:
            raise RuntimeError(
                "type (string) must not include an index because index was passed explicitly: "
                + type
            )
        return _intern(_parse(type)[0], index)

    def __repr__(self) -> str:
        if self.index is None:
            return f"device(type='{self.type}')"
        return f"device(type='{self.type}', index={self.index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return device, (str(self),)

    def __getattr__(self, name: str) -> Any:
        if name == "type_index":  # whoever puts a tensor somewhere asks for it
            raise errors.absent_device(self.type)
        raise AttributeError(f"'device' object has no attribute '{name}'")

    def __enter__(self) -> device:
        defaults.push(self)
        return self

    def __exit__(
        self,
        kind: builtins.type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        defaults.pop()


_BY_STRING: dict[str, device] = {}


DeviceLike: TypeAlias = device | str | int
"""What names a device: itself, its text, or the index of a CUDA device."""


def _parse(text: str) -> tuple[str, int | None]:
    if not text:
        raise RuntimeError("Device string must not be empty")
    match = _DEVICE_STRING.fullmatch(text)
    if match is None:
        raise errors.invalid_device_string(text)
    type_name, digits = match.groups()
    type_name = _private.get(type_name, type_name)
    if type_name not in TYPE_INDEX and type_name not in ABSENT:
        raise errors.unknown_device_type(text, [*TYPE_INDEX, *ABSENT])
    return type_name, None if digits is None else int(digits)


def _intern(type_name: str, index: int | None) -> device:
    if index is not None and index < 0:
        raise RuntimeError("Device index must not be negative")
    text = type_name if index is None else f"{type_name}:{index}"
    found = _BY_STRING.get(text)
    if found is None:
        found = object.__new__(device)
        found.type, found.index = type_name, index
        if type_name in TYPE_INDEX:
            found.type_index = TYPE_INDEX[type_name]
        found = _BY_STRING.setdefault(text, found)
    return found


def register_type(name: str) -> int:
    """Make `name` a device type, for a backend from outside, and return its number.

    Raises: RuntimeError when no number is left.
    """
    if name not in TYPE_INDEX:
        if len(TYPE_INDEX) == _MAX_TYPES:
            raise RuntimeError(f"no room for device type '{name}': {_MAX_TYPES} are registered")
        TYPE_INDEX[name] = len(TYPE_INDEX)
        _TYPE_NAMES.append(name)
        for known in list(_BY_STRING.values()):
            if known.type == name:
                known.type_index = TYPE_INDEX[name]
    return TYPE_INDEX[name]


PRIVATE = "privateuseone"
"""PyTorch's name for a device type from outside that has not been given another."""
_private: dict[str, str] = {}


def rename_private_type(name: str) -> None:
    """Let `privateuseone` mean a device type of another name.

    Raises: RuntimeError if it has another name by now, or this is no name.
    """
    if _private.get(PRIVATE, name) != name:
        raise errors.private_type_renamed(_private[PRIVATE])
    if not re.fullmatch("[a-z_0-9]*[a-z_]", name):
        raise errors.invalid_device_string(name)
    register_type(name)
    for text in [text for text, known in _BY_STRING.items() if known.type == PRIVATE]:
        del _BY_STRING[text]
    _private[PRIVATE] = name


def private_type_name() -> str:
    """Return the name of the device type that PyTorch calls privateuseone."""
    return _private.get(PRIVATE, PRIVATE)


def type_name(type_index: int) -> str:
    """Return the name of the device type with this number."""
    return _TYPE_NAMES[type_index]


cpu = device("cpu")
meta = device("meta")


class DeviceBuffer(Protocol):
    """Memory of one of several devices: it knows on which one it lies, and where."""

    device_index: int
    address: int


class _HasBuffer(Protocol):
    buffer: Any


def of_storage(type_index: int, storage: _HasBuffer) -> device:
    """Return the device on which a storage of device type `type_index` lies."""
    if type_index == CPU:
        return cpu
    if type_index == META:
        return meta
    buffer: DeviceBuffer = storage.buffer
    return _intern(type_name(type_index), buffer.device_index)


class _Defaults(threading.local):
    """The default devices of one thread, the innermost last."""

    def __init__(self) -> None:
        self.stack = [cpu]

    def push(self, entered: device) -> None:
        self.stack.append(entered)

    def pop(self) -> None:
        self.stack.pop()


_device = device  # where an argument has its name
defaults = _Defaults()
"""Of this thread: `defaults.stack[-1]` is what `default_device` returns, without a call."""


def default_device() -> device:
    """Return the device on which factories create tensors when they are told none."""
    return defaults.stack[-1]


def set_default_device(device: device | str | int | None) -> None:
    """Set the device on which factories create tensors in this thread; None means the CPU."""
    defaults.stack[0] = cpu if device is None else _device(device)
