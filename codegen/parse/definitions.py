"""What Python files define, by name: read as text, never imported."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from .. import library

_DEFINITION = re.compile(r"^(?:(?:def|class) (\w+)|([\w.]+)(?:: [^=\n]+)? = )", re.MULTILINE)
_IMPORT = re.compile(r"^from [\w.]+ import (?:\(([^)]*)\)|([^(\n]*))", re.MULTILINE)


@cache
def definitions(path: Path) -> dict[str, int]:
    """The line, from 1, of everything that a module defines by `def`, `class` or assignment."""
    if not path.is_file():
        return {}
    text = path.read_text(encoding="utf-8")
    lines: dict[str, int] = {}
    number, at = 1, 0
    for match in _DEFINITION.finditer(text):
        number += text.count("\n", at, match.start())
        at = match.start()
        lines.setdefault(match[1] or match[2], number)
    return lines


@cache
def imported(path: Path) -> frozenset[str]:
    """What a module imports by name, and so offers as well."""
    lists = (match[1] or match[2] for match in _IMPORT.finditer(path.read_text(encoding="utf-8")))
    parts = (part.strip() for names in lists for part in names.split(","))
    return frozenset(part.rpartition(" as ")[2] for part in parts if part)


def files_of(module: str, roots: Sequence[Path]) -> list[Path] | None:
    """The files of a module, several for a package; None if its package is nowhere below roots."""
    for root in roots:
        path = library.path_of(module, root)
        if path is not None:
            files = [path.with_suffix(".py"), *sorted(path.glob("*.py"))]
            return [file for file in files if file.is_file()]
    return None
