"""Loops over short rows, some rows at a time: where each needs much arithmetic for one number.

The logarithm of a row's sum takes as long as the rest of a row of 16, and uses one lane of a
vector. So what comes before it is done for some rows, then theirs all at once, then the rest.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchgen_out._runtime.kernels.cpu.loops import syntax

ROWS, ELEMENTS = 64, 4096
"""How many rows go together, and of how many elements at most: they are read a second time."""


def in_stages(body: str, size: str, is_much: Callable[[str], bool]) -> str:
    """The text of a launch's body, its loop over rows in three; unchanged if it is of another form.

    size: the name of a row's length. is_much: of a statement, whether it is much arithmetic.
    """
    function = syntax.parsed(body)
    loops = [n for n, each in enumerate(function.body) if isinstance(each, ast.For)]
    if len(loops) != 1:
        return body
    loop = function.body[loops[0]]
    assert isinstance(loop, ast.For)
    staged = _staged(loop, size, is_much)
    if staged is None:
        return body
    function.body[loops[0] : loops[0] + 1] = staged
    return syntax.text_of(function)


def _staged(loop: ast.For, size: str, is_much: Callable[[str], bool]) -> list[ast.stmt] | None:
    """The loop in three, and the memory between them; None if it has another form."""
    cut = _first(loop.body, lambda each: _is_of_a_name(each) and is_much(_text(each)))
    fold = _first(loop.body, lambda each: isinstance(each, ast.For))
    if cut is None or fold is None or fold > cut:
        return None
    head, before = loop.body[:fold], loop.body[fold:cut]
    costly, after = loop.body[cut], loop.body[cut + 1 :]
    inputs = syntax.read([costly]) & syntax.assigned([*head, *before])
    kept = syntax.read(after) & syntax.assigned(before) - syntax.assigned(after)
    names = sorted(inputs | kept)
    (made,) = syntax.assigned([costly])
    if not set(names) <= _numbers(before) or not _is_plain(loop):
        return None
    item = _text(loop.target)
    lines = [
        *(f"{name}_each = np.empty({ROWS}, T)" for name in (*names, made)),
        f"some = lesser({ROWS}, greater({ELEMENTS} // greater({size}, 1), 1))",
        "for first in range(start, stop, some):",
        "    end = lesser(first + some, stop)",
        f"    for {item} in range(first, end):",
        *_indented([*head, *before]),
        *(f"        {name}_each[U({item} - first)] = {name}" for name in names),
        "    for one in range(end - first):",
        *(f"        {name} = {name}_each[U(one)]" for name in sorted(inputs)),
        *_indented([costly]),
        f"        {made}_each[U(one)] = {made}",
        f"    for {item} in range(first, end):",
        *_indented(head),
        *(f"        {name} = {name}_each[U({item} - first)]" for name in (*sorted(kept), made)),
        *_indented(after),
    ]
    return ast.parse("\n".join(lines)).body


def _first(statements: list[ast.stmt], is_wanted: Callable[[ast.stmt], bool]) -> int | None:
    return next((n for n, each in enumerate(statements) if is_wanted(each)), None)


def _is_of_a_name(statement: ast.stmt) -> bool:
    """Whether it gives one name a value."""
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)


def _numbers(statements: list[ast.stmt]) -> set[str]:
    """The names that are of the launch's dtype."""
    found: set[str] = set()
    for each in filter(_is_of_a_name, statements):
        assert isinstance(each, ast.Assign)
        value = each.value
        is_cast = isinstance(value, ast.Call) and _text(value.func) in ("T", "unordered")
        if is_cast or (isinstance(value, ast.Name) and value.id in found):
            found |= syntax.assigned([each])
    return found


def _is_plain(loop: ast.For) -> bool:
    """Whether rows do not tell each other anything, and all are done."""
    leaves = ast.Return | ast.Break | ast.Continue | ast.AugAssign
    own = syntax.assigned(loop.body)
    return (
        _text(loop.iter) == "range(start, stop)"
        and not any(isinstance(each, leaves) for line in loop.body for each in ast.walk(line))
        and not own & {"first", "some", "end", "one"}
    )


def _text(node: ast.AST) -> str:
    return ast.unparse(node)


def _indented(statements: list[ast.stmt]) -> list[str]:
    return [f"        {line}" for each in statements for line in _text(each).splitlines()]
