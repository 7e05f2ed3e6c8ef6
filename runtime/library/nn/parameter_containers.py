"""Modules that hold parameters: ParameterList and ParameterDict."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.nn.containers import named_items, position_of
from torchgen_out._runtime.library.nn.module import Module
from torchgen_out._runtime.library.nn.parameter import Parameter


def _shown(value: Any, of_type: Callable[[Any], str]) -> str:
    """What ParameterList and ParameterDict print of one entry. of_type: what names its type."""
    if not isinstance(value, torch.Tensor):
        return f"Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(map(str, value.size()))
    place = f" ({value.device})" if value.device.type != "cpu" else ""
    return f"{kind} containing: [{of_type(value)} of size {size}{place}]"


def _as_entry(value: Any) -> Any:
    """A tensor as a parameter; anything else as it is."""
    if isinstance(value, torch.Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


class ParameterList(Module):
    """Parameters (and other values) in a list; plain tensors become parameters."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self[position] for position in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(self[place] for place in range(*index.indices(len(self))))
        return getattr(self, str(position_of(index, len(self))))

    def __setitem__(self, index: Any, value: Any) -> None:
        setattr(self, str(position_of(index, len(self))), _as_entry(value))

    def append(self, value: Any) -> ParameterList:
        """Add a value at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add values at the end."""
        if not isinstance(values, Iterable) or isinstance(values, torch.Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, "
                f"but got {type(values).__name__}"
            )
        for value in values:
            self.append(value)
        return self

    __iadd__ = extend

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def extra_repr(self) -> str:
        shown = [_shown(value, lambda each: str(each.dtype)) for value in self]
        return "\n".join(f"  ({index}): {each}" for index, each in enumerate(shown))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters (and other values) by name; plain tensors become parameters."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    @staticmethod
    def _attribute(key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is "
                f"not a string (type is '{type(key).__name__}'). Open an issue on "
                "github if you need non-string keys."
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._attribute(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, self._attribute(key), _as_entry(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._attribute(key))

    def __ior__(self, other: Any) -> ParameterDict:
        self.update(other)
        return self

    def fromkeys(self, keys: Any, default: Any = None) -> ParameterDict:
        """Make a dict of these names, all with the one value."""
        return ParameterDict((key, default) for key in keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def keys(self) -> Any:
        """The names."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """The (name, value) pairs."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """The values."""
        return (self[key] for key in self._keys)

    def get(self, key: str, default: Any = None) -> Any:
        """The value under `key`, or `default`."""
        return getattr(self, key) if key in self._keys else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value under `key`; put `default` there first if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Take out the value under `key` and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take out the last pair and return it."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def clear(self) -> None:
        """Take out all values."""
        for key in list(self._keys):
            del self[key]

    def copy(self) -> ParameterDict:
        """A new ParameterDict with the same values."""
        return ParameterDict(OrderedDict(self.items()))

    def update(self, parameters: Any) -> None:
        """Add the values of a mapping or of (name, value) pairs.

        Those of a mapping that promises no order, as a dict, come by name: the order in which
        optimizers know them.
        """
        pairs = named_items(parameters, "ParameterDict")
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            pairs = sorted(pairs, key=itemgetter(0))
        for key, value in pairs:
            self[key] = value

    def extra_repr(self) -> str:
        shown = [(key, _shown(value, torch.typename)) for key, value in self.items()]
        return "\n".join(f"  ({key}): {each}" for key, each in shown)

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")
