"""Arguments that are called like something that generated code uses, and what they become there.

Users see the argument's own name; inside it gets an underscore.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from functools import cache

from .environment import TEMPLATES

_OF_ANNOTATIONS = frozenset({"device", "dtype", "layout", "memory_format"})
"""Types that only annotations name, beside arguments of that name."""
_OF_BINDINGS = frozenset(
    {"AttributeError", "NotImplemented", "_answer", "_rest", "_words", "call", "globals", "int"}
    | {"len", "locals", "orders", "tuple", "written"}
)
_OF_NODES = frozenset(
    {"below", "call", "each", "edges", "finish", "inplace", "keep", "node", "own_formulas", "tuple"}
)


@cache
def _imported(template: str) -> frozenset[str]:
    """The names that a template's block of imports gives to something."""
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    block = re.sub(r"\{[{%].*?[}%]\}", "", text[text.index("#imports") : text.index("#end")])
    lists = re.findall(r"\bimport (.*)", block)
    names = (name.split(" as ")[-1].strip() for each in lists for name in each.split(","))
    return frozenset(name for name in names if name.isidentifier())


def in_bindings() -> frozenset[str]:
    """What the bodies of bindings use besides arguments and operators."""
    return (_imported("functions.py.jinja") | _OF_BINDINGS) - _OF_ANNOTATIONS


def in_nodes() -> frozenset[str]:
    """What nodes use besides arguments and operators."""
    return _imported("nodes.py.jinja") | _OF_NODES


def names_in(expression: str) -> set[str]:
    """The names of an expression of Python."""
    tree = ast.parse(expression or "None", mode="eval")
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def renamed(names: Mapping[str, str], taken: Iterable[str]) -> dict[str, str]:
    """Names by which no argument hides what is taken, or another one."""
    taken, inner = set(taken), {}
    for name, text in names.items():
        while text in taken or (text != names[name] and text in names.values()):
            text += "_"
        inner[name] = text
    return inner
