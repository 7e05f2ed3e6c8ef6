"""Prints a formula over the public tensor operators: differentiable again, for create_graph.

What depends on no tensor is computed with Python numbers. The text uses three globals: `ops` (the
table of public operators), `math`, and for `eps` also `finfo`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ..model.formula import (
    Argument,
    Call,
    Constant,
    Expression,
    Formula,
    IsNone,
    Named,
    Select,
    children,
    walk,
)
from .expressions import call, is_call, select, with_children
from .printer import Printer, enclose, parameter_name
from .simplify import simplify

_TENSORS_ONLY = frozenset({"min", "max", "fmin", "fmax", "atan2", "nextafter", "copysign"})
_ON_MASKS = {"logical_and": ("&", 8), "logical_or": ("|", 6), "logical_not": ("~", 12)}


def tensor_function(formula: Formula, name: str) -> str:
    """Return the source of a function of tensors and Python numbers with the same signature."""
    return _TensorPrinter(formula, {}).function(name)


def tensor_expressions(formula: Formula, names: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return one expression per output; `names` says how arguments are called in its place."""
    printer = _TensorPrinter(formula, names or {})
    return tuple(printer.result(output) for output in printer.formula.outputs)


def number_expressions(formula: Formula) -> tuple[str, ...]:
    """Return an expression over Python numbers for each output of a formula without tensors."""
    printer = _TensorPrinter(formula, {})
    return tuple(printer.text(output, 0) for output in printer.formula.outputs)


class _TensorPrinter(Printer):
    """Tensors and Python numbers."""

    def __init__(self, formula: Formula, names: Mapping[str, str]) -> None:
        super().__init__(_without_choices_of_numbers(formula))
        self._arguments = names
        self._tensors: set[Expression] = set()
        for node in walk(self.formula.outputs):
            if _is_tensor(node, self._tensors):
                self._tensors.add(node)
        arguments = [node for node in self.formula.arguments if node.kind == "tensor"]
        self._like = self._argument(arguments[0]) if arguments else "ops"

    def result(self, node: Expression) -> str:
        if not isinstance(node, Select) or node in self.names or node.condition in self._tensors:
            text = self.text(node, 0)
            return text if node in self._tensors else f"ops.full_like({self._like}, {text})"
        then, otherwise = self.result(node.then), self.result(node.otherwise)
        return f"{then} if {self.text(node.condition, 2)} else {otherwise}"

    def text(self, node: Expression, strength: int) -> str:
        if node in self.names:
            return self.names[node]
        match node:
            case Constant():
                return enclose(repr(node.value), 12 if repr(node.value)[0] == "-" else 14, strength)
            case Named():
                return (
                    f"finfo({self._like}.dtype).eps" if node.name == "eps" else f"math.{node.name}"
                )
            case Argument():
                return self._argument(node)
            case IsNone():
                return enclose(f"{self._argument(node.argument)} is None", 5, strength)
            case Select():
                return self._select(node, strength)
            case Call():
                return self._call(node, strength)

    def _argument(self, node: Argument) -> str:
        return self._arguments.get(node.name, parameter_name(node.name))

    def _select(self, node: Select, strength: int) -> str:
        if node.condition not in self._tensors:
            then, condition = self.text(node.then, 2), self.text(node.condition, 2)
            text = f"{then} if {condition} else {self.text(node.otherwise, 1)}"
            return enclose(text, 1, strength)
        then, otherwise = self.text(node.then, 0), self.text(node.otherwise, 0)
        if node.then not in self._tensors and node.otherwise not in self._tensors:
            then = self._tensor(node.then)
        return f"ops.where({self.text(node.condition, 0)}, {then}, {otherwise})"

    def _tensor(self, node: Expression) -> str:
        """Print as a tensor, whose type then is that of the gradient."""
        text = self.text(node, 0)
        return text if node in self._tensors else f"{self._like}.new_full((), {text})"

    def _call(self, node: Call, strength: int) -> str:
        primitive = node.primitive
        is_tensor = node in self._tensors
        if primitive.symbol is not None:
            return self._operator(node, strength)
        if not is_tensor:
            assert primitive.python is not None
            return self._fill(primitive.python, node, strength, as_tensors=False)
        as_tensors = primitive.name in _TENSORS_ONLY or len(node.operands) == 1
        return self._fill(primitive.operator, node, strength, as_tensors)

    def _fill(self, template: str, node: Call, strength: int, as_tensors: bool) -> str:
        parts = []
        for i, operand in enumerate(node.operands):
            stands_alone = re.search(rf"[(,] ?\{{{i}\}}[,)]", template) is not None
            is_number = as_tensors and operand not in self._tensors
            part = (
                self._tensor(operand)
                if is_number
                else self.text(operand, 0 if stands_alone else 14)
            )
            if f"{{{i}}}." in template and part[0].isdigit():
                part = f"({part})"  # an attribute of a literal
            parts.append(part)
        binding = _binding(template)
        if all(re.fullmatch(r"-?[\w.]+", part) for part in parts):
            template = template.replace(" ** ", "**")
        return enclose(template.format(*parts), binding, strength)

    def _operator(self, node: Call, strength: int) -> str:
        primitive = node.primitive
        symbol, binding = primitive.symbol or "", primitive.precedence
        left = primitive.left_strength
        if node in self._tensors and primitive.name in _ON_MASKS:
            symbol, binding = _ON_MASKS[primitive.name]
            left = binding
        if len(node.operands) == 1:
            space = " " if symbol.isalpha() else ""
            return enclose(
                f"{symbol}{space}{self.text(node.operands[0], binding)}", binding, strength
            )
        first = self.text(node.operands[0], left)
        second = self.text(node.operands[1], binding + 1)
        return enclose(f"{first} {symbol} {second}", binding, strength)


def _binding(template: str) -> int:
    """How strongly a printed template binds: as a call, a power, or anything else."""
    if " " not in template.replace(", ", ","):
        return 14
    return 13 if re.fullmatch(r"\{0\} \*\* \S+", template) else 10


def _is_tensor(node: Expression, tensors: set[Expression]) -> bool:
    if isinstance(node, Argument):
        return node.kind == "tensor"
    if isinstance(node, Call) and node.primitive.symbol is None and node.primitive.python is None:
        return True
    return any(child in tensors for child in children(node))


def _without_choices_of_numbers(formula: Formula) -> Formula:
    """Multiply factors into a choice between two numbers, which as tensors would have no dtype."""
    done: dict[Expression, Expression] = {}

    def visit(node: Expression) -> Expression:
        if node not in done:
            rebuilt = with_children(node, tuple(visit(child) for child in children(node)))
            done[node] = _multiplied_in(rebuilt)
        return done[node]

    outputs = tuple(visit(output) for output in formula.outputs)
    names = tuple((name, visit(node)) for name, node in formula.names)
    return simplify(replace(formula, outputs=outputs, names=names), unroll=False)


def _multiplied_in(node: Expression) -> Expression:
    if not is_call(node, "mul"):
        return node
    for one, other in (children(node), children(node)[::-1]):
        is_choice = isinstance(one, Select) and _is_number(one.then) and _is_number(one.otherwise)
        if is_choice and not isinstance(other, Constant):
            condition, then, otherwise = children(one)
            return select(condition, call("mul", then, other), call("mul", otherwise, other))
    return node


def _is_number(node: Expression) -> bool:
    """Whether no tensor takes part in `node`."""
    return not any(isinstance(part, Argument) and part.kind == "tensor" for part in walk((node,)))
