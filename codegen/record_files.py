"""The generator's records as files that only it can read: nothing else can come of them.

Places in YAML files are left out, for they move with every edit of what stands above.
"""

from __future__ import annotations

import dataclasses
import io
import pickle
from collections.abc import Container
from typing import Any

from .errors import SourceLocation
from .formula.primitives import PRIMITIVES
from .model.formula import Call, Constant, Primitive, Select
from .parse.places import NodePlaces

NOWHERE = SourceLocation("", 1, 1)
"""Where all stands whose place was left out."""

_EXPRESSIONS = (Constant, Call, Select)
_WHERE, _PLACES = ":where", ":places"


class LostPlaces(Exception):
    """A place was asked for that was left out."""


class _NoPlaces:
    """The places of an entry that was not read now."""

    def has(self, name: str) -> bool:
        raise LostPlaces

    def key(self, name: str) -> SourceLocation:
        raise LostPlaces

    def value(self, *path: str) -> SourceLocation:
        raise LostPlaces

    def word(self, word: str, *path: str) -> SourceLocation:
        raise LostPlaces


_LOST = _NoPlaces()


def dump(record: object, placed: Container[int] = ()) -> bytes:
    """A record, and all that it consists of, as bytes. placed: ids of locations that stay."""
    file = io.BytesIO()
    _Writer(file, placed).dump(record)
    return file.getvalue()


def load(content: bytes) -> Any:
    """The record; whoever asks what it holds looks whether it is the right one.

    Raises: pickle.UnpicklingError, EOFError, LookupError, TypeError, AttributeError, ValueError
        for what `dump` did not make.
    """
    return _Reader(io.BytesIO(content)).load()


class _Writer(pickle.Pickler):
    """Writes expressions by their parts, whose hashes differ between processes.

    There is one object for each primitive: it is written by its name.
    """

    def __init__(self, file: io.BytesIO, placed: Container[int]) -> None:
        super().__init__(file, 5)
        self._placed = placed

    def persistent_id(self, each: Any) -> str | None:
        kind = each.__class__
        if kind is SourceLocation:
            return None if id(each) in self._placed else _WHERE
        if kind is NodePlaces or kind is _NoPlaces:
            return _PLACES
        return each.name if kind is Primitive else None

    def reducer_override(self, each: Any) -> Any:
        if each.__class__ is SourceLocation:
            return SourceLocation, (each.file, each.line, each.column)
        if each.__class__ not in _EXPRESSIONS:
            return NotImplemented
        parts = (field.name for field in dataclasses.fields(each) if field.init)
        return each.__class__, tuple([getattr(each, name) for name in parts])


class _Reader(pickle.Unpickler):
    """Makes records of the generator's classes, and refuses all else that a file may name."""

    def persistent_load(self, name: str) -> Any:
        if name == _WHERE:
            return NOWHERE
        return _LOST if name == _PLACES else PRIMITIVES[name]

    def find_class(self, module: str, name: str) -> Any:
        found = None
        if module.startswith(f"{__package__}.") or (module, name) in _PATHS:
            found = super().find_class(module, name)
        if not isinstance(found, type):
            raise pickle.UnpicklingError(f"{module}.{name} is no record")
        return found


_PATHS = {("pathlib", "PosixPath"), ("pathlib", "WindowsPath"), ("pathlib._local", "PosixPath")}
