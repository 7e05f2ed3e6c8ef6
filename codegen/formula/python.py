"""Prints a formula as the plain Python function that kernels are compiled from."""

from __future__ import annotations

from ..model.formula import (
    Argument,
    Call,
    Constant,
    Expression,
    Formula,
    IsNone,
    Named,
    Select,
)
from .printer import Printer, defined_name, enclose, parameter_name


def python_function(formula: Formula, name: str) -> str:
    """Return the source of `name`: one line per shared part, then the result or their tuple.

    **Names.** T converts a literal to the compute type; primitives are called by name. A function
    or an argument that is called like a primitive gets an underscore: exp_(self) calls exp(self).
    """
    return _KernelPrinter(formula).function(defined_name(name))


class _KernelPrinter(Printer):
    """Scalars of one compute type."""

    def text(self, node: Expression, strength: int) -> str:
        if node in self.names:
            return self.names[node]
        match node:
            case Constant():
                return repr(node.value) if isinstance(node.value, bool) else f"T({node.value!r})"
            case Named():
                return node.name if node.name == "eps" else f"T({node.name})"
            case Argument():
                return parameter_name(node.name)
            case IsNone():
                return enclose(f"{parameter_name(node.argument.name)} is None", 5, strength)
            case Select():
                then, condition = self.text(node.then, 2), self.text(node.condition, 2)
                text = f"{then} if {condition} else {self.text(node.otherwise, 1)}"
                return enclose(text, 1, strength)
            case Call():
                return self._call(node, strength)

    def _call(self, node: Call, strength: int) -> str:
        primitive = node.primitive
        if primitive.symbol is None:
            arguments = ", ".join(self.text(operand, 0) for operand in node.operands)
            return f"{primitive.name}({arguments})"
        binding = primitive.precedence
        if len(node.operands) == 1:
            space = " " if primitive.symbol.isalpha() else ""
            text = f"{primitive.symbol}{space}{self.text(node.operands[0], binding)}"
            return enclose(text, binding, strength)
        left = self.text(node.operands[0], primitive.left_strength)
        # c * (x * y) reads better as c * x * y, and rounds no worse.
        is_factor = primitive.name == "mul" and isinstance(node.operands[0], Constant)
        right = self.text(node.operands[1], binding if is_factor else binding + 1)
        return enclose(f"{left} {primitive.symbol} {right}", binding, strength)
