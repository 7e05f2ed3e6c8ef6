"""What a careful writer would leave out of a launch's text, found when all of it is there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

_RANGE = re.compile(r"\brange\(0, ((?:[^,()]|\([^()]*\))+)\):$")
_COUNTED = re.compile(r"(\s*for )(\w+)(?= in range)")
_CHOICE = re.compile(r"\b(?:or|if)\b")


def tidied(lines: Sequence[str]) -> list[str]:
    """The lines without conditions inside nothing but conditions, and ranges without a 0."""
    found = [_RANGE.sub(r"range(\1):", line) for line in lines]
    number = 0
    while number < len(found) - 1:
        if not _merge(found, number):
            number += 1
    return _without_unread(found)


def bare(value: str) -> str:
    """A value without brackets around all of it, unless they make a tuple."""
    if not value.startswith("(") or not value.endswith(")"):
        return value
    depth = 0
    for number, each in enumerate(value):
        depth += (each in "([") - (each in ")]")
        if (depth == 1 and each == ",") or (not depth and number < len(value) - 1):
            return value
    return value[1:-1]


def _merge(lines: list[str], number: int) -> bool:
    """Make one condition of two if the first holds nothing but the second; whether it did."""
    outer, inner = lines[number : number + 2]
    depth = _depth(outer)
    if not (_is_condition(outer) and _is_condition(inner) and _depth(inner) == depth + 4):
        return False
    end = number + 2
    while end < len(lines) and _depth(lines[end]) > depth + 4:
        end += 1
    if end < len(lines) and (_depth(lines[end]) > depth or _continues(lines[end], depth)):
        return False
    both = " and ".join(map(_condition, (outer, inner)))
    body = [line.removeprefix("    ") for line in lines[number + 2 : end]]
    lines[number:end] = [f"{' ' * depth}if {both}:", *body]
    return True


def _is_condition(line: str) -> bool:
    return line.lstrip().startswith("if ") and line.endswith(":")


def _continues(line: str, depth: int) -> bool:
    return _depth(line) == depth and line.lstrip().startswith(("else:", "elif "))


def _condition(line: str) -> str:
    text = line.strip().removeprefix("if ").removesuffix(":")
    return f"({text})" if _CHOICE.search(text) else text


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _body(lines: Sequence[str], number: int) -> Iterator[str]:
    """The lines inside a loop."""
    depth = _depth(lines[number])
    return takewhile(lambda line: _depth(line) > depth, lines[number + 1 :])


def _without_unread(lines: list[str]) -> list[str]:
    """The lines with `_` for what is counted and never asked for, and without such tiles."""
    for number, line in enumerate(lines):
        counted = _COUNTED.match(line)
        if counted and not any(
            re.search(rf"\b{counted[2]}\b", each) for each in _body(lines, number)
        ):
            lines[number] = f"{counted[1]}_{line[counted.end() :]}"
    if sum("tiles" in line for line in lines) == 1:
        lines = [line for line in lines if "tiles" not in line]
    return lines
