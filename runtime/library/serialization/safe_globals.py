"""The names that files may mention: those of PyTorch's own files, and those that users add."""

from __future__ import annotations

import contextlib
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterator
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.library.serialization import module_names, plain_types, rebuilding
from torchgen_out._runtime.library.serialization.storage_types import STORAGE_NAMES, TYPES
from torchgen_out.nn.parameter import Parameter

_UTILS = {
    "_rebuild_tensor": rebuilding.rebuild_tensor,
    "_rebuild_tensor_v2": rebuilding.rebuild_tensor_v2,
    "_rebuild_tensor_v3": rebuilding.rebuild_tensor_v3,
    "_rebuild_meta_tensor_no_storage": rebuilding.rebuild_meta_tensor,
    "_rebuild_sparse_tensor": rebuilding.rebuild_sparse,
    "_rebuild_sparse_csr_tensor": rebuilding.rebuild_sparse,
    "_rebuild_device_tensor_from_cpu_tensor": rebuilding.rebuild_device_tensor,
    "_rebuild_parameter": rebuilding.rebuild_parameter,
    "_rebuild_parameter_with_state": rebuilding.rebuild_parameter_with_state,
}

KNOWN: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "Counter"): Counter,
    ("collections", "defaultdict"): defaultdict,
    ("_codecs", "encode"): plain_types.encode,
    ("torch", "Size"): Size,
    ("torch", "device"): devices.device,
    ("torch", "Tensor"): torch.Tensor,
    ("torch._tensor", "Tensor"): torch.Tensor,
    ("torch._tensor", "_rebuild_from_type_v2"): rebuilding.rebuild_as,
    ("torch.nn.parameter", "Parameter"): Parameter,
    ("torch.autograd.variable", "Variable"): rebuilding.variable,
    ("torch.serialization", "_get_layout"): plain_types.layout,
    **{("torch._utils", name): function for name, function in _UTILS.items()},
    **{("torch", each.name): each for each in dtypes.ALL},
}
"""(module, name) in a file -> what it means here."""

for _module in ("builtins", "__builtin__"):
    for _type in (set, frozenset, complex, bytes, bytearray, slice, list, dict, int, float):
        KNOWN[_module, _type.__name__] = _type
for _module in ("torch", "torch.cuda"):
    for _dtype, _name in STORAGE_NAMES.items():
        KNOWN[_module, _name] = TYPES[_name]
        KNOWN[_module, _name.replace("Storage", "Tensor")] = rebuilding.OldTensor(_dtype)
for _module, _name in (
    ("torch", "UntypedStorage"),
    ("torch.storage", "UntypedStorage"),
    ("torch.storage", "_UntypedStorage"),
):
    KNOWN[_module, _name] = Storage

CALLED: dict[int, Any] = {
    **{id(each): call for each, call in plain_types.CONSTRUCTORS.items()},
    **{id(each): each for each in rebuilding.REBUILDERS},
    **{id(each): each for each in KNOWN.values() if type(each) is rebuilding.OldTensor},
    id(plain_types.encode): plain_types.encode,
    id(plain_types.layout): plain_types.layout,
    id(rebuilding.rebuild_as): rebuilding.rebuild_as,
    id(rebuilding.variable): rebuilding.variable,
    id(Parameter): rebuilding.parameter,
}
"""What a file may call, by identity: comparing or hashing what it has built could take for ever."""

_added: dict[tuple[str, str], Any] = {}
_given: list[Any] = []


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let `load(weights_only=True)` reach these classes and functions (or (object, name) pairs).

    **Raises** ValueError or TypeError for a pair that is none.
    """
    for given in safe_globals:
        obj, path = _pair(given)
        if isinstance(given, tuple):
            module, _, name = path.rpartition(".")
        else:
            module, name = obj.__module__, obj.__qualname__
        _added[module, name] = _added[module_names.of(module), name] = obj
        if not any(given is each for each in _given):
            _given.append(given)


def _pair(given: Any) -> tuple[Any, str]:
    if not isinstance(given, tuple):
        return given, f"{given.__module__}.{given.__qualname__}"
    if len(given) != 2:
        raise ValueError(
            "Expected tuple of length 2 (global, str of callable full path), but got tuple of "
            f"length: {len(given)}"
        )
    if type(given[1]) is not str:
        raise TypeError(
            "Expected second item in tuple to be str of callable full path, but got: "
            f"{type(given[1])}"
        )
    return given


def get_safe_globals() -> list[Any]:
    """Return what `add_safe_globals` has added."""
    return list(_given)


def clear_safe_globals() -> None:
    """Forget what `add_safe_globals` has added."""
    _added.clear()
    _given.clear()


@contextlib.contextmanager
def safe_globals(safe_globals: list[Any]) -> Iterator[None]:
    """Let `load` reach these classes and functions inside a `with` block."""
    added, given = dict(_added), list(_given)
    try:
        add_safe_globals(safe_globals)
        yield
    finally:
        _added.clear()
        _added.update(added)
        _given[:] = given


def added() -> dict[tuple[str, str], Any]:
    """The names that users have added."""
    return dict(_added)


def is_known(module: str, name: str) -> bool:
    """Whether a file may mention a name."""
    return (module, name) in KNOWN or (module, name) in _added
