"""What Python files define, by name: read as text, never imported."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from .. import library
from ..errors import did_you_mean
from ..model.operator import NamedFunction, Operator
from ..model.vocabulary import FUNCTION_FOLDERS
from .report import Report

_DEFINITION = re.compile(r"^(?:(?:def|class) (\w+)|([\w.]+)(?:: [^=\n]+)? = )", re.MULTILINE)
_OWN_FUNCTION = (
    "a function of your own is package.module:function; "
    "or give --implementations FOLDER, which module.function is then in"
)
_IMPORT = re.compile(r"^from [\w.]+ import (?:\(([^)]*)\)|([^(\n]*))", re.MULTILINE)


@cache
def definitions(path: Path) -> dict[str, int]:
    """The line, from 1, of everything that a module defines by `def`, `class` or assignment."""
    if not path.is_file():
        return {}
    text = path.read_text(encoding="utf-8")
    lines: dict[str, int] = {}
    number, at = 1, 0
    for match in _DEFINITION.finditer(text):
        number += text.count("\n", at, match.start())
        at = match.start()
        lines.setdefault(match[1] or match[2], number)
    return lines


@cache
def _imported(path: Path) -> frozenset[str]:
    """What a module imports by name, and so offers as well."""
    lists = (match[1] or match[2] for match in _IMPORT.finditer(path.read_text(encoding="utf-8")))
    parts = (part.strip() for names in lists for part in names.split(","))
    return frozenset(part.rpartition(" as ")[2] for part in parts if part)


def files_of(module: str, roots: Sequence[Path]) -> list[Path] | None:
    """The files of a module, several for a package; None if its package is nowhere below roots."""
    for root in roots:
        path = library.path_of(module, root)
        if path is not None:
            files = [path.with_suffix(".py"), *sorted(path.glob("*.py"))]
            return [file for file in files if file.is_file()]
    return None


def check_functions(
    operators: Sequence[Operator], roots: Sequence[Path], report: Report, outside: bool = False
) -> None:
    """Report every hand-written function that an entry names and no file below `roots` defines.

    outside: whether the entries are those of a package outside the tree.
    """
    for operator in operators:
        for function in operator.functions:
            _check(operator, function, roots, report, outside)


def _check(
    operator: Operator,
    function: NamedFunction,
    roots: Sequence[Path],
    report: Report,
    outside: bool,
) -> None:
    name = function.reference.name
    module = function.reference.full_module(function.what)
    files = files_of(module, roots)
    if files is None or any(name in definitions(file) for file in files):
        return
    if function.what not in FUNCTION_FOLDERS and not function.reference.is_absolute:
        return  # an unknown backend, which is reported
    if any(name in _imported(file) for file in files):
        return
    message = f"{module} has no function '{name}'" if files else f"there is no module {module}"
    if outside and not function.reference.is_absolute:
        hint: str | None = _OWN_FUNCTION
    elif files:
        close = did_you_mean(name, [known for file in files for known in definitions(file)])
        hint = close or f"define it in {files[0].name}"
    else:
        hint = f"it would be {_shown_file(module)}"
    where, width = operator.places.value(*function.keys), len(str(function.reference))
    report.add("E324", where, f"{operator.name}: {message}", hint=hint, width=width)


def _shown_file(module: str) -> str:
    """The file that a module would be, in a checkout."""
    return module.replace(library.RUNTIME, "runtime", 1).replace(".", "/") + ".py"
