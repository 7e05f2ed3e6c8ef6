"""Emits small tables: dtype sets, NumPy's words, and the classes of several named results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model.program import Program
from ..model.vocabulary import DTYPE_SETS, SYNONYMS
from ..record import record
from ..write import File
from . import calling, naming
from .environment import render


@record
class Result:
    """A named tuple, called as the family of operators that returns it."""

    name: str
    fields: tuple[str, ...]


@record
class Synonyms:
    """A typed dictionary: the words for some parameters."""

    name: str
    parameters: str
    words: tuple[str, ...]


def emit(program: Program) -> Iterable[File]:
    """Emit dtype_sets.py, synonyms.py and return_types.py."""
    if program.is_library:
        yield render(
            "dtype_sets.py",
            "dtype_sets.py.jinja",
            sets=[(name.upper(), names) for name, names in DTYPE_SETS.items()],
        )
        yield render(
            "synonyms.py",
            "synonyms.py.jinja",
            parameters=[(word, name) for name, words in SYNONYMS.items() for word in words],
            classes=list(_classes()),
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


def _classes() -> Iterator[Synonyms]:
    for names in calling.COMBINATIONS:
        words = tuple(word for name in names for word in SYNONYMS[name])
        yield Synonyms(calling.class_of(names), " and ".join(names), words)
