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
    """A named tuple."""

    name: str
    public: str
    fields: tuple[str, ...]


def emit(program: Program) -> Iterable[File]:
    """Emit dtype_sets.py and results.py."""
    if program.is_library:
        yield render(
            "dtype_sets.py",
            "dtype_sets.py.jinja",
            sets=[(name.upper(), names) for name, names in DTYPE_SETS.items()],
        )
    results = [
        Result(name, operator.base_name, tuple(r.name or "" for r in operator.schema.returns))
        for operator in program.operators
        if (name := naming.named_tuple(operator)) is not None
    ]
    if results or program.is_library:
        yield render("results.py", "results.py.jinja", results=results)
