"""The door of the parser: two YAML files in, a Program out, and what was wrong on the way."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain
from pathlib import Path

from .. import library
from ..errors import SourceLocation
from ..model.derivative import Derivative
from ..model.operator import Operator
from ..model.program import Program
from ..model.signature import Signature
from ..model.surface import Surface
from ..record import record
from .adjoints import Adjoints, with_adjoints
from .derivatives import DerivativeReader
from .entries import OperatorReader
from .functions import read_functions
from .implementations import Implementations
from .reading import Reading, entries, entry_texts
from .report import Report
from .split import split
from .surface import ABSENT, FACADES, SurfaceReader
from .yaml_nodes import AnyNode, Source
from .yaml_reader import read_yaml

PathLike = str | os.PathLike[str]


@record
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


@record
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
    reading: Reading | None = None
    """What each entry became; None if something could not be read, or was not read now."""
    again: frozenset[str] | None = None
    """The operators that were read now, and the others before; None if all were."""


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
    reader = OperatorReader(report, base.operators if base else ())
    made = [reader.entry(node) for node in nodes]
    operators, broken = tuple(chain.from_iterable(made)), reader.broken
    program = replace(inputs.empty, operators=operators, formulas=tuple(shared))
    if inputs.surface:
        program = replace(program, surface=read_surface(inputs.surface, report))
    if own_code:
        program = replace(
            program,
            operators=tuple(own_code.located(operator) for operator in operators),
            own_formulas=tuple(own),
            formulas_module=f"{own_code.package}.{own_code.formulas.stem}",
        )
    read = DerivativeReader(program, functions, broken, report)
    derived = [tuple(filter(None, (read.entry(node),))) for node in derivative_nodes]
    unread, rest = read.unread, replace(program, operators=())
    program = replace(program, derivatives=tuple(chain.from_iterable(derived)))
    program, adjoints = with_adjoints(split(program), functions, report)
    reading = None
    if not report.diagnostics:
        files = [inputs.functions, *([inputs.derivatives] if inputs.derivatives else ())]
        texts = [entry_texts(report.sources[os.fspath(file)]) for file in files]
        reading = _reading(texts, made, derived, adjoints, functions, rest)
    return Parsed(program, functions, broken, unread, inputs.roots, report, reading)


def _reading(
    texts: Sequence[tuple[str, list[str]]],
    operators: list[tuple[Operator, ...]],
    derivatives: list[tuple[Derivative, ...]],
    adjoints: Mapping[str, Adjoints],
    functions: Mapping[str, Signature],
    rest: Program,
) -> Reading | None:
    """What each entry became; None for files whose lines do not say where an entry begins."""
    heads = tuple(head for head, _ in texts)
    own, *further = (list_ for _, list_ in texts)
    formulas = further[0] if further else []
    if len(own) != len(operators) or len(formulas) != len(derivatives):
        return None
    read = entries(own, operators), entries(formulas, derivatives)
    return Reading(heads, *read, adjoints, functions, rest)


def read_surface(folder: Path, report: Report) -> Surface:
    """The public modules over hand-written ones, of the folder of these."""
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
