"""Emits small tables: dtype sets, and the classes of several named results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from codegen.emit import naming
from codegen.emit.environment import render
from codegen.model.program import Program
from codegen.model.vocabulary import DTYPE_SETS
from codegen.write import File


@dataclass(frozen=True, slots=True)
class Result:
    """A named tuple, called as the family of operators that returns it."""

    name: str
    fields: tuple[str, ...]


def emit(program: Program) -> Iterable[File]:
    """Emit dtype_sets.py and return_types.py."""
    if program.is_library:
        yield render(
            "dtype_sets.py",
            "dtype_sets.py.jinja",
            sets=[(name.upper(), names) for name, names in DTYPE_SETS.items()],
        )
    results = {
        operator.base_name: Result(
            operator.base_name, tuple(r.name or "" for r in operator.schema.returns)
        )
        for operator in program.operators
        if naming.named_tuple(operator) is not None
    }
    if results or program.is_library:
        yield render(
            "return_types.py",
            "return_types.py.jinja",
            results=results.values(),
            home="torch" if program.is_library else program.package,
        )
