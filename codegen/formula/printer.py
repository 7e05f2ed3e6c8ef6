"""Lays out a formula as the body of a function; what an expression looks like is the subclass's."""

from __future__ import annotations

import keyword
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterator

from ..model.formula import Call, Expression, Formula, Select, children, walk
from .primitives import CONSTANTS, PRIMITIVES

LINE_LENGTH = 100
_INDENT = "    "
_RESERVED = frozenset({*PRIMITIVES, *CONSTANTS, "T", "np", "math", "ops", "finfo", *keyword.kwlist})


def parameter_name(name: str) -> str:
    """Return how an argument is called in printed text: not like a primitive or a keyword.

    Another one may be called like that already.
    """
    return name + "_" if name.rstrip("_") in _RESERVED else name


def defined_name(name: str) -> str:
    """Return how the function of a formula is called in printed text; a second time, the same."""
    return name + "_" if name in _RESERVED else name


def enclose(text: str, binding: int, strength: int) -> str:
    """Put parentheses around what binds less than its place asks for."""
    return f"({text})" if binding < strength else text


class Printer(ABC):
    """Prints one formula: a line for each part that is shared or too long, then the result."""

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        self.names: dict[Expression, str] = {}
        self._taken = {parameter_name(argument.name) for argument in formula.arguments}
        self._wanted = {node: name for name, node in formula.names}
        self._shared = _used_more_than_once(formula)

    @abstractmethod
    def text(self, node: Expression, strength: int) -> str:
        """Print `node`, in parentheses if it binds less than `strength`."""

    def result(self, node: Expression) -> str:
        """Print an output."""
        return self.text(node, 0)

    def function(self, name: str) -> str:
        """Return the whole definition."""
        parameters = [parameter_name(argument.name) for argument in self.formula.arguments]
        lines = [f"def {name}({', '.join(parameters)}):"]
        if len(lines[0]) > LINE_LENGTH:
            lines = [f"def {name}(", *(f"{_INDENT}{parameter}," for parameter in parameters), "):"]
        lines += _docstring(self.formula.text)
        lines += [_INDENT + line for line in self.body()]
        return "\n".join(lines) + "\n"

    def body(self) -> Iterator[str]:
        """Yield the statements, not indented."""
        for node in walk(self.formula.outputs):
            if isinstance(node, Call | Select) and (node in self._shared or node in self._wanted):
                yield from self._assignment(node)
        results = []
        for output in self.formula.outputs:
            yield from self._shorten(output, len("return "))
            results.append(self.result(output))
        line = f"return {', '.join(results)}"
        if len(results) > 1 and len(line) + len(_INDENT) > LINE_LENGTH:
            yield "return ("
            yield from (f"{_INDENT}{result}," for result in results)
            line = ")"
        yield line

    def _assignment(self, node: Expression) -> Iterator[str]:
        wanted = self._wanted.get(node)
        yield from self._shorten(node, len(wanted or "t10") + len(" = "))
        name = self._fresh(wanted)
        yield f"{name} = {self.text(node, 0)}"
        self.names[node] = name

    def _shorten(self, node: Expression, prefix: int) -> Iterator[str]:
        """Name parts of a node until its line is short enough."""
        if node in self.names:
            return
        room = LINE_LENGTH - len(_INDENT) - prefix
        while len(self.text(node, 0)) > room:
            parts = [
                part
                for part in children(node)
                if isinstance(part, Call | Select) and part not in self.names
            ]
            if not parts:
                return
            yield from self._assignment(max(parts, key=lambda part: len(self.text(part, 0))))

    def _fresh(self, wanted: str | None) -> str:
        candidate = parameter_name(wanted) if wanted else ""
        number = 0
        while not candidate or candidate in self._taken:
            candidate = f"t{number}"
            number += 1
        self._taken.add(candidate)
        return candidate


def _docstring(text: str) -> list[str]:
    if not text:
        return []
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    if "\n" not in text and len(text) + len(_INDENT) + 6 <= LINE_LENGTH:
        return [f'{_INDENT}"""{text}"""']
    width = LINE_LENGTH - len(_INDENT) - 6
    lines = [
        part
        for line in text.split("\n")
        for part in textwrap.wrap(line, width, break_long_words=False)
    ]
    return [f'{_INDENT}"""{lines[0]}', *(_INDENT + line for line in lines[1:]), f'{_INDENT}"""']


def _used_more_than_once(formula: Formula) -> set[Expression]:
    """Return the nodes that several places read."""
    counts: dict[Expression, int] = {}
    for output in formula.outputs:
        counts[output] = counts.get(output, 0) + 1
    for node in walk(formula.outputs):
        for child in children(node):
            counts[child] = counts.get(child, 0) + 1
    return {node for node, count in counts.items() if count > 1}
