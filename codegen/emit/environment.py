"""The template environment, and the header of every generated file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..write import File
from . import flow, imports, layout

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
COMPILED = TEMPLATES / "__pycache__"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    # Jinja is imported by the first template, so that --help and errors need not wait for it.
    from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        bytecode_cache=FileSystemBytecodeCache(str(COMPILED)) if _can_write(COMPILED) else None,
    )


def _can_write(folder: Path) -> bool:
    """Make a folder; False where the generator is installed for reading only."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def render(path: str, template: str, **values: object) -> File:
    """The file at `path` from a template."""
    text = _filled(template, values)
    if path.endswith((".py", ".pyi")):
        text = flow.exported(layout.fit(imports.tidy(text), is_stub=path.endswith(".pyi")))
    return File(path, text)


def piece(template: str, **values: object) -> str:
    """A part of a Python module from a template, laid out."""
    return layout.fit(_filled(template, values).lstrip("\n"))


def render_pieces(
    path: str, template: str, pieces: Iterable[str], apart: int = 2, **values: object
) -> File:
    """The module at `path`: what the template says, then pieces, so many empty lines apart."""
    gap = "\n" * apart
    body = gap.join(filter(None, pieces))
    head = layout.fit(imports.tidy(_filled(template, values), body))
    return File(path, gap.join(filter(None, (head, body))))


def _filled(template: str, values: Mapping[str, object]) -> str:
    return _environment().get_template(template).render(**values)
