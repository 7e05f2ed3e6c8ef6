"""Reading the pickle inside a `.pt` file; by default only names on a list can be reached."""

from __future__ import annotations

import builtins
import codecs
import contextlib
import importlib
import pickle
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import torchgen_out as torch
from runtime.core import device as devices
from runtime.core import dtype as dtypes
from runtime.core import key as keys
from runtime.core import layout as layouts
from runtime.core.size import Size
from runtime.core.storage import Storage
from runtime.core.tensor import build
from runtime.nn.parameter import Parameter
from runtime.serialization.storage_types import DTYPES


class LoadedStorage:
    """A storage read from a file, with its dtype and the device it shall go to."""

    def __init__(self, storage: Storage, dtype: dtypes.dtype, location: Any) -> None:
        self.storage = storage
        self.dtype = dtype
        self.location = location


def _rebuild_tensor(
    loaded: LoadedStorage, offset: int, size: tuple[int, ...], stride: tuple[int, ...]
) -> Any:
    key = keys.pack(loaded.dtype.index, devices.CPU, 0, not size)
    tensor: Any = build(key, Size(size), tuple(stride), offset, loaded.storage)
    if loaded.location is not None and devices.device(loaded.location).type != "cpu":
        tensor = tensor.to(loaded.location)
    return tensor


def _rebuild_tensor_v2(
    loaded: LoadedStorage,
    offset: int,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Any:
    return _rebuild_tensor(loaded, offset, size, stride).requires_grad_(requires_grad)


def _rebuild_tensor_v3(
    loaded: LoadedStorage,
    offset: int,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    requires_grad: bool,
    backward_hooks: Any,
    dtype: dtypes.dtype,
    metadata: Any = None,
) -> Any:
    typed = LoadedStorage(loaded.storage, dtype, loaded.location)
    return _rebuild_tensor(typed, offset, size, stride).requires_grad_(requires_grad)


def _rebuild_parameter(data: Any, requires_grad: bool, backward_hooks: Any) -> Any:
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(
    data: Any, requires_grad: bool, backward_hooks: Any, state: Any
) -> Any:
    parameter = Parameter(data, requires_grad)
    parameter.__dict__.update(state if isinstance(state, dict) else state[0])
    return parameter


# What every PyTorch file may mention.
_KNOWN: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "Counter"): Counter,
    ("collections", "defaultdict"): defaultdict,
    ("_codecs", "encode"): codecs.encode,
    ("torch", "Size"): Size,
    ("torch", "device"): devices.device,
    ("torch", "Tensor"): torch.Tensor,
    ("torch._utils", "_rebuild_tensor"): _rebuild_tensor,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor_v2,
    ("torch._utils", "_rebuild_tensor_v3"): _rebuild_tensor_v3,
    ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): _rebuild_parameter_with_state,
    ("torch.nn.parameter", "Parameter"): Parameter,
    ("torch.serialization", "_get_layout"): lambda name: layouts.by_name(name.split(".")[-1]),
    ("torch.storage", "UntypedStorage"): dtypes.uint8,
}
for _module in ("builtins", "__builtin__"):
    for _name in ("set", "frozenset", "complex", "bytearray", "slice", "list", "dict", "int"):
        _KNOWN[_module, _name] = getattr(builtins, _name)
for _dtype in dtypes.ALL:
    _KNOWN["torch", _dtype.name] = _dtype
for _name, _dtype in DTYPES.items():
    _KNOWN["torch", _name] = _dtype

_added: dict[tuple[str, str], Any] = {}


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let `load(weights_only=True)` reach these classes and functions (or (object, name) pairs)."""
    for given in safe_globals:
        obj, path = given if isinstance(given, tuple) else (given, None)
        if path is None:
            path = f"{obj.__module__}.{obj.__qualname__}"
        module, _, name = path.rpartition(".")
        _added[module, name] = obj


def get_safe_globals() -> list[Any]:
    """Return what `add_safe_globals` has added."""
    return list(_added.values())


def clear_safe_globals() -> None:
    """Forget what `add_safe_globals` has added."""
    _added.clear()


@contextlib.contextmanager
def safe_globals(safe_globals: list[Any]) -> Iterator[None]:
    """Let `load` reach these classes and functions inside a `with` block."""
    before = dict(_added)
    try:
        add_safe_globals(safe_globals)
        yield
    finally:
        _added.clear()
        _added.update(before)


class SafeUnpickler(pickle.Unpickler):
    """Reads a pickle that mentions known names only."""

    def __init__(self, file: Any, load_storage: Callable[[tuple[Any, ...]], Any]) -> None:
        super().__init__(file, encoding="utf-8")
        self._load_storage = load_storage

    def persistent_load(self, pid: Any) -> Any:
        """Find the storage that a reference names."""
        if not isinstance(pid, tuple) or not pid or pid[0] != "storage":
            raise pickle.UnpicklingError(f"unknown reference {pid!r} in the file")
        return self._load_storage(pid)

    def find_class(self, module: str, name: str) -> Any:
        """Return what a name means.

        **Raises** UnpicklingError for a name that is not on the list.
        """
        place = (module, name)
        found = _KNOWN.get(place, _added.get(place))
        if found is None:
            raise pickle.UnpicklingError(
                "Weights only load failed. Unsupported global: GLOBAL "
                f"{module}.{name} was not an allowed global by default. Please use "
                f"`torch.serialization.add_safe_globals([{name}])` or the "
                "`torch.serialization.safe_globals` context manager to allowlist this global if "
                "you trust it; or load with weights_only=False, which runs code from the file."
            )
        return found


class TrustingUnpickler(SafeUnpickler):
    """Reads any pickle, and so runs any code that it holds; `torch.nn` means ours."""

    def find_class(self, module: str, name: str) -> Any:
        known = _KNOWN.get((module, name))
        if known is not None:
            return known
        if module.startswith("torch.nn.modules."):
            return getattr(importlib.import_module("torchgen_out.nn"), name)
        return pickle.Unpickler.find_class(self, module, name)
