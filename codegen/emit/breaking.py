"""Breaks expressions over several lines where ruff would: at operators, or inside brackets."""

from __future__ import annotations

from .tokens import Group, Node, Word, flat, members, split

WIDTH = 100
INDENT = 4

_LEVELS: tuple[frozenset[str], ...] = (
    frozenset({"if", "else"}),
    frozenset({"or"}),
    frozenset({"and"}),
    frozenset({"in", "is", "==", "!=", "<", ">", "<=", ">="}),
    frozenset({"|"}),
    frozenset({"^"}),
    frozenset({"&"}),
    frozenset({"<<", ">>"}),
    frozenset({"+", "-"}),
    frozenset({"*", "/", "//", "%", "@"}),
    frozenset({"**"}),
)
"""Operators from the one that binds least; `not in` is led by its `not`."""

_COMPREHENSION = frozenset({"for", "if"})


def fits(line: str) -> bool:
    """Whether a line is short enough."""
    return len(line) <= WIDTH


def place(nodes: list[Node], indent: int, lead: str, tail: str) -> list[str]:
    """Lines that begin with `lead` and end with `tail`, inside brackets: breaks are free."""
    line = lead + flat(nodes) + tail
    if fits(line):
        return [line]
    key = _key_length(nodes)
    if key:
        return place(nodes[key:], indent, lead + flat(nodes[:key]) + nodes[key].space, tail)
    operands = _operands(nodes)
    if len(operands) > 1:
        return _one_by_one(operands, indent, lead, tail)
    return expand(nodes, indent, lead, tail) or [line]


def _key_length(nodes: list[Node]) -> int:
    """How many nodes belong to `name=` or `key:` in front of a value."""
    if len(nodes) > 2 and isinstance(nodes[1], Word) and nodes[1].text in ("=", ":"):
        return 2
    return 0


def _one_by_one(pieces: list[list[Node]], indent: int, lead: str, tail: str) -> list[str]:
    lines = place(pieces[0], indent, lead, "")
    pad = " " * indent
    for piece in pieces[1:-1]:
        lines += _with_operator(piece, indent, pad, "")
    return lines + _with_operator(pieces[-1], indent, pad, tail)


def _with_operator(piece: list[Node], indent: int, pad: str, tail: str) -> list[str]:
    """An operand behind its operator: only what follows the operator is broken further."""
    length = 2 if flat(piece[:2]) in ("not in", "is not") else 1
    return place(piece[length:], indent, f"{pad}{flat(piece[:length])} ", tail)


def level_of(nodes: list[Node]) -> tuple[int, int] | None:
    """The loosest operators of an expression: their level, and how many there are."""
    if nodes[0].flat == "lambda" or _is_comprehension(nodes):
        return None
    for level in range(len(_LEVELS)):
        count = sum(_is_operator(nodes, i, level) for i in range(len(nodes)))
        if count:
            return level, count
    return None


def _is_operator(nodes: list[Node], i: int, level: int) -> bool:
    node = nodes[i]
    if not isinstance(node, Word) or i == 0 or not nodes[i - 1].is_value:
        return False
    if node.text == "not":  # `x not in y`
        following = nodes[i + 1] if i + 1 < len(nodes) else node
        return "in" in _LEVELS[level] and following.flat == "in"
    return node.text in _LEVELS[level]


def _operands(nodes: list[Node]) -> list[list[Node]]:
    """The parts around the loosest operators, each behind its operator."""
    found = level_of(nodes)
    if found is not None:
        level = found[0]
        return list(split(nodes, lambda all_nodes, i: _is_operator(all_nodes, i, level)))
    if _is_comprehension(nodes):
        return list(split(nodes, _begins_clause))
    return [nodes]


def _is_comprehension(nodes: list[Node]) -> bool:
    return any(isinstance(node, Word) and node.text == "for" for node in nodes)


def _begins_clause(nodes: list[Node], i: int) -> bool:
    node = nodes[i]
    return isinstance(node, Word) and node.text in _COMPREHENSION


def expand(nodes: list[Node], indent: int, lead: str, tail: str) -> list[str] | None:
    """Break inside the last brackets whose opening still fits, and, if these are what comes first,
    inside further ones where the rest is too long; None if there are none."""
    pad = " " * indent
    for i in range(len(nodes) - 1, -1, -1):
        group = nodes[i]
        if not isinstance(group, Group) or not group.items:
            continue
        head = lead + flat(nodes[:i]) + (group.space if i else "") + group.opening
        if fits(head) or not any(isinstance(n, Group) and n.items for n in nodes[:i]):
            is_call = i > 0 and nodes[i - 1].is_value and not group.space
            rest = "".join(node.space + node.flat for node in nodes[i + 1 :])
            lines, closing = [head, *_body(group, indent + INDENT, is_call)], pad + group.closing
            if not fits(closing + rest + tail) and i == 0 and len(nodes) > 1:
                further = expand(nodes[1:], indent, closing + nodes[1].space, tail)
                if further:
                    return [*lines, *further]
            return [*lines, closing + rest + tail]
    return None


def _body(group: Group, indent: int, is_call: bool) -> list[str]:
    """The lines between two brackets: on one line where a call's fit, else one by one."""
    pad = " " * indent
    parts = members(group.items)
    last = group.items[-1]
    has_comma = isinstance(last, Word) and last.text == ","
    if len(parts) == 1:
        return place(parts[0], indent, pad, "," if has_comma else "")
    whole = pad + flat(group.items)
    if is_call and fits(whole) and not has_comma:
        return [whole]
    return [line for part in parts for line in place(part, indent, pad, ",")]
