"""Modules of index programs as they were emitted before, for entries that are as they were.

These are the texts that take longest to make, and each is made of one entry alone. The file lies
where Python keeps bytecode. A text is used again if its entry, read and checked, has the digest
that is noted beside it, and the generator the one that it had.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from . import manifest
from .emit.kernels import index_module
from .model.operator import Index, Operator
from .model.program import Program
from .project import Project, generator_files
from .write import File

NAME = "index_modules.json"

_PLAIN = {str, int, float, complex, bool, type(None)}
_fields: dict[type, tuple[str, ...]] = {}


class KeptModules:
    """The modules of a program, by operator. A package outside the tree keeps none."""

    def __init__(self, project: Project, program: Program) -> None:
        indexed = [each for each in program.operators if isinstance(each.kind, Index)]
        self._operators = {} if project.base else {digest(each): each for each in indexed}
        self._place = project.out / manifest.CACHE / NAME
        self._texts = self._read() if self._operators else {}

    def known(self) -> dict[str, str]:
        """Those that need not be made."""
        kept = self._operators.keys() & self._texts.keys()
        return {self._operators[key].name: self._texts[key] for key in kept}

    def keep(self, files: Iterable[File]) -> None:
        """Keep those that are among the files."""
        texts = {file.path: file.text for file in files}
        modules = {key: texts[index_module(each)] for key, each in self._operators.items()}
        if modules == self._texts and self._place.is_file():  # else the folder was replaced
            return
        temporary = self._place.with_name(f"{NAME}.{os.getpid()}")
        with contextlib.suppress(OSError):  # a folder that may only be read
            self._place.parent.mkdir(exist_ok=True)
            content = {"generator": _generator(), "modules": modules}
            temporary.write_text(json.dumps(content), encoding="utf-8")
            os.replace(temporary, self._place)

    def _read(self) -> dict[str, str]:
        """Texts by the digests of their entries."""
        try:
            content = json.loads(self._place.read_text(encoding="utf-8"))
            modules = content["modules"] if content["generator"] == _generator() else {}
            return {str(key): str(text) for key, text in modules.items()}
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return {}


@cache
def _generator() -> str:
    """The digest of the generator's own files."""
    found = hashlib.sha256()
    for file in generator_files():
        found.update(file.read_bytes())
    return found.hexdigest()


def digest(operator: Operator) -> str:
    """The digest of all that an entry says, but not of where it stands, which is not compared."""
    return hashlib.sha256(repr(_parts(operator, {})).encode()).hexdigest()


def _parts(value: Any, known: dict[int, Any]) -> Any:
    """A record as a tuple of its fields, and its parts likewise; shared ones are looked at once."""
    kind: type = value.__class__
    if kind in _PLAIN:
        return value
    if id(value) in known:
        return known[id(value)]
    found: Any
    if kind is tuple:
        found = tuple([_parts(each, known) for each in value])
    elif kind is frozenset:
        found = tuple(sorted(value))
    elif isinstance(value, Mapping):
        found = {_parts(each, known): _parts(own, known) for each, own in value.items()}
    elif dataclasses.is_dataclass(kind):
        names = _fields.get(kind)
        if names is None:
            own = dataclasses.fields(kind)
            names = _fields[kind] = tuple([each.name for each in own if each.init and each.compare])
        found = kind.__name__, *[_parts(getattr(value, name), known) for name in names]
    else:
        raise TypeError(f"a record holds a {kind.__name__}")
    known[id(value)] = found
    return found
