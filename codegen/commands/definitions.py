"""Finds where names are defined: `file:line`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import SourceLocation
from ..model.operator import NamedFunction
from ..parse.definitions import definitions, files_of
from ..project import seen_from_here


def place(path: Path, name: str) -> str | None:
    """`file:line` of a definition, the file as seen from here; None if there is none."""
    line = definitions(path).get(name)
    return None if line is None else f"{seen_from_here(path)}:{line}"


def shown_location(where: SourceLocation) -> str:
    """A place in a YAML file."""
    return f"{where.file}:{where.line}"


def place_of_function(function: NamedFunction, roots: Sequence[Path]) -> str:
    """`file:line` of a hand-written function."""
    module, name = function.reference.full_module(function.what), function.reference.name
    places = (place(file, name) for file in files_of(module, roots) or ())
    return next((found for found in places if found), f"{module}:{name}")
