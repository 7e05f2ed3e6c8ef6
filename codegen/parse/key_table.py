"""The keys of a YAML file and their values as the comment at its head; a test compares.

`python -m codegen.parse.json_schema` writes it anew after a change of the tables.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from .. import library
from ..model import vocabulary
from . import surface
from .keys import DERIVATIVE_KEYS, OPERATOR_KEYS, REDUCTION_KEYS, Key, Shape

WIDTH = 100
_LONGEST_LIST = 120
"""Characters of a vocabulary that is listed beside its key; longer ones have a table, or none."""

OPERATORS = "native_functions.yaml"
DERIVATIVES = "derivatives.yaml"
FILES = (OPERATORS, DERIVATIVES, surface.FACADES, surface.ABSENT)
"""The files that begin so, by their names."""


def path_of(file: str) -> Path:
    """Where a file is in a checkout."""
    folder = library.YAML_FOLDER if file in (OPERATORS, DERIVATIVES) else library.RUNTIME_FOLDER
    return folder / file


def replaced(text: str, file: str) -> str:
    """A YAML file with its head as the tables have it."""
    lines = text.split("\n")
    end = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    begins_with_table = lines[0] == head(file).split("\n")[0]
    return head(file) + "\n".join(lines[end:] if begins_with_table else ["", *lines])


def head(file: str) -> str:
    """The comment that a file begins with."""
    made = {
        OPERATORS: _operators,
        DERIVATIVES: _derivatives,
        surface.FACADES: _facades,
        surface.ABSENT: _absent,
    }
    return "".join(f"# {line}".rstrip() + "\n" for line in made[file]())


def _operators() -> Iterator[str]:
    yield "One entry per family of operators; docs/operators.md explains them. The keys, in order:"
    yield ""
    yield from _table((key.name, _meaning(key)) for key in OPERATOR_KEYS)
    for title, rows in (
        ("Keys of 'reduction'", {key.name: key.doc for key in REDUCTION_KEYS}),
        ("Values of 'variants'", vocabulary.VARIANTS),
        ("Values of 'dtypes'", {n: ", ".join(d) for n, d in vocabulary.DTYPE_SETS.items()}),
        ("Values of 'promotion'", vocabulary.PROMOTIONS),
        ("Values of 'tags'", vocabulary.TAGS),
    ):
        yield from _section(title, rows)


def _derivatives() -> Iterator[str]:
    yield "One entry per differentiable operator; docs/operators.md explains them. The keys:"
    yield ""
    own = {
        "<arguments>": "Their gradient, over grad, arguments, result: a formula, or a word below.",
        "<results>": "Their tangent, over arguments `x_p` and their tangents `x_t`; the same.",
    }
    yield from _table([*((key.name, _meaning(key)) for key in DERIVATIVE_KEYS), *own.items()])
    yield from _section("Words for gradients", vocabulary.GRADIENTS)
    yield from _section("Words for tangents", vocabulary.TANGENTS)


def _facades() -> Iterator[str]:
    yield "Public modules, by PyTorch's names, over hand-written ones below this folder. The keys:"
    yield ""
    yield from _table((key.name, _meaning(key)) for key in surface.MODULE_KEYS)
    yield from _section("Or", {key.name: key.doc for key in surface.FOLDER_KEYS})
    yield from _section("Or", {key.name: key.doc for key in surface.CLASS_KEYS})


def _absent() -> Iterator[str]:
    yield "What PyTorch has and the library has not: the names are there, and say so. The keys:"
    yield ""
    yield from _table((key.name, _meaning(key)) for key in surface.GROUP_KEYS)
    yield from _section("Keys of a module", {key.name: key.doc for key in surface.ABSENT_KEYS})


def _section(title: str, rows: Mapping[str, str]) -> Iterator[str]:
    yield from ("", f"{title}:", "")
    yield from _table(rows.items())


def _table(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    listed = list(rows)
    width = max(len(name) for name, _ in listed) + 2
    for name, meaning in listed:
        first, *rest = textwrap.wrap(meaning, WIDTH - 4 - width, break_on_hyphens=False)
        yield f"  {name:{width}}{first}"
        yield from (f"  {'':{width}}{line}" for line in rest)


def _meaning(key: Key) -> str:
    """What a key says, and which values it takes."""
    words = ", ".join(key.words)
    if key.shape is Shape.WORD and len(key.words) == 1:
        return key.doc
    if words and len(words) <= _LONGEST_LIST and key.name not in ("variants", "dtypes"):
        return (
            f"{key.doc} One of: {words}." if key.shape is Shape.WORD else f"{key.doc} Of: {words}."
        )
    kind = "" if key.shape in (Shape.TEXT, Shape.WORD) else f" ({key.shape.value})"
    return f"{key.doc[:-1]}{kind}."
