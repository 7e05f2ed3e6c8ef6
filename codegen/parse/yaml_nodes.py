"""YAML as three kinds of node that know their place; every scalar is the text that was written."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from ..errors import SourceLocation

_PLAIN, _BLOCK = "", ("|", ">")
_ESCAPE_LENGTHS = {"x": 4, "u": 6, "U": 10}


class Source:
    """One file: its path as the user gave it, and its text."""

    __slots__ = ("_line_starts", "file", "text")

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self._line_starts: list[int] | None = None

    def position(self, index: int) -> tuple[int, int]:
        """Return (line, column), from 1, of a character of the file."""
        starts = self._line_starts
        if starts is None:
            lengths = (len(line) + 1 for line in self.text.split("\n"))
            starts = self._line_starts = [0, *accumulate(lengths)][:-1]
        line = bisect_right(starts, index)
        return line, index - starts[line - 1] + 1


class Node:
    """Common to all nodes: the source and the place of the first character."""

    __slots__ = ("column", "line", "source")

    def __init__(self, source: Source, line: int, column: int) -> None:
        self.source = source
        self.line = line
        self.column = column

    @property
    def where(self) -> SourceLocation:
        """The place of the node."""
        return SourceLocation(self.source.file, self.line, self.column)


class Scalar(Node):
    """A scalar: always text, whatever YAML 1.1 would make of `on`, `012` or `1e-3`."""

    __slots__ = ("_positions", "end", "is_one_line", "start", "style", "text")

    def __init__(
        self, source: Source, line: int, column: int, text: str, style: str, start: int, end: int,
        is_one_line: bool,
    ) -> None:  # fmt: skip
        super().__init__(source, line, column)
        self.text = text
        self.style = style
        """One of '' (plain), a quote, `|` and `>`."""
        self.start = start
        self.end = end
        self.is_one_line = is_one_line
        self._positions: list[int] | None = None

    @property
    def where(self) -> SourceLocation:
        """The place of the first character of the text (after a quote or a block's header)."""
        line, column = self.position(0)
        return SourceLocation(self.source.file, line, column, self)

    def position(self, offset: int) -> tuple[int, int]:
        """Return (line, column) in the file of character `offset` of the text."""
        if self.is_one_line:
            if self.style == _PLAIN:
                return self.line, self.column + offset
            if self.end - self.start == len(self.text) + 2:  # quotes without escapes
                return self.line, self.column + 1 + offset
        if self._positions is None:
            self._positions = _align(self.source.text, self.start, self.end, self.text, self.style)
        return self.source.position(self._positions[max(0, min(offset, len(self.text)))])


class Sequence(Node):
    """A YAML list."""

    __slots__ = ("items",)

    def __init__(self, source: Source, line: int, column: int, items: list[AnyNode]) -> None:
        super().__init__(source, line, column)
        self.items = items


class Mapping(Node):
    """A YAML mapping with text keys, in file order."""

    __slots__ = ("keys", "values")

    def __init__(self, source: Source, line: int, column: int) -> None:
        super().__init__(source, line, column)
        self.keys: dict[str, Scalar] = {}
        self.values: dict[str, AnyNode] = {}

    def get(self, key: str) -> AnyNode | None:
        """Return the value of `key`, or None."""
        return self.values.get(key)


AnyNode = Scalar | Sequence | Mapping


def _align(source: str, start: int, end: int, text: str, style: str) -> list[int]:
    """Find the file index of every character of a scalar's text, and of its end.

    Folding, indentation and escapes only ever remove or merge white space and escape characters,
    so walking both texts side by side is enough: a visible character of the text is the next
    visible one of the file.
    """
    at = start
    if style in _BLOCK:
        at = source.find("\n", start) + 1 or end
    elif style != _PLAIN:
        at += 1
    indices: list[int] = []
    for char in text:
        at, width = _match(source, at, end, char, style)
        indices.append(min(at, end))
        at += width
    indices.append(min(at, end))
    return indices


def _match(source: str, at: int, end: int, char: str, style: str) -> tuple[int, int]:
    """Return where `char` stands at or after `at`, and how many characters of the file it takes."""
    is_space = char in " \n\t"
    while at < end:
        here = source[at]
        if here == "\\" and style == '"':
            if source[at + 1] != "\n":
                return at, _ESCAPE_LENGTHS.get(source[at + 1], 2)
            at += 2  # an escaped line break stands for nothing
        elif here in " \n\t\r":
            if is_space:
                return at, 1
            at += 1
        elif here == "'" and style == "'":
            return at, 2
        else:
            return at, 0 if is_space else 1
    return end, 0
