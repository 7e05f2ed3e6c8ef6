"""Which Python an expression of the YAML may be written in: one value computed from others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_ALLOWED = frozenset(
    (
        ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Constant, ast.IfExp,
        ast.List, ast.ListComp, ast.Name, ast.Slice, ast.Subscript, ast.Tuple, ast.UnaryOp,
    )
)  # fmt: skip

_NAMES = {
    "Await": "await",
    "Dict": "a dictionary",
    "DictComp": "a dictionary comprehension",
    "GeneratorExp": "a generator",
    "JoinedStr": "an f-string",
    "Lambda": "a lambda",
    "NamedExpr": "an assignment `:=`",
    "Set": "a set",
    "SetComp": "a set comprehension",
    "Starred": "an argument with `*`",
    "Yield": "yield",
    "YieldFrom": "yield",
}

_WRITTEN = {"GeneratorExp": "write a list: [... for ... in ...]"}


def refused(tree: ast.expr) -> Iterator[tuple[ast.expr | ast.keyword, str, str | None]]:
    """Find what is Python, but no formula: (node, what it is called, what to write instead)."""
    if type(tree) not in _ALLOWED:
        name = type(tree).__name__
        yield tree, _NAMES.get(name, name), _WRITTEN.get(name)
        return
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.expr):
            yield from refused(child)
        elif isinstance(child, ast.keyword):
            if child.arg is None:
                yield child, "an argument with `**`", None
            else:
                yield from refused(child.value)
        elif isinstance(child, ast.comprehension):
            yield from refused(child.iter)
            for condition in child.ifs:
                yield from refused(condition)
