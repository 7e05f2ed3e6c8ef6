"""Samples in the terms of one library: tensors with their layout, dtypes, functions.

PyTorch's samples are trees of PyTorch's objects. `PYTORCH` copies such a tree, so that a call may
write into it; `LIBRARY` makes the same tree of our objects. Functions that the table defines in
Python are taken over too, with `torch` in them meaning the other library.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import torch

import torchgen_out


class Unavailable(Exception):
    """The library lacks something that a sample or a form of a call needs; its name is the text."""


def find(library: ModuleType, path: str) -> Any:
    """What a dotted path names inside a library; submodules are imported."""
    found: Any = library
    for part in path.split("."):
        if not hasattr(found, part) and isinstance(found, ModuleType):
            try:
                importlib.import_module(f"{found.__name__}.{part}")
            except ImportError:
                raise Unavailable(path) from None
        try:
            found = getattr(found, part)
        except AttributeError:
            raise Unavailable(path) from None
    return found


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """The elements of one of PyTorch's tensors; of types that NumPy lacks in the next wider."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.dtype is torch.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    if tensor.dtype is torch.complex32:
        tensor = tensor.to(torch.complex64)
    return tensor.contiguous().numpy()


class Transfer:
    """One sample's way into a library: tensors that share memory still do afterwards."""

    def __init__(self, library: ModuleType) -> None:
        self.library = library
        self.storages: dict[int, Any] = {}
        self.leaves: list[Any] = []
        """The tensors that require a gradient, in the sample's order."""

    def __call__(self, value: Any) -> Any:
        """Translate a tree."""
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, torch.Size):
            return find(self.library, "Size")(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self, value))
        if isinstance(value, tuple | list):
            return type(value)(map(self, value))
        if isinstance(value, dict):
            return {name: self(each) for name, each in value.items()}
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        if self.library is torch:
            return value
        return self.plain(value)

    def plain(self, value: Any) -> Any:
        """A dtype, device, layout, function or number; numbers are the same everywhere."""
        if isinstance(value, torch.dtype | torch.memory_format | torch.layout):
            return find(self.library, str(value).removeprefix("torch."))
        if isinstance(value, torch.device):
            return self.library.device(str(value))
        if isinstance(value, torch.Generator):
            return self.library.Generator().manual_seed(value.initial_seed())
        if callable(value):
            return rebound(value, self.library)
        if is_dataclass(value) and type(value).__module__.startswith("torch.nn."):
            given = {each.name: self(getattr(value, each.name)) for each in fields(value)}
            return find(self.library, f"nn.{type(value).__name__}")(**given)
        return value

    def tensor(self, value: torch.Tensor) -> Any:
        """A tensor of the same elements, geometry, and part in autograd."""
        if value.layout is not torch.strided:
            return self.sparse(value)
        if value.device.type != "cpu":
            raise Unavailable(f"{value.device} beside the CPU")
        if isinstance(value, torch.nn.Parameter):
            value = value.detach().requires_grad_(value.requires_grad)
        copied = self.whole_storage(value).as_strided(
            tuple(value.shape), value.stride(), value.storage_offset()
        )
        copied = copied.detach()
        if value.requires_grad:
            copied.requires_grad_()
            self.leaves.append(copied)
        return copied

    def sparse(self, value: torch.Tensor) -> Any:
        """A sparse tensor of the same entries, in their order."""
        plain = value.detach()
        if plain.layout is torch.sparse_coo:
            parts = plain._indices(), plain._values()
            make, options = "sparse_coo_tensor", {"is_coalesced": plain.is_coalesced() or None}
        else:
            by_rows = plain.layout in (torch.sparse_csr, torch.sparse_bsr)
            names = ("crow_indices", "col_indices") if by_rows else ("ccol_indices", "row_indices")
            parts = *(getattr(plain, name)() for name in names), plain.values()
            make, options = "sparse_compressed_tensor", {"layout": self(plain.layout)}
        given = [Transfer(self.library)(each) for each in parts]
        made = find(self.library, make)(*given, tuple(plain.shape), **options)
        if value.requires_grad:
            made.requires_grad_()
            self.leaves.append(made)
        return made

    def whole_storage(self, value: torch.Tensor) -> Any:
        """All elements under a tensor, one after the other."""
        plain = value.detach()
        if plain.is_conj() or plain.is_neg():
            raise Unavailable("lazy conjugation")
        key = hash((plain.untyped_storage()._cdata, plain.dtype))
        if key not in self.storages:
            numel = plain.untyped_storage().nbytes() // plain.element_size()
            flat = plain.as_strided((numel,), (1,), 0)
            if self.library is torch:
                self.storages[key] = flat.clone()
            else:
                own = find(self.library, str(plain.dtype).removeprefix("torch."))
                copied = self.library.from_numpy(to_numpy(flat))
                self.storages[key] = copied.to(own, copy=True)
        return self.storages[key]


PUBLIC_MODULES = (
    *("", "linalg.", "special.", "fft.", "nn.functional.", "masked.", "signal.windows."),
    *("Tensor.", "autograd.", "random."),
)


def rebound(function: Callable[..., Any], library: ModuleType) -> Any:
    """The function as the library has it; Python functions of the table see it as `torch`."""
    if library is torch:
        return function
    for module in PUBLIC_MODULES:
        name = getattr(function, "__name__", "")
        if name and _is_named(torch, module + name, function):
            return find(library, module + name)
    if isinstance(function, FunctionType):
        return _rebound_code(function, library)
    if isinstance(function, BuiltinFunctionType | type):
        return function
    raise Unavailable(f"function {function!r}")


def _is_named(library: ModuleType, path: str, value: Any) -> bool:
    try:
        return find(library, path) is value
    except Unavailable:
        return False


def _without_seed(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Stand in for the table's `wrapper_set_seed`: equal seeds give other numbers here anyway."""
    return function(*args, **kwargs)


SUBSTITUTES: Mapping[str, Any] = {"wrapper_set_seed": _without_seed}
"""Helpers of the table that have to do with PyTorch's own generator."""


def _rebound_code(function: FunctionType, library: ModuleType) -> FunctionType:
    names = {
        name: _rebound_global(value, library)
        for name, value in function.__globals__.items()
        if name in _names_in(function.__code__)
    }
    names = {**names, "torch": library, **SUBSTITUTES, "__builtins__": __builtins__}
    cells = tuple(
        CellType(_rebound_global(cell.cell_contents, library))
        for cell in function.__closure__ or ()
    )
    copied = FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
    copied.__kwdefaults__ = function.__kwdefaults__
    return copied


def _names_in(code: Any) -> set[str]:
    """All names that a function and those inside it may look up."""
    inner = [each for each in code.co_consts if hasattr(each, "co_names")]
    return set(code.co_names).union(*map(_names_in, inner))


def _rebound_global(value: Any, library: ModuleType) -> Any:
    """What a name of the table's modules means to code that runs with the library."""
    if isinstance(value, FunctionType) and value.__module__.startswith("torch."):
        return rebound(value, library)
    if isinstance(value, ModuleType) and value.__name__.startswith("torch."):
        return find(library, value.__name__.removeprefix("torch."))
    return value


LIBRARY, PYTORCH = torchgen_out, torch
