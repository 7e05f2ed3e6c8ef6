"""The library's public modules over hand-written ones: what stands where PyTorch has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from .. import library
from ..record import record


@record
class PublicModule:
    """A module that takes its names from hand-written ones."""

    path: str
    """Its dotted name within the package: `nn.modules.conv`."""
    doc: str
    source: str = ""
    """The hand-written module, below the runtime, that it is in whole; empty if it is of parts."""
    names: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Otherwise: hand-written modules, and the names that it takes from each."""
    gathers: tuple[str, ...] = ()
    """Packages whose modules' classes are found here, too."""
    submodules: tuple[str, ...] = ()
    """Modules below it that are loaded with it, besides those of parts."""
    shadowed: tuple[str, ...] = ()
    """Submodules whose names stand for something else here: they load before that is named."""
    has_switches: bool = False
    """Whether users set names of the module, so that it must be the hand-written module itself."""
    at_top: tuple[str, ...] = ()
    """Names that the package itself, or `utils` of what is below it, loads when asked for."""
    of_folder: bool = False
    """Whether it is here because its hand-written module is in a folder."""
    command: str = ""
    """Its function that `python -m` calls; empty if the module is no command."""

    @property
    def module(self) -> str:
        """The full name of the hand-written module that it is in whole."""
        return f"{library.RUNTIME}.{self.source}"

    @property
    def imports(self) -> dict[str, tuple[str, ...]]:
        """The names that it takes from each hand-written module, by its full name."""
        return {f"{library.RUNTIME}.{source}": names for source, names in self.names}


@record
class AbsentModule:
    """A module whose names exist and cannot be used."""

    path: str
    doc: str
    remedy: str
    """What to do instead: the end of a sentence."""
    classes: tuple[str, ...] = ()
    """They can be derived from, and have no instances."""
    functions: tuple[str, ...] = ()
    """They refuse to be called."""
    marks: tuple[str, ...] = ()
    """Decorators that give back what they decorate."""
    answers: tuple[tuple[str, str], ...] = ()
    """Questions, and what they always answer, as Python text."""
    values: tuple[tuple[str, str], ...] = ()
    """Plain names, and their values as Python text."""
    place: str = ""
    """Where users find the names, if not in the module."""
    at_top: tuple[str, ...] = ()
    """As of public modules."""

    @property
    def exported(self) -> tuple[str, ...]:
        """All its names."""
        listed = (*self.classes, *self.functions, *self.marks)
        return (*listed, *(name for name, _ in (*self.answers, *self.values)))


@record
class Surface:
    """All of them."""

    modules: tuple[PublicModule, ...] = ()
    """Of a class that stands in several, the first is its place; packages and private modules come
    last."""
    absent: tuple[AbsentModule, ...] = ()
    files: tuple[Path, ...] = field(default=(), compare=False)
    """Hand-written files, and folders of such, that were read for it besides the YAML."""
    classes: Mapping[str, tuple[Path, ...]] = field(default_factory=dict, compare=False)
    """The files that define the hand-written members of a class."""
    _packages: frozenset[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        dots = ((path, i) for path in self.paths for i, letter in enumerate(path) if letter == ".")
        object.__setattr__(self, "_packages", frozenset(path[:i] for path, i in dots))

    @property
    def whole(self) -> tuple[PublicModule, ...]:
        """The modules that are a hand-written one in whole: facades."""
        return tuple(module for module in self.modules if module.source)

    @property
    def parted(self) -> tuple[PublicModule, ...]:
        """The modules that are made of parts of hand-written ones."""
        return tuple(module for module in self.modules if not module.source)

    @property
    def all(self) -> tuple[PublicModule | AbsentModule, ...]:
        """Every module."""
        return (*self.modules, *self.absent)

    @property
    def paths(self) -> tuple[str, ...]:
        """The dotted names of all modules."""
        return tuple(module.path for module in self.all)

    def at_top(self, package: str = "") -> dict[str, str]:
        """The module of each name that a package loads when it is asked for.

        package: "utils.", whose modules' names are its own; otherwise the package itself.
        """
        return {
            name: module.path
            for module in self.all
            for name in module.at_top
            if module.path.startswith("utils.") == bool(package)
        }

    def is_package(self, path: str) -> bool:
        """Whether there are modules below a module."""
        return path in self._packages

    def file(self, path: str) -> str:
        """The file of a module within the package."""
        return path.replace(".", "/") + ("/__init__.py" if self.is_package(path) else ".py")
