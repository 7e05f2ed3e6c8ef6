"""Emits modules by PyTorch's paths, such as `nn.modules.conv`, of parts of hand-written ones.

Programs import classes from where PyTorch defines them, and tools read that place from a class's
`__module__`. What each module re-exports, what the packages above gather from it, and where each
class says that it is found are all made from the library's surface.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..model.surface import PublicModule, Surface
from ..record import record
from ..write import File
from .environment import render


@record
class Layout:
    """What the text of a public module is made from."""

    doc: str
    package: str
    imported: list[tuple[str, list[str]]]
    exported: list[str]
    submodules: list[str]
    hidden: list[str]
    """Submodules that a function of the same name hides: they are loaded before it is imported."""


def emit(surface: Surface) -> Iterable[File]:
    """Emit the modules that are made of parts, and where each class is found."""
    for module in surface.parted:
        layout = _layout(module, surface)
        yield render(surface.file(module.path), "public_module.py.jinja", module=layout)
    yield render("public_modules.py", "public_modules.py.jinja", places=_places(surface))


def _layout(module: PublicModule, surface: Surface) -> Layout:
    sources = {source: set(names) for source, names in module.imports.items()}
    for gathered in surface.parted:
        if _parent(gathered.path) in module.gathers and gathered is not module:
            for source, names in gathered.imports.items():
                sources.setdefault(source, set()).update(filter(_is_class, names))
    imported = [
        (source, sorted(sources[source], key=_imported_order)) for source in sorted(sources)
    ]
    imported = [(source, names) for source, names in imported if names]
    exported = sorted({name for _, names in imported for name in names}, key=_exported_order)
    children = {
        other.path.rpartition(".")[2]
        for other in surface.parted
        if _parent(other.path) == module.path
    }
    return Layout(
        module.doc,
        f"torchgen_out.{module.path}",
        imported,
        exported,
        sorted({*children, *module.submodules}.difference(exported)),
        sorted(children.intersection(exported)),
    )


def _places(surface: Surface) -> list[tuple[str, list[str]]]:
    """The public modules, and what has its place there."""
    placed: set[str] = set()
    places = []
    order = sorted(surface.parted, key=lambda m: surface.is_package(m.path) or "._" in m.path)
    for module in order:
        written = [f"{source}.{name}" for source, names in module.imports.items() for name in names]
        new = [name for name in written if name not in placed]
        placed.update(new)
        if new:
            places.append((f"torchgen_out.{module.path}", new))
    return places


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _is_class(name: str) -> bool:
    return name[0].isupper()


def _exported_order(name: str) -> tuple[int, str]:
    """Constants, classes, functions."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2), name


def _imported_order(name: str) -> tuple[int, str, str]:
    """The same, whatever the case of the letters."""
    return _exported_order(name)[0], name.lower(), name
