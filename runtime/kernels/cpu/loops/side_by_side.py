"""Loops over items, a few items at once: where each step waits for the one before it.

A running sum takes one addition after the other, so a processor that could do four at once waits;
the sums of four rows do not wait for each other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchgen_out._runtime.kernels.cpu.loops import syntax

COUNTS = (4, 2)
"""How many items go together: so many as long as there are, then so many of those left over."""


def side_by_side(body: str) -> str:
    """The text of a launch's body, its items taken a few at a time; those left over one by one.

    The loop over items holds what each needs, one loop that is the same for all, and perhaps what
    counts on to the next item.
    """
    function = syntax.parsed(body)
    number = next(n for n, each in enumerate(function.body) if isinstance(each, ast.For))
    loop = function.body[number]
    assert isinstance(loop, ast.For)
    several: list[ast.stmt] = []
    first = "start"
    for count in COUNTS:
        behind = f"stop - (stop - start) % {count}"
        made = _several(loop, count, f"range({first}, {behind}, {count})")
        if made is None:
            return body
        several.append(made)
        first = behind
    function.body[number : number + 1] = [*several, loop]
    loop.iter = _expression(f"range({first}, stop)")
    return syntax.text_of(function)


def _several(loop: ast.For, together: int, items: str) -> ast.For | None:
    """The loop over items, some together; None if it has another form. items: the first of each."""
    inner = [n for n, each in enumerate(loop.body) if isinstance(each, ast.For)]
    if len(inner) != 1:
        return None
    before, row, after = loop.body[: inner[0]], loop.body[inner[0]], loop.body[inner[0] + 1 :]
    assert isinstance(row, ast.For) and isinstance(loop.target, ast.Name)
    count = next((n for n, each in enumerate(after) if isinstance(each, ast.AugAssign)), len(after))
    after, counting = after[:count], after[count:]
    if any(isinstance(each, ast.For | ast.While) for each in ast.walk(row) if each is not row):
        return None
    counters = syntax.assigned(counting)
    own = syntax.assigned([*before, *row.body, *after]) | counters
    if syntax.read([row.iter]) & own:
        return None
    made: list[ast.stmt] = []
    if not counters:
        own.add(loop.target.id)
    for number in range(together):
        names = {name: f"{name}_{number}" for name in own}
        if counters:
            made += [_assign(names[name], name) for name in sorted(counters)]
        else:
            made.append(_assign(names[loop.target.id], f"{loop.target.id} + {number}"))
        made += _renamed(before, names)
        made += counting
    bodies = [_renamed(row.body, {n: f"{n}_{i}" for n in own}) for i in range(together)]
    made.append(ast.For(row.target, row.iter, [line for body in bodies for line in body], []))
    for number in range(together):
        made += _renamed(after, {name: f"{name}_{number}" for name in own})
    return ast.For(loop.target, _expression(items), made, [])


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _assign(name: str, value: str) -> ast.stmt:
    return ast.parse(f"{name} = {value}").body[0]


class _Rename(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def _renamed(statements: list[ast.stmt], names: dict[str, str]) -> list[ast.stmt]:
    return list(_copies(statements, names))


def _copies(statements: list[ast.stmt], names: dict[str, str]) -> Iterator[ast.stmt]:
    for each in statements:
        (copy,) = ast.parse(ast.unparse(each)).body
        yield _Rename(names).visit(copy)
