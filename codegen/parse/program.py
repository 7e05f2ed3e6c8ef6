"""The door of the front end: two YAML files in, a checked Program out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .. import library
from ..check import check
from ..errors import SourceLocation
from ..model.program import Program
from .definitions import check_functions
from .derivatives import read_derivatives
from .entries import read_operators
from .functions import read_functions
from .implementations import Implementations
from .members import check_members
from .report import Report
from .yaml_nodes import AnyNode, Source
from .yaml_reader import read_yaml

PathLike = str | os.PathLike[str]


def read_program(
    functions_path: PathLike,
    derivatives_path: PathLike | None,
    formulas_path: PathLike | None = None,
    base: Program | None = None,
    implementations: Implementations | None = None,
    roots: Sequence[Path] = (),
) -> Program:
    """Read and check both files.

    `formulas_path` is the Python file whose functions derivative formulas may call; it is read,
    not imported. `base` is the program whose operators a package outside the tree may call, and
    `implementations` are its own hand-written functions. `roots` are folders that hold packages:
    functions that entries name must be defined there; without any this is not checked.
    Raises: CodegenError with every mistake of both files.
    """
    with warnings.catch_warnings():
        # What Python only warns of in an expression (`1or 2`) is a mistake here.
        warnings.simplefilter("error", SyntaxWarning)
        return _read_program(
            functions_path, derivatives_path, formulas_path, base, implementations, roots
        )


def _read_program(
    functions_path: PathLike,
    derivatives_path: PathLike | None,
    formulas_path: PathLike | None,
    base: Program | None,
    implementations: Implementations | None,
    roots: Sequence[Path],
) -> Program:
    report = Report()
    nodes = _read(functions_path, report)
    derivative_nodes = _read(derivatives_path, report) if derivatives_path else []
    if nodes is None or derivative_nodes is None:
        raise report.error()
    own = read_functions(implementations.formulas) if implementations else {}
    library = read_functions(formulas_path)
    functions = {**library, **own}
    operators, broken = read_operators(nodes, report)
    program = Program(operators, base=base, formulas=tuple(library))
    if implementations:
        program = replace(
            program,
            operators=tuple(implementations.located(operator) for operator in operators),
            own_formulas=tuple(own),
            formulas_module=f"{implementations.package}.{implementations.formulas.stem}",
        )
    derivatives, unread = read_derivatives(derivative_nodes, program, functions, broken, report)
    program = replace(program, derivatives=derivatives)
    report.extend(check(program, functions, broken, unread))
    check_functions(program.operators, roots, report, outside=base is not None)
    if base is not None:
        check_members(program.operators, report)
    report.raise_if_any()
    return program


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
