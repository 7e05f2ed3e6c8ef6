"""Emits the package itself: __init__.py, and facades over the hand-written parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import library
from ..model.program import Program
from ..model.surface import PublicModule, Surface
from ..record import record
from ..write import File
from . import absent_modules, imports, namespaces, public_modules
from .environment import render


@record
class Facade:
    """A public module that re-exports what a hand-written one lists in `__all__`."""

    what: PublicModule
    package: str
    """Its own name, which is that of the package that holds the submodules."""

    @property
    def comes_first(self) -> bool:
        """Whether its own package sorts before the hand-written module."""
        return self.package < self.what.module


def lazy_modules(surface: Surface, package: str = "") -> list[str]:
    """Return the modules of a package that load when they are first named."""
    paths = [*surface.paths, *namespaces.MODULES[1:], "utils"]
    below = [path.removeprefix(package) for path in paths if path.startswith(package)]
    return sorted({path.partition(".")[0] for path in below})


def names_by_module(surface: Surface) -> list[tuple[str, list[str]]]:
    """Return the modules that names of the package itself load with, and these names."""
    return sorted(
        (module.path, sorted(module.at_top, key=imports.member_order))
        for module in surface.all
        if module.at_top and not module.path.startswith("utils.")
    )


def emit(program: Program) -> Iterable[File]:
    """Emit `__init__.py`, the library's facades, and `py.typed`."""
    yield from _library(program.surface) if program.is_library else _outside(program)
    yield File("py.typed", "")


def _library(surface: Surface) -> Iterator[File]:
    yield render(
        "__init__.py",
        "init.py.jinja",
        modules=lazy_modules(surface),
        names=sorted(surface.at_top().items(), key=lambda item: (item[1], item[0])),
        names_by_module=names_by_module(surface),
    )
    yield from public_modules.emit(surface)
    yield from absent_modules.emit(surface)
    for name, folder in library.LINKED.items():
        yield render(f"{name}/__init__.py", "linked_package.py.jinja", folder=folder)
    yield render("as_torch.py", "as_torch.py.jinja")
    for module in surface.whole:
        facade = Facade(module, f"torchgen_out.{module.path}")
        yield render(surface.file(module.path), "facade.py.jinja", facade=facade)
    yield render(
        "utils/__init__.py",
        "utils.py.jinja",
        modules=lazy_modules(surface, "utils."),
        names=sorted(surface.at_top("utils.").items()),
    )


def _outside(program: Program) -> Iterator[File]:
    modules = namespaces.modules(program)
    yield render(
        "__init__.py",
        "outside_init.py.jinja",
        library=program.library,
        package=program.package,
        modules=sorted({module.partition(".")[0] for module in modules}),
        has_foreach=any(operator.foreach for operator in program.operators),
    )
    if "nn.functional" in modules:
        yield render("nn/__init__.py", "outside_nn.py.jinja", package=program.package)
