"""Lays long lines of generated Python out over several: templates need not count columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

WIDTH = 100
_OPEN, _CLOSE = "([{", ")]}"


def fit(text: str) -> str:
    """Break every line of more than WIDTH columns, as a formatter would."""
    if all(len(line) <= WIDTH for line in text.split("\n")):
        return text
    lines: list[str] = []
    inside = False
    for line in text.split("\n"):
        quotes = line.count('"""')
        if len(line) <= WIDTH:
            lines.append(line)
        elif inside or quotes:
            lines += _fit_prose(line)
        else:
            lines += _fit_code(line)
        if quotes % 2:
            inside = not inside
    return "\n".join(lines)


def _fit_prose(line: str) -> list[str]:
    """A line of a docstring; schemas break after a comma."""
    indent = line[: len(line) - len(line.lstrip())]
    further = indent if line.lstrip().startswith('"""') else indent + "    "
    return textwrap.wrap(
        line,
        WIDTH,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _fit_code(line: str) -> list[str]:
    indent = line[: len(line) - len(line.lstrip())]
    string = re.fullmatch(r'\s*((?:\w+=)?)("(?:[^"\\]|\\.)*")(,?)', line)
    if string:
        return _fit_string(indent, string.group(1), string.group(2), string.group(3))
    nested = re.fullmatch(r"(\s*(?:and|or) )\((.*)\)", line)
    if nested:
        pieces = _logic_pieces(nested.group(2))
        operands = [f"{indent}    {piece}" for piece in pieces]
        return [f"{nested.group(1)}(", *operands, f"{indent})"]
    conditional = re.fullmatch(r"(\s*)(if|elif|return) (.*?)(:?)", line)
    span = _bracket(line)
    if conditional and len(_logic_pieces(conditional.group(3))) > 1:
        return _fit_logic(line)
    assigned = re.fullmatch(r"(\s*[\w, .]+ = )(.*)", line)
    if assigned and (span is None or span[1] != len(line) - 1 or _is_choice(assigned.group(2))):
        return _fit_assignment(indent, assigned.group(1), assigned.group(2))
    if span is None:
        return [line]
    start, stop = span
    head, inner, tail = line[: start + 1], line[start + 1 : stop], line[stop:]
    parts = list(_commas(inner))
    whole = f"{indent}    {inner.strip()}"
    is_literal = not re.search(r"[\w\])]$", line[:start]) and len(parts) > 1
    if len(whole) <= WIDTH and not is_literal:
        body = [whole]
    else:
        body = [f"{indent}    {part}," for part in parts]
    result = [head]
    for each in body:
        result += _fit_code(each) if len(each) > WIDTH else [each]
    closing = indent + tail
    return result + (_fit_code(closing) if len(closing) > WIDTH else [closing])


def _fit_string(indent: str, name: str, literal: str, comma: str) -> list[str]:
    """Adjacent literals that concatenate."""
    pieces = textwrap.wrap(
        literal[1:-1],
        WIDTH - len(indent) - 8,
        drop_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )
    if name:
        return [
            f"{indent}{name}(",
            *(f'{indent}    "{piece}"' for piece in pieces),
            f"{indent}){comma}",
        ]
    return [f'{indent}"{piece}"' for piece in pieces[:-1]] + [f'{indent}"{pieces[-1]}"{comma}']


def _is_choice(expression: str) -> bool:
    return len(_logic_pieces(expression)) > 1


def _fit_assignment(indent: str, head: str, expression: str) -> list[str]:
    """A value in parentheses: on one line if it fits, else an operand a line."""
    whole = f"{indent}    {expression}"
    pieces = [expression] if len(whole) <= WIDTH else _logic_pieces(expression)
    return [f"{head}(", *(f"{indent}    {piece}" for piece in pieces), f"{indent})"]


def _fit_logic(line: str) -> list[str]:
    """A condition in parentheses, one operand a line."""
    match = re.fullmatch(r"(\s*)(if|elif|return) (.*?)(:?)", line)
    assert match is not None
    indent, keyword, condition, colon = match.groups()
    pieces = _logic_pieces(condition)
    return [
        f"{indent}{keyword} (",
        *(
            part
            for piece in pieces
            for part in (
                _fit_code(f"{indent}    {piece}")
                if len(indent) + 4 + len(piece) > WIDTH
                else [f"{indent}    {piece}"]
            )
        ),
        f"{indent}){colon}",
    ]


def _logic_pieces(condition: str) -> list[str]:
    """Split before the outermost `and`, `or`, `if` and `else`."""
    pieces, depth, start, i = [], 0, 0, 0
    while i < len(condition):
        char = condition[i]
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
        elif depth == 0:
            word = re.match(r" (and|or|if|else) ", condition[i:])
            if word:
                pieces.append(condition[start:i])
                start = i + 1
                i += word.end() - 1
                continue
        i += 1
    return [*pieces, condition[start:]]


def _bracket(line: str) -> tuple[int, int] | None:
    """The last outermost bracket with content: where a formatter splits first."""
    spans: list[tuple[int, int]] = []
    stack: list[int] = []
    quote = ""
    for i, char in enumerate(line):
        if quote:
            if char == quote and line[i - 1] != "\\":
                quote = ""
        elif char in "\"'":
            quote = char
        elif char in _OPEN:
            stack.append(i)
        elif char in _CLOSE and stack:
            start = stack.pop()
            if not stack and i > start + 1:
                spans.append((start, i))
    if not spans:
        return None
    if line.lstrip().startswith("def "):
        return spans[0]
    return spans[-1]


def _commas(inner: str) -> Iterator[str]:
    """The parts between outermost commas."""
    depth, start, quote = 0, 0, ""
    for i, char in enumerate(inner):
        if quote:
            if char == quote and inner[i - 1] != "\\":
                quote = ""
        elif char in "\"'":
            quote = char
        elif char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
        elif char == "," and depth == 0:
            yield inner[start:i].strip()
            start = i + 1
    if inner[start:].strip():
        yield inner[start:].strip()
