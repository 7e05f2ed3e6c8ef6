"""`torch.ops`: operators by namespace, name and overload, `torch.ops.aten.add.Tensor(x, y)`.

The library's operators are PyTorch's overloads under PyTorch's names: `aten` holds them all, and
`_c10d_functional` the collectives. Namespaces of extensions are empty, since what they register is
compiled for PyTorch.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from torchgen_out._runtime import errors
from torchgen_out._runtime.bindings.binding import binder_of
from torchgen_out._runtime.core import public
from torchgen_out._runtime.dispatch import ops as operators
from torchgen_out._runtime.ops.composite.sparse import functions as sparse_functions

__all__ = [
    "OpNamespace", "OpOverload", "OpOverloadPacket", "__getattr__", "aten", "import_module",
    "load_library", "loaded_libraries",
]  # fmt: skip

loaded_libraries: set[str] = set()


def load_library(path: object) -> NoReturn:
    """Refuse: a library of operators for PyTorch needs PyTorch's C++. **Raises** OSError."""
    raise errors.cannot_load_library(path)


def import_module(module: str) -> None:
    """Import a Python module that registers operators."""
    importlib.import_module(module)


class OpOverload:
    """One overload of an operator."""

    def __init__(self, packet: OpOverloadPacket, name: str) -> None:
        self.overloadpacket = packet
        self._overloadname = name
        self.__name__ = f"{packet.__name__}.{name}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.overloadpacket(*args, **kwargs)

    def name(self) -> str:
        """Return the operator's name with namespace and overload."""
        suffix = "" if self._overloadname == "default" else f".{self._overloadname}"
        return f"{self.overloadpacket.qualified}{suffix}"

    @property
    def namespace(self) -> str:
        """The namespace of the operator."""
        return self.overloadpacket.qualified.partition("::")[0]

    def __repr__(self) -> str:
        return (
            f"<OpOverload(op='{self.overloadpacket.qualified}', overload='{self._overloadname}')>"
        )

    def __str__(self) -> str:
        return f"{self.overloadpacket}.{self._overloadname}"


class OpOverloadPacket:
    """An operator: all of its overloads, among which the arguments of a call choose."""

    def __init__(self, qualified: str, function: Any) -> None:
        self.qualified = qualified
        self.__name__ = qualified.rpartition(":")[2]
        self._function = function
        self._names = tuple(_overload_names(self.__name__, function))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def overloads(self) -> list[str]:
        """Return the names of the overloads."""
        return list(self._names)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names]

    def __getattr__(self, name: str) -> OpOverload:
        if name.startswith("_") or name not in self._names:
            raise AttributeError(
                f"The underlying op of '{self}' has no overload name '{name}'; "
                f"it has {', '.join(self._names)}"
            )
        found = OpOverload(self, name)
        setattr(self, name, found)
        return found

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self.qualified.replace('::', '.')}')>"

    def __str__(self) -> str:
        return self.qualified.replace("::", ".")


_OPTIONAL = re.compile(r"\w+(?:\[\d*\])?\? (dim|dtype|generator)\b")
"""Parameters without which PyTorch has one overload, and another with them, named after them."""


def _overload_names(name: str, function: Any) -> Iterator[str]:
    """Yield the overloads that a function's schemas declare, or that call the same entry.

    An entry of `Tensor|Scalar` is two of PyTorch's overloads; one whose options all have defaults
    is the overload without them, too.
    """
    found: dict[str, None] = {"default": None}
    head = (function.__doc__ or "").partition("\n\n")[0]
    found.update(dict.fromkeys(re.findall(rf"^\s*{name}\.(\w+)\(", head, re.MULTILINE)))
    found.update(dict.fromkeys(_OPTIONAL.findall(head)))
    if "Tensor|Scalar" in head:
        found["Scalar"] = found["Tensor"] = None
    if "dim" in found and "[" in head:
        found["dims"] = None
    yield from found
    binder = binder_of(function)
    if "out" in (binder.names if binder else inspect.signature(function).parameters):
        yield "out"
        yield from (f"{each}_out" for each in found if each != "default")


class OpNamespace:
    """The operators of a namespace."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> OpOverloadPacket:
        function = _defined.get((self.name, name))
        if self.name in _PREFIXES:
            own = getattr(operators, _PREFIXES[self.name] + name, None)
            function = function or own or _BELOW_METHODS.get(name)
        if function is None or name.startswith("__"):
            raise AttributeError(
                f"'_OpNamespace' '{self.name}' object has no attribute '{name}': operator "
                f"{self.name}::{name} is not provided by torchgen_out"
            )
        found = OpOverloadPacket(f"{self.name}::{name}", function)
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        known = vars(operators) if self.name == "aten" else {}
        return sorted([*super().__dir__(), *known])


def _to_copy(
    self: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool | None = None, non_blocking: bool = False, memory_format: Any = None,
) -> Any:  # fmt: skip
    """Return a tensor of the same values in other memory, whatever `Tensor.to` would return."""
    made = self.to(device or self.device, dtype or self.dtype, non_blocking, copy=True)
    if memory_format is not None:
        made = made.contiguous(memory_format=memory_format)
    return made.pin_memory() if pin_memory else made


def _pin_memory(self: Any, device: Any = None) -> Any:
    """Return a copy in memory that a GPU can read while the program goes on."""
    return self.pin_memory()


_BELOW_METHODS: dict[str, Any] = {
    "_pin_memory": _pin_memory,
    "_sparse_addmm": sparse_functions.addmm,
    "_sparse_mm_reduce_impl": sparse_functions.mm,
    "_to_copy": _to_copy,
}
"""Operators that PyTorch's methods call, and classes that answer for themselves name."""

_PREFIXES = {"aten": "", "_c10d_functional": "_c10d_"}
"""Namespaces of the library's operators, and how names begin that are theirs alone."""

_namespaces: dict[str, OpNamespace] = {}
_defined: dict[tuple[str, str], Any] = {}
"""Operators that programs have brought, by namespace and name."""


def define(namespace: str, name: str, function: Any) -> None:
    """Put an operator into a namespace; one of the same name gives way."""
    _defined[namespace, name] = function
    vars(_namespaces.setdefault(namespace, OpNamespace(namespace))).pop(name, None)


def __getattr__(name: str) -> OpNamespace:
    """Return the namespace of an extension: it exists, and holds no operators."""
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.ops' has no attribute '{name}'")
    return _namespaces.setdefault(name, OpNamespace(name))


aten = _namespaces.setdefault("aten", OpNamespace("aten"))


public.place_all("ops", globals())
