"""What one run reads and where it writes: the library itself, or a package outside the tree."""

from __future__ import annotations

import argparse
import keyword
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from . import library
from .record import record

if TYPE_CHECKING:
    from .model.program import Program
    from .parse import Inputs

FORMULAS = library.RUNTIME_FOLDER / "autograd" / "formulas"


@record
class Project:
    """One pair of YAML files and the package made of it."""

    functions: Path
    derivatives: Path | None
    out: Path
    implementations: Path | None = None
    """Outside the tree: the Python package of its hand-written functions."""
    base: Project | None = None
    """The library, for a package outside the tree."""

    @property
    def is_installed(self) -> bool:
        """Whether it is the library in an installed package, which nothing may write to."""
        return self.base is None and library.IS_INSTALLED

    @property
    def package(self) -> str:
        """The dotted name under which the output is imported, `my_ops` or `my_project.my_ops`."""
        return _dotted_name(self.out)

    @property
    def apart(self) -> frozenset[str]:
        """Folders in the package that are not generated there: an installed one's linked ones."""
        return frozenset(library.LINKED) if self.is_installed else frozenset()

    def dependencies(self) -> Iterator[Path]:
        """Every file that the output depends on, the generator's own included."""
        yield self.functions
        if self.derivatives:
            yield self.derivatives
        if self.base:
            yield from self.base.dependencies()
            yield from sorted(
                self.implementations.glob("formulas.py") if self.implementations else ()
            )
        else:
            yield from sorted(library.RUNTIME_FOLDER.glob("*.yaml"))
            yield from sorted(library.RUNTIME_FOLDER.glob("*.yaml"))
            yield from sorted(FORMULAS.rglob("*.py"))
            yield from generator_files()

    def import_folders(self) -> Iterator[Path]:
        """The folders that must be on the import path for the package to work."""
        for folder in (self.out, self.implementations):
            if folder is not None:
                depth = _dotted_name(folder).count(".")
                yield folder.resolve().parents[depth]

    def inputs(self) -> Inputs:
        """What the parser reads.

        Raises: CodegenError with all mistakes of the library, for a package outside the tree.
        """
        from . import kept  # late: a run without changes reads nothing
        from .model.program import Program
        from .parse import Inputs
        from .parse.implementations import Implementations

        empty, folder = Program(()), self.implementations
        if self.base:
            empty = Program(
                (),
                (),
                kept.read(self.base),
                self.package,
                self._sources(),
                self.options(short=True),
            )
        return Inputs(
            seen_from_here(self.functions),
            self.derivatives and seen_from_here(self.derivatives),
            FORMULAS,
            Implementations(folder, _dotted_name(folder)) if folder else None,
            (*self.import_folders(), library.ROOT),
            None if self.base else seen_from_here(library.RUNTIME_FOLDER),
            empty,
        )

    def read(self) -> Program:
        """Read and check both files.

        Raises: CodegenError with all mistakes.
        """
        from .check import read_program

        return read_program(self.inputs())

    def _sources(self) -> tuple[str, ...]:
        files = (self.functions, self.derivatives)
        return tuple(file.name for file in files if file)

    def options(self, short: bool = False) -> str:
        """The options that mean this project; short: with the last name of each path alone."""
        given = {name: getattr(self, name) for name in _OPTIONS}
        return " ".join(
            f"--{name} {path.name if short else path}" for name, path in given.items() if path
        )


def generator_files() -> Iterator[Path]:
    """The modules and templates that make the output."""
    folder = library.GENERATOR_FOLDER
    for file in sorted((*folder.rglob("*.py"), *folder.rglob("*.jinja"))):
        if file.parent.name != "commands":  # these read what is generated
            yield file


def seen_from_here(path: Path) -> Path:
    """A path as people write it in the working folder."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _dotted_name(folder: Path) -> str:
    """The name under which a folder is imported: every parent with an `__init__.py` counts."""
    folder = folder.resolve()
    names = [folder.name]
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
        names.insert(0, folder.name)
    return ".".join(names)


_LIBRARY_PACKAGES = frozenset(
    ("jinja2", "llvmlite", "numba", "numpy", "scipy", "torchgen_out", "yaml")
)
"""What the library and the generator consist of, and what they import."""

_OWN_PACKAGE = __name__.partition(".")[0]

_OPTIONS = ("functions", "derivatives", "out", "implementations")

LIBRARY = Project(
    library.YAML_FOLDER / "native_functions.yaml",
    library.YAML_FOLDER / "derivatives.yaml",
    library.ROOT / library.PACKAGE,
)

INSTALLED = (
    f"{library.PACKAGE} is installed, and generated already; --functions and --out make a package "
    "of your own. The library's own operators are edited in a checkout."
)
"""Why the installed library is not generated in place."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a project."""
    group = parser.add_argument_group(
        "a package outside the tree", "Without these, the library itself is meant."
    )
    group.add_argument("--functions", type=Path, metavar="FILE", help="its operators")
    group.add_argument("--derivatives", type=Path, metavar="FILE", help="how they differentiate")
    group.add_argument("--out", type=Path, metavar="FOLDER", help="the package that is written")
    group.add_argument(
        "--implementations",
        type=Path,
        metavar="FOLDER",
        help="its hand-written functions: `kernels.mm` of an entry is in FOLDER/kernels.py, "
        "functions for derivatives.yaml are in FOLDER/formulas.py",
    )


def chosen(options: argparse.Namespace, parser: argparse.ArgumentParser) -> Project:
    """The project that the options mean."""
    if options.functions is None:
        for name in _OPTIONS[1:]:
            if getattr(options, name) is not None:
                parser.error(f"--{name} needs --functions")
        return LIBRARY
    if options.out is None:
        parser.error("--functions needs --out, the folder of the package")
    library, out = LIBRARY.out.resolve(), options.out.resolve()
    if out.is_relative_to(library) or library.is_relative_to(out):
        parser.error(
            f"--out {options.out} is the library's own package, or around it: "
            "what stands there would be replaced; choose a folder of its own"
        )
    for problem in _folder_problems(options):
        parser.error(problem)
    return Project(**{name: getattr(options, name) for name in _OPTIONS}, base=LIBRARY)


def _folder_problems(options: argparse.Namespace) -> Iterator[str]:
    """What is wrong with the folders of a package outside the tree: they are imported by name."""
    out, implementations = options.out, options.implementations
    if out.exists() and not out.is_dir():
        yield f"--out {out} is a file, not a folder"
    if implementations and not implementations.is_dir():
        yield f"--implementations {implementations}: there is no such folder"
    for option, folder in (("out", out), ("implementations", implementations)):
        name = _dotted_name(folder) if folder else "package"
        if not all(part.isidentifier() and not keyword.iskeyword(part) for part in name.split(".")):
            yield (
                f"--{option} {folder}: no package can be imported as '{name}'; "
                "a name has letters, digits and underscores, and is no word of Python's"
            )
        first = name.partition(".")[0]
        if first in sys.stdlib_module_names or first in _LIBRARY_PACKAGES | {_OWN_PACKAGE}:
            yield f"--{option} {folder}: '{first}' would hide the module of that name"
