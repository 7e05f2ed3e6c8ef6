"""Prints a formula in LaTeX, for the documentation."""

from __future__ import annotations

from collections.abc import Mapping

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
from .printer import enclose

_SYMBOLS = {"self": "x", "input": "x", "other": "y", "grad": r"\bar{r}", "result": "r"}
_GREEK = frozenset(
    {"alpha", "beta", "gamma", "delta", "epsilon", "lambda", "mu", "nu", "rho", "sigma", "theta"}
)
_CONSTANTS = {"pi": r"\pi", "inf": r"\infty", "nan": r"\mathrm{NaN}", "eps": r"\varepsilon"}


def latex(formula: Formula, symbols: Mapping[str, str] | None = None) -> str:
    """Return the right-hand side as LaTeX; a name the author defined follows after `where`.

    `self` is x and `other` is y unless `symbols` says otherwise.
    """
    printer = _LatexPrinter(formula, symbols or {})
    parts = [printer.text(output, 0) for output in formula.outputs]
    definitions = [
        f"{_symbol(name)} = {printer.definition(node)}"
        for name, node in formula.names
        if isinstance(node, Call | Select)
    ]
    text = r",\; ".join(parts)
    if definitions:
        text += r" \quad\text{where}\quad " + r",\; ".join(definitions)
    return text


class _LatexPrinter:
    """One formula; names that the author gave are kept."""

    def __init__(self, formula: Formula, symbols: Mapping[str, str]) -> None:
        self.symbols = {
            argument.name: symbols.get(argument.name) or _symbol(argument.name)
            for argument in formula.arguments
        }
        self.names: dict[Expression, str] = {
            node: _symbol(name) for name, node in formula.names if isinstance(node, Call | Select)
        }

    def definition(self, node: Expression) -> str:
        """Print what a name stands for."""
        return self._plain(node, 0)

    def text(self, node: Expression, strength: int) -> str:
        """Print `node`, in parentheses if it binds less than `strength`."""
        if node in self.names:
            return self.names[node]
        return self._plain(node, strength)

    def _plain(self, node: Expression, strength: int) -> str:
        match node:
            case Constant():
                return _number(node, strength)
            case Named():
                return _CONSTANTS[node.name]
            case Argument():
                return self.symbols[node.name]
            case IsNone():
                return rf"{self.symbols[node.argument.name]} \text{{ is absent}}"
            case Select():
                return self._cases(node)
            case Call():
                primitive = node.primitive
                parts = [
                    self.text(operand, needed)
                    for operand, needed in zip(
                        node.operands, primitive.latex_operands, strict=False
                    )
                ]
                text = primitive.latex.format(*parts)
                return _parenthesize(text, primitive.latex_precedence, strength)

    def _cases(self, node: Select) -> str:
        rows = []
        rest: Expression = node
        while isinstance(rest, Select) and (rest is node or rest not in self.names):
            rows.append(rf"{self.text(rest.then, 0)} & \text{{if }} {self.text(rest.condition, 0)}")
            rest = rest.otherwise
        rows.append(rf"{self.text(rest, 0)} & \text{{otherwise}}")
        return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"


def _parenthesize(text: str, binding: int, strength: int) -> str:
    return rf"\left({text}\right)" if binding < strength else text


def _number(node: Constant, strength: int) -> str:
    text = repr(node.value)
    if "e" in text and not isinstance(node.value, bool):
        mantissa, exponent = text.split("e")
        text = rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
    return enclose(text, 10 if text.startswith("-") else 14, strength)


def _symbol(name: str) -> str:
    """Spell an argument: one letter, a Greek letter, or an upright word."""
    name = name.rstrip("_")
    if name in _SYMBOLS:
        return _SYMBOLS[name]
    if name in _GREEK:
        return "\\" + name
    if len(name) == 1:
        return name
    stem = name.rstrip("0123456789")
    if len(stem) == 1 and stem != name:
        return f"{stem}_{{{name[len(stem) :]}}}"
    escaped = name.replace("_", r"\_")
    return rf"\mathrm{{{escaped}}}"
