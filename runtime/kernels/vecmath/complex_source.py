"""The sources of formulas as they are compiled for complex numbers.

Divisions become calls of `complex_quotient`: Numba's own raises ZeroDivisionError, whatever the
error model, and its branches keep loops from vectorising. Numbers in a comparison by size are real.
"""

from __future__ import annotations

import ast

_REAL_FUNCTIONS = frozenset({"abs", "atan2", "imag", "real"})
_BY_SIZE = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def adapt(source: str, type_name: str) -> str:
    """Return a function's source for a compute type; for all but complex ones it stays as it is."""
    if not type_name.startswith("complex"):
        return source
    adapter = _Adapter()
    tree = adapter.visit(ast.parse(source))
    return ast.unparse(tree) + "\n" if adapter.changed else source


class _Adapter(ast.NodeTransformer):
    """changed: whether there was anything to adapt."""

    def __init__(self) -> None:
        self.changed = False
        self._real_names: set[str] = set()

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Remember names of real numbers."""
        if self._is_real(node.value):
            self._real_names |= {each.id for each in node.targets if isinstance(each, ast.Name)}
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Replace a division, unless both operands are known to be real."""
        if not isinstance(node.op, ast.Div) or self._is_real(node):
            return self.generic_visit(node)
        self.changed = True
        operands = [self.visit(node.left), self.visit(node.right)]
        return ast.Call(ast.Name("complex_quotient", ast.Load()), operands, [])

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Make literals real where sizes are compared."""
        if any(isinstance(operator, _BY_SIZE) for operator in node.ops):
            for part in ast.walk(node):
                if isinstance(part, ast.Name) and part.id == "T":
                    part.id = "R"
                    self.changed = True
        return self.generic_visit(node)

    def _is_real(self, node: ast.AST) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self._real_names
            case ast.Call(func=ast.Name(id=name)):
                return name in _REAL_FUNCTIONS
            case ast.BinOp(left=left, right=right):
                return self._is_real(left) and self._is_real(right)
            case ast.UnaryOp(operand=operand):
                return self._is_real(operand)
        return False
