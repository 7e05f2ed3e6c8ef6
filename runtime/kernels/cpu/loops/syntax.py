"""Bodies of launches as Python's own trees, for those who take their loops apart."""

from __future__ import annotations

import ast
from collections.abc import Sequence


def parsed(body: str) -> ast.FunctionDef:
    """A function of a body, whose lines are indented."""
    (function,) = ast.parse(f"def body():\n{body}").body
    assert isinstance(function, ast.FunctionDef)
    return function


def text_of(function: ast.FunctionDef) -> str:
    """The body again."""
    return "\n".join(f"    {line}" for each in function.body for line in _lines(each)) + "\n"


def _lines(node: ast.stmt) -> list[str]:
    return ast.unparse(ast.fix_missing_locations(node)).splitlines()


def assigned(statements: Sequence[ast.stmt]) -> set[str]:
    """The names that statements give a value."""
    return {
        node.id
        for each in statements
        for node in ast.walk(each)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def read(nodes: Sequence[ast.AST]) -> set[str]:
    """All names in some nodes."""
    return {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)}
