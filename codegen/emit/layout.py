"""Lays long lines of generated Python out over several: templates need not count columns.

The result is what `ruff format` would write of the same code. Only lines that are too long, or
carry parentheses that nobody needs, are looked at.
"""

from __future__ import annotations

import re
import textwrap

from .breaking import INDENT, WIDTH, expand, fits, level_of, place
from .tokens import Group, Node, Word, flat, members, parse

_LITERAL = re.compile(r'(\s*)("(?:[^"\\]|\\.)*")(,?)')
_PREFIX = re.compile(r"(?:return|if|elif|raise|yield|assert) |(?:[\w.]+(?:, [\w.]+)*,? = )+")
_ELEMENT = re.compile(r"[\w.]+\[[^=]*\] = ")
_NOTABLE = re.compile(
    rf'^.{{{WIDTH + 1},}}$|^ *(?:return|if|elif) \([^\n]*[^,\n]\):?$|"""', re.MULTILINE
)
"""Lines that are too long or enclosed in parentheses, and the quotes of docstrings."""
_BEFORE_DEFINITION = re.compile(r"(?<=[^\n])\n+(?=def |class |@)")
_AFTER_DEFINITION = re.compile(r"(?<=\n)( [^\n]+)\n+(?=[A-Za-z_])(?!def |class )")
_COMPARISON = 3
"""Level of the operators that bind tighter than `and` and `or`."""


def fit(text: str, is_stub: bool = False) -> str:
    """Break every line of more than WIDTH columns."""
    text = text if is_stub else _spaced(text)
    pieces: list[str] = []
    at, inside = 0, False
    for match in _NOTABLE.finditer(text):
        line = match[0]
        if line != '"""' and not (inside and fits(line)):
            is_prose = inside or '"""' in line
            lines = _fit_prose(line) if is_prose else _fit_code(line)
            pieces += [text[at : match.start()], "\n".join(lines)]
            at = match.end()
        inside ^= line.count('"""') % 2 == 1
    return "".join([*pieces, text[at:]]).rstrip("\n") + "\n"


def _spaced(text: str) -> str:
    """Two empty lines around the definitions of a module."""
    text = _BEFORE_DEFINITION.sub("\n\n\n", text)
    return _AFTER_DEFINITION.sub(r"\1\n\n\n", text)


def _fit_prose(line: str) -> list[str]:
    """A line of a docstring; schemas break after a comma."""
    prose = line.lstrip()
    indent = line[: len(line) - len(prose)]
    further = indent if prose.startswith('"""') else indent + "    "
    return textwrap.wrap(
        prose,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _fit_code(line: str) -> list[str]:
    literal = _LITERAL.fullmatch(line)
    if literal:
        return _fit_literal(*literal.groups(default=""))
    indent = len(line) - len(line.lstrip())
    comment = re.search(r"  # .*$", line)
    code = line[: comment.start()] if comment else line
    if code.endswith(","):
        lines = place(parse(code.strip()[:-1]), indent, " " * indent, ",")
        return [piece for each in lines for piece in _fit_member(each)]
    nodes = parse(code.strip())
    if nodes[0].flat == "def":
        return _fit_definition(nodes, indent)
    return _fit_statement(code, indent, comment[0] if comment else "")


def _fit_member(line: str) -> list[str]:
    """A line of a list that was broken; a string alone may still be too long."""
    literal = None if fits(line) else _LITERAL.fullmatch(line)
    return _fit_literal(*literal.groups(default="")) if literal else [line]


def _fit_literal(indent: str, literal: str, comma: str) -> list[str]:
    """A string that is too long, as adjacent literals."""
    pieces = [
        f'{indent}"{piece}"'
        for piece in textwrap.wrap(
            literal[1:-1],
            WIDTH - len(indent) - 8,
            drop_whitespace=False,
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]
    return [*pieces[:-1], pieces[-1] + comma]


def _fit_definition(nodes: list[Node], indent: int) -> list[str]:
    """Parameters on a line of their own, or on one each."""
    pad, inner = " " * indent, " " * (indent + INDENT)
    at = next(i for i, node in enumerate(nodes) if isinstance(node, Group))
    group = nodes[at]
    assert isinstance(group, Group)
    whole = inner + flat(group.items)
    body = [whole]
    if not fits(whole):
        body = [f"{inner}{flat(part)}," for part in members(group.items)]
    rest = "".join(node.space + node.flat for node in nodes[at + 1 :])
    return [f"{pad}{flat(nodes[:at])}(", *body, f"{pad}){rest}"]


def _fit_statement(code: str, indent: int, comment: str) -> list[str]:
    """Break the expression of a statement: inside its last brackets, or in parentheses."""
    pad, text = " " * indent, code.strip()
    suffix = ":" if text.endswith(":") else ""
    cause = re.search(r" from \w+$", text) if text.startswith("raise ") else None
    suffix = cause[0] if cause else suffix
    match = _PREFIX.match(text)
    prefix = match[0] if match else ""
    target = _ELEMENT.match(text)
    if not match and target:
        prefix = target[0]
    targets: list[str] = []
    if re.search(r"[],].* = $", prefix) and not fits(f"{pad}{prefix}("):
        *targets, last = _fit_target(prefix[: -len(" = ")], indent)
        text, prefix = f"{last.strip()} = {text[len(prefix) :]}", f"{last.strip()} = "
    return [*targets, *_fit_value(text, prefix, suffix, indent, comment)]


def _fit_target(target: str, indent: int) -> list[str]:
    """The lines of several targets, or of an element."""
    pad, inner = " " * indent, " " * (indent + INDENT)
    nodes = parse(target)
    if isinstance(nodes[-1], Group):
        return expand(nodes, indent, pad, "") or [pad + target]
    return [f"{pad}(", *(f"{inner}{each}," for each in target.split(", ")), f"{pad})"]


def _fit_value(text: str, prefix: str, suffix: str, indent: int, comment: str) -> list[str]:
    """Break what stands behind `prefix`."""
    pad = " " * indent
    nodes = _bare(parse(text[len(prefix) : len(text) - len(suffix)]))
    line = pad + prefix + flat(nodes) + suffix
    if fits(line):
        return [line + comment]
    parts = members(nodes)
    may_stay_open = len(parts) == 1 and _may_stay_open(nodes)
    lines = expand(nodes, indent, pad + prefix, suffix) if may_stay_open else None
    is_single = level_of(nodes) is None
    fits_in_parentheses = fits(pad + " " * INDENT + flat(nodes))
    may_be_long = is_single and not fits_in_parentheses
    deeper, comma = indent + INDENT, "," if len(parts) > 1 else ""
    inner = [line for part in parts for line in place(part, deeper, " " * deeper, comma)]
    if lines and (all(map(fits, lines)) or (may_be_long and not all(map(fits, inner)))):
        return [lines[0] + comment, *lines[1:]]
    if may_be_long and not all(map(fits, inner)):
        return [line + comment]
    return [f"{pad}{prefix}({comment}", *inner, f"{pad}){suffix}"]


def _bare(nodes: list[Node]) -> list[Node]:
    """An expression without parentheses around all of it, unless they make a tuple."""
    while len(nodes) == 1 and isinstance(nodes[0], Group) and nodes[0].opening == "(":
        inner = nodes[0].items
        if not inner or any(isinstance(n, Word) and n.text in (",", "for") for n in inner):
            break
        nodes = inner
    return nodes


def _may_stay_open(nodes: list[Node]) -> bool:
    """Whether breaking inside brackets is enough: no operator, or one beside a bracket."""
    last, first = nodes[-1], nodes[0]
    if any(isinstance(node, Word) and node.text == "," for node in nodes):
        return True
    found = level_of(nodes)
    if found is None:
        return True
    level, count = found
    if 0 < level < _COMPARISON:  # `and` and `or` count together
        count = sum(isinstance(n, Word) and n.text in ("and", "or") for n in nodes)
    ends_in_brackets = isinstance(last, Group) and bool(last.items) and last.opening != "["
    return count == 1 and (ends_in_brackets or isinstance(first, Group))
