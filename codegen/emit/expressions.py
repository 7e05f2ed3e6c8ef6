"""Expressions of the YAML files as generated code writes them."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..model.expression import Expression
from . import translate


def spelled(
    expression: Expression,
    text: str | None = None,
    homes: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
) -> str:
    """An expression with operators and named functions found where they are.

    text: the expression in another form than `code`, with saved parts by their local names.
    homes: the modules of functions for derivative formulas; `x.f()` is then `formulas.f(x)`, too.
    names: what the values of the expression are called where it is written.
    """
    tree = ast.parse((text or expression.code).strip(), mode="eval")
    return translate.expression_text(_Resolve(expression, homes or {}, names or {}).visit(tree))


class _Resolve(ast.NodeTransformer):
    """An operator is `ops.name`, a named function `formulas.name`, also written as a method."""

    def __init__(
        self, expression: Expression, homes: Mapping[str, str], names: Mapping[str, str]
    ) -> None:
        self.homes = homes
        self.names = names
        self.operators = set(expression.operators)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = node.func
        if isinstance(function, ast.Name):  # a function may be called like an argument
            node.args = [self.visit(each) for each in node.args]
            node.keywords = [self.visit(each) for each in node.keywords]
        else:
            self.generic_visit(node)
            function = node.func
        if isinstance(function, ast.Name):
            if function.id in self.operators:
                node.func = _attribute("ops", function.id)
            elif function.id in self.homes:
                node.func = _attribute(self.homes[function.id], function.id)
        elif isinstance(function, ast.Attribute) and function.attr in self.homes:
            named = _attribute(self.homes[function.attr], function.attr)
            return ast.Call(named, [function.value, *node.args], node.keywords)
        return node


def _attribute(module: str, name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name(module, ast.Load()), name, ast.Load())
