"""Modules that hold modules: Sequential, ModuleList, ModuleDict."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.library.nn.module import Module


def position_of(index: Any, count: int) -> int:
    """An index counted from the front. **Raises** IndexError if it is out of range."""
    position = operator.index(index)
    if not -count <= position < count:
        raise IndexError(f"index {position} is out of range")
    return position % count


class _NumberedModules(Module):
    """Submodules under the names "0", "1", ...; what Sequential and ModuleList share."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def _name_at(self, index: Any) -> str:
        return next(islice(self._modules, position_of(index, len(self)), None))

    def _renumber(self, modules: Iterable[Any]) -> None:
        modules = list(modules)
        self._modules.clear()
        for position, module in enumerate(modules):
            self._modules[str(position)] = module

    def __setitem__(self, index: Any, module: Any) -> None:
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index: Any) -> None:
        if isinstance(index, slice):
            for name in list(self._modules)[index]:
                del self._modules[name]
        else:
            del self._modules[self._name_at(index)]
        self._renumber(self._modules.values())

    def insert(self, index: int, module: Any) -> Any:
        """Insert a module before `index`."""
        modules = list(self._modules.values())
        if not -len(modules) <= index <= len(modules):
            raise IndexError(f"Index out of range: {index}")
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def append(self, module: Any) -> Any:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Any]) -> Any:
        """Add modules at the end."""
        for module in modules:
            self.append(module)
        return self

    def pop(self, key: Any) -> Any:
        """Take out the module at `key` and return it."""
        module = self[key]
        del self[key]
        return module

    def __getitem__(self, index: Any) -> Any:
        return self._modules[self._name_at(index)]


def _check_sequential(other: Any) -> None:
    if not isinstance(other, Sequential):
        raise ValueError(
            f"add operator supports only objects of Sequential class, but {type(other)} is given."
        )


class Sequential(_NumberedModules):
    """Modules called one after the other; each gets what the one before returned.

    Takes the modules, or one OrderedDict of named modules.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for position, module in enumerate(args):
                self.add_module(str(position), module)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return super().__getitem__(index)

    def __add__(self, other: Any) -> Sequential:
        _check_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Sequential:
        _check_sequential(other)
        self.extend(other)
        return self

    def __mul__(self, other: int) -> Sequential:
        self._check_factor(other)
        return Sequential(*[module for _ in range(other) for module in self])

    __rmul__ = __mul__

    def extend(self, sequential: Iterable[Any]) -> Any:
        """Add modules at the end."""
        return super().extend(sequential)

    def __imul__(self, other: int) -> Sequential:
        self._check_factor(other)
        self.extend([module for _ in range(other - 1) for module in self])
        return self

    def _check_factor(self, other: int) -> None:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input


class ModuleList(_NumberedModules):
    """Modules in a list; it has no `forward` of its own."""

    def __init__(self, modules: Iterable[Any] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return super().__getitem__(index)

    def __iadd__(self, modules: Iterable[Any]) -> ModuleList:
        return self.extend(modules)

    def __add__(self, other: Iterable[Any]) -> ModuleList:
        return ModuleList(chain(self, other))

    def extend(self, modules: Iterable[Any]) -> ModuleList:
        """Add modules at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, "
                f"but got {type(modules).__name__}"
            )
        super().extend(modules)
        return self

    def __repr__(self) -> str:
        """As a module's, with equal neighbours folded: `(0-2): 3 x Linear(...)`."""
        runs: list[tuple[int, int, str]] = []
        for position, text in enumerate(repr(module) for module in self):
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], position, text)
            else:
                runs.append((position, position, text))
        if not runs:
            return f"{self._get_name()}()"
        lines = [
            f"({first}): {text}"
            if first == last
            else f"({first}-{last}): {last - first + 1} x {text}"
            for first, last, text in runs
        ]
        body = "\n".join(lines).replace("\n", "\n  ")
        return f"{self._get_name()}(\n  {body}\n)"


def named_items(given: Any, owner: str) -> Iterable[tuple[str, Any]]:
    """The (name, value) pairs of a mapping or of an iterable of pairs."""
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{owner}.update should be called with an iterable of key/value pairs, "
            f"but got {type(given).__name__}"
        )
    if isinstance(given, (Mapping, Module)):
        return list(given.items())
    pairs = list(given)
    for position, pair in enumerate(pairs):
        is_pair = isinstance(pair, Iterable)
        if not is_pair:
            raise TypeError(
                f"{owner} update sequence element #{position} should be Iterable; "
                f"is {type(pair).__name__}"
            )
        if len(pair) != 2:
            raise ValueError(
                f"{owner} update sequence element #{position} has length {len(pair)}; 2 is required"
            )
    return pairs


class ModuleDict(Module):
    """Modules by name; it has no `forward` of its own."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Any) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take out all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take out the module under `key` and return it."""
        module = self[key]
        del self[key]
        return module

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """The (name, module) pairs."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add the modules of a mapping or of (name, module) pairs."""
        for name, module in named_items(modules, "ModuleDict"):
            self[name] = module


class Container(Module):
    """Named submodules, the name of 0.1; a subclass of Module is what to write instead."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        warn(
            "nn.Container is deprecated. All of it's functionality is now implemented in "
            "nn.Module. Subclass that instead.",
            FutureWarning,
        )
        for name, module in kwargs.items():
            self.add_module(name, module)
