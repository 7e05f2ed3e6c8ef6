"""Finds where names are defined, by reading Python files as text: `file:line`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from codegen.emit import references
from codegen.errors import SourceLocation
from codegen.model.operator import FunctionReference


def line_of(path: Path, name: str) -> int | None:
    """The line on which a file defines `name` (`def`, `class` or assignment), from 1."""
    pattern = re.compile(rf"(?:(?:def|class) {re.escape(name)}\b|{re.escape(name)} = )")
    return next((i for i, line in enumerate(_lines(path), 1) if pattern.match(line)), None)


@cache
def _lines(path: Path) -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8").split("\n")) if path.is_file() else ()


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
