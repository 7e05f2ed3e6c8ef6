"""Keys that lead from the root of a tree of containers to a leaf."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from torchgen_out._runtime.core import public

__all__ = [
    "GetAttrKey", "KeyEntry", "KeyPath", "MappingKey", "SequenceKey", "key_get", "keystr",
]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """A place in a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """Return what stands at the place."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """A key of a mapping."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Mapping[Any, Any]) -> Any:
        """Return what the mapping has under the key."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The name of an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """Return the attribute."""
        return getattr(obj, self.name)


KeyEntry = Any
KeyPath = tuple[KeyEntry, ...]


def keystr(kp: KeyPath) -> str:
    """Return a path as one would write it behind the tree's name."""
    return "".join(str(each) for each in kp)


def key_get(obj: Any, kp: KeyPath) -> Any:
    """Return what a path leads to."""
    for each in kp:
        obj = each.get(obj)
    return obj


public.place_all("utils._pytree", globals())
