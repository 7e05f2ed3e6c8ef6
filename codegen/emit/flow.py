"""Lays lists of names out as prose is: as many on a line as fit.

A launch takes forty parameters; one on each line, they were half of a module. `ruff format` and its
like leave what ends in `# fmt: skip` as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .breaking import INDENT, WIDTH
from .tokens import Group, flat, members, parse

KEPT = "  # fmt: skip"
_EXPORTED = re.compile(r'^__all__ = \[\n((?: {4}"\w+",\n){5,})\]$', re.MULTILINE)


def flowed(items: Iterable[str], indent: int) -> list[str]:
    """Lines of items, a comma behind each; one that is longer than a line is broken by itself."""
    pad = " " * indent
    lines: list[str] = []
    line = ""
    for item in items:
        added = f"{line} {item}," if line else f"{pad}{item},"
        if len(added) > WIDTH and line:
            lines.append(line)
            added = f"{pad}{item},"
        line = added
        if len(line) > WIDTH:
            lines += _broken(item, indent)
            line = ""
    return [*lines, line] if line else lines


def exported(text: str) -> str:
    """A module whose `__all__` has as many names on a line as fit."""
    return _EXPORTED.sub(_names_flowed, text)


def _names_flowed(match: re.Match[str]) -> str:
    names = match[1].replace(",\n", "\n").split()
    return "\n".join(["__all__ = [", *flowed(names, INDENT), f"]{KEPT}"])


def _broken(item: str, indent: int) -> list[str]:
    """The lines of `name=(a, b),`, whose parts flow inside the brackets."""
    pad, nodes = " " * indent, parse(item)
    *lead, group = nodes
    assert isinstance(group, Group)
    inner = flowed(map(flat, members(group.items)), indent + INDENT)
    return [f"{pad}{flat(lead)}{group.opening}", *inner, f"{pad}{group.closing},"]


def tuple_of(values: Sequence[str]) -> str:
    """Texts of values as the text of a tuple."""
    return f"({values[0]},)" if len(values) == 1 else f"({', '.join(values)})"


def definition(line: str) -> list[str]:
    """The lines of `def name(a, b):`, of whose parameters as many share a line as fit."""
    if len(line) <= WIDTH:
        return [line]
    head, _, rest = line.partition("(")
    parameters = rest.removesuffix("):").split(", ")
    inner = " " * INDENT + ", ".join(parameters)
    if len(inner) <= WIDTH:
        return [f"{head}(", inner, "):"]
    return [f"{head}(", *flowed(parameters, INDENT), f"):{KEPT}"]
