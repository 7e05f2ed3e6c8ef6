"""PyTorch's names of classes and functions in pickled modules, and what they are called here."""

from __future__ import annotations

import importlib
from typing import Any

from torchgen_out._runtime.library.serialization import errors

_RENAMED = {
    "torch.nn.modules": "torchgen_out.nn",
    "torch.nn.parallel": "torchgen_out.nn",
    "torch._C._nn": "torchgen_out.nn.functional",
    "torch._C._special": "torchgen_out.special",
    "torch._C._linalg": "torchgen_out.linalg",
    "torch._C._fft": "torchgen_out.fft",
    "torch._C._VariableFunctions": "torchgen_out",
    "torch": "torchgen_out",
}
"""Where what stood in a module of PyTorch stands here; the longest name that fits counts."""


def of(module: str) -> str:
    """Return what PyTorch calls a public module of this library; another's name as it is."""
    package, dot, rest = module.partition(".")
    return f"torch{dot}{rest}" if package == "torchgen_out" else module


def _no_backend(*_: Any) -> None:
    """What modules of before 1.5 kept of the functions they used; nobody reads it."""


def find(module: str, name: str) -> Any:
    """Return what `module.name` of PyTorch is here.

    **Raises** LoadError if there is no such thing.
    """
    if module.startswith("torch.nn.backends."):
        return _no_backend
    for place in _places(module):
        found: Any = _import(place)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is not None:
            return found
    raise errors.LoadError(
        f"load: the file needs {errors.shown(f'{module}.{name}')}, which this library lacks; save "
        "the state dict with PyTorch and load that into a module of yours"
    )


def _places(module: str) -> list[str]:
    """Modules of this library that may have what PyTorch's `module` has, the likeliest first."""
    same = "torchgen_out" + module.removeprefix("torch")
    longest = max((each for each in _RENAMED if f"{module}.".startswith(f"{each}.")), key=len)
    return [same, _RENAMED[longest]]


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name is None or not f"{name}.".startswith(f"{missing.name}."):
            raise
        return None
