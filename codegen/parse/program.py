"""The door of the parser: two YAML files in, a Program out, and what was wrong on the way."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from .. import library
from ..errors import SourceLocation
from ..model.program import Program
from ..model.signature import Signature
from ..model.surface import Surface
from .adjoints import with_adjoints
from .derivatives import read_derivatives
from .draws import with_draws
from .entries import read_operators
from .functions import read_functions
from .implementations import Implementations
from .optionals import with_optionals
from .report import Report
from .surface import ABSENT, FACADES, SurfaceReader
from .yaml_nodes import AnyNode, Source
from .yaml_reader import read_yaml

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Inputs:
    """What one program is read from."""

    functions: PathLike
    derivatives: PathLike | None
    formulas: PathLike | None = None
    """The Python file whose functions derivative formulas may call; it is read, not imported."""
    implementations: Implementations | None = None
    """The hand-written functions of a package outside the tree."""
    roots: Sequence[Path] = ()
    """Folders that hold packages: functions that entries name must be defined there."""
    surface: Path | None = None
    """The folder of the hand-written code, with what public modules are made of it; or none."""
    empty: Program = field(default=Program(()))
    """The program before anything is read: the package that it is of, and the base program."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A program that nobody has checked yet."""

    program: Program
    functions: Mapping[str, Signature]
    """What derivative formulas may call besides operators."""
    broken: Collection[str]
    """Operators whose entries could not be read: nobody is told that these do not exist."""
    unread: Collection[str]
    """Operators whose derivative entries could not be read."""
    roots: Sequence[Path]
    """As in `Inputs`; without any, it is not checked that functions exist."""
    report: Report
    """The mistakes so far."""


def parse(inputs: Inputs) -> Parsed:
    """Read both files.

    Raises: CodegenError if one of them cannot be read at all; other mistakes are reported.
    """
    with warnings.catch_warnings():
        # What Python only warns of in an expression (`1or 2`) is a mistake here.
        warnings.simplefilter("error", SyntaxWarning)
        return _parse(inputs)


def _parse(inputs: Inputs) -> Parsed:
    report, own_code = Report(), inputs.implementations
    nodes = _read(inputs.functions, report)
    derivative_nodes = _read(inputs.derivatives, report) if inputs.derivatives else []
    if nodes is None or derivative_nodes is None:
        raise report.error()
    own = read_functions(own_code.formulas) if own_code else {}
    shared = read_functions(inputs.formulas)
    functions = {**shared, **own}
    base = inputs.empty.base
    operators, broken = read_operators(nodes, report, base.operators if base else ())
    program = replace(inputs.empty, operators=operators, formulas=tuple(shared))
    if inputs.surface:
        program = replace(program, surface=_surface(inputs.surface, report))
    if own_code:
        program = replace(
            program,
            operators=tuple(own_code.located(operator) for operator in operators),
            own_formulas=tuple(own),
            formulas_module=f"{own_code.package}.{own_code.formulas.stem}",
        )
    derivatives, unread = read_derivatives(derivative_nodes, program, functions, broken, report)
    program = with_draws(with_optionals(replace(program, derivatives=derivatives)))
    program = with_adjoints(program, functions, report)
    return Parsed(program, functions, broken, unread, inputs.roots, report)


def _surface(folder: Path, report: Report) -> Surface:
    facades, absent = (_read(folder / name, report) or [] for name in (FACADES, ABSENT))
    return SurfaceReader(folder.resolve(), report).read(facades, absent)


def _read(path: PathLike, report: Report) -> list[AnyNode] | None:
    """Return the entries of a file; None if it is so wrong that the other one cannot be checked."""
    file = os.fspath(path)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        hint = f"`{library.COMMAND} new NAME` with the same options begins it"
        report.add("E100", SourceLocation(file, 1, 1), "there is no such file", hint=hint)
        return None
    except OSError as error:
        message = f"cannot read the file: {error.strerror}"
        report.add("E100", SourceLocation(file, 1, 1), message)
        return None
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode()
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        message = f"the file is not UTF-8: byte 0x{error.object[error.start]:02x} is no character"
        hint = "save it as UTF-8"
        report.add("E100", SourceLocation(file, line, column), message, hint=hint)
        return None
    return read_yaml(Source(file, text), report)
