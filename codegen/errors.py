"""Places in source files, and the diagnostics that point at them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Protocol

from .record import record


class Positions(Protocol):
    """Where the characters of a text stand in its file (a YAML scalar may be folded or quoted)."""

    def position(self, offset: int) -> tuple[int, int]:
        """Return (line, column), both from 1, of the character at `offset` of the text."""


@record
class SourceLocation:
    """The place where a text begins.

    `file` is the path as the user gave it; `line` and `column` count characters from 1.
    """

    file: str
    line: int
    column: int
    positions: Positions | None = field(default=None, compare=False, repr=False)

    def at(self, offset: int) -> SourceLocation:
        """Return the place of character `offset` of the text that begins here."""
        if self.positions is None:
            return replace(self, column=self.column + offset)
        line, column = self.positions.position(offset)
        return SourceLocation(self.file, line, column)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@record
class Related:
    """A second place that a diagnostic speaks of, such as the first of two equal entries."""

    where: SourceLocation
    message: str


@record
class Diagnostic:
    """One mistake of the user: a stable code, the exact place, and what to do about it."""

    code: str
    where: SourceLocation
    message: str
    hint: str | None = None
    related: tuple[Related, ...] = ()
    width: int = 1
    """How many characters the caret underlines."""

    def __str__(self) -> str:
        return f"{self.where}: error[{self.code}]: {self.message}"

    def render(self, sources: Mapping[str, str] | None = None) -> str:
        """Return the message, the source line with a caret, the hint and the related places."""
        lines = [str(self), *_excerpt(self.where, self.width, sources or {})]
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        for other in self.related:
            lines.append(f"{other.where}: note: {other.message}")
            lines.extend(_excerpt(other.where, 1, sources or {}))
        return "\n".join(lines)


class CodegenError(Exception):
    """All mistakes that one run found, in file order. `sources` maps a file to its text."""

    def __init__(
        self, diagnostics: Iterable[Diagnostic], sources: Mapping[str, str] | None = None
    ) -> None:
        self.diagnostics = in_file_order(diagnostics)
        self.sources = dict(sources or {})
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        count = len(self.diagnostics)
        total = "1 error" if count == 1 else f"{count} errors"
        rendered = [diagnostic.render(self.sources) for diagnostic in self.diagnostics]
        return "\n\n".join([*rendered, total])


def in_file_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Sort by place; files keep the order in which they first appear, equal reports are dropped."""
    unique = list(dict.fromkeys(diagnostics))
    files = {name: i for i, name in enumerate(dict.fromkeys(d.where.file for d in unique))}
    return tuple(sorted(unique, key=lambda d: (files[d.where.file], d.where.line, d.where.column)))


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return a hint that names the closest of `known`, or None if nothing is close.

    The same word in other case comes first, and a word that `name` begins with before those that
    are only somewhat similar: 'cpu' means CPU, and 'grad_output' means grad.
    """
    words = list(known)
    close = [word for word in words if word.lower() == name.lower()]
    close = close or difflib.get_close_matches(name, words, n=2, cutoff=0.8)
    close = close or [word for word in words if name.startswith(f"{word}_")]
    close = close or difflib.get_close_matches(name, words, n=2, cutoff=0.6)
    if not close:
        return None
    return "did you mean " + " or ".join(f"'{word}'" for word in close) + "?"


def _excerpt(where: SourceLocation, width: int, sources: Mapping[str, str]) -> list[str]:
    text = sources.get(where.file)
    if text is None:
        path = Path(where.file)
        if not path.is_file():
            return []
        text = path.read_text(encoding="utf-8", errors="replace")
    lines = text.split("\n")
    if not 1 <= where.line <= len(lines):
        return []
    line = lines[where.line - 1].rstrip("\r")
    # A tab before the caret stays a tab, so that the caret stands under its character.
    lead = "".join("\t" if char == "\t" else " " for char in line[: where.column - 1])
    under = max(1, min(width, len(line) - where.column + 1))
    return [f"    {line}", f"    {lead.ljust(where.column - 1)}{'^' * under}"]
