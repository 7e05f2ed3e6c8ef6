"""The template environment, and the header of every generated file."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from codegen.emit import imports, layout
from codegen.write import File

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"


@lru_cache(maxsize=1)
def _environment():  # type: ignore[no-untyped-def]
    # Jinja is imported by the first template, so that --help and errors need not wait for it.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )


def render(path: str, template: str, **values: object) -> File:
    """The file at `path` from a template."""
    text = _environment().get_template(template).render(**values)
    if path.endswith((".py", ".pyi")):
        text = layout.fit(imports.tidy(text), is_stub=path.endswith(".pyi"))
    return File(path, text)
