"""Finds where names are defined, by reading Python files as text: `file:line`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from codegen.emit import references
from codegen.errors import SourceLocation
from codegen.model.operator import FunctionReference


_DEFINITION = re.compile(r"^(?:(?:def|class) (\w+)|([\w.]+)(?:: [^=\n]+)? = )", re.MULTILINE)


def line_of(path: Path, name: str) -> int | None:
    """The line on which a module defines `name` (`def`, `class` or assignment), from 1."""
    return _lines(path).get(name)


@cache
def _lines(path: Path) -> dict[str, int]:
    """The line of everything that a module defines; of the first definition, if there are more."""
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


def place(path: Path, name: str) -> str | None:
    """`file:line` of a definition, the file as seen from here; None if there is none."""
    line = line_of(path, name)
    return None if line is None else f"{shown(path)}:{line}"


def shown(path: Path) -> str:
    """A path as seen from the working folder."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def shown_location(where: SourceLocation) -> str:
    """A place in a YAML file, as seen from the working folder."""
    return f"{shown(Path(where.file))}:{where.line}"


def place_of_function(reference: FunctionReference, what: str, roots: list[Path]) -> str:
    """`file:line` of a hand-written function; what: a key of references.FOLDERS."""
    module = references.module_of(reference, what)
    for root in roots:
        path = root.joinpath(*module.split("."))
        files = [path.with_suffix(".py"), *sorted(path.glob("*.py"))]
        for file in files:
            found = place(file, reference.name)
            if found:
                return found
    return f"{module}:{reference.name} (not found)"
