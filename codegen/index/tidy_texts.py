"""What a careful writer would leave out of a launch's text, found when all of it is there."""

from __future__ import annotations

import re
from collections.abc import Sequence

_RANGE = re.compile(r"\brange\(0, ((?:[^,()]|\([^()]*\))+)\):$")
_CHOICE = re.compile(r"\b(?:or|if)\b")


def tidied(lines: Sequence[str]) -> list[str]:
    """The lines without conditions inside nothing but conditions, and ranges without a 0."""
    found = [_RANGE.sub(r"range(\1):", line) for line in lines]
    number = 0
    while number < len(found) - 1:
        if not _merge(found, number):
            number += 1
    return _without_item(found)


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


def _without_item(lines: list[str]) -> list[str]:
    """The lines with `_` for an item whose number nobody asks for."""
    text = "\n".join(lines)
    if len(re.findall(r"\bitem\b", text)) > 1:
        return lines
    return text.replace("for item in range", "for _ in range").split("\n")
