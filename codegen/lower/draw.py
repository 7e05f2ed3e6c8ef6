"""Splits a draw: what depends on the call alone is computed once, in double precision."""

from __future__ import annotations

from dataclasses import replace

from ..formula.expressions import ONE, ZERO, as_number, call, is_call, substitute, with_children
from ..model.formula import (
    Argument,
    Constant,
    Expression,
    Formula,
    IsNone,
    Named,
    children,
    type_of,
    walk,
)
from ..model.operator import Operator
from ..model.stream import REAL_PART, Draw, DrawPlan, is_of_call


def plan(operator: Operator) -> DrawPlan:
    """What kernels compute for an element, and what a call computes once."""
    kind = operator.kind
    assert isinstance(kind, Draw)
    formula, parameter = kind.formula, kind.parameter
    if kind.word == "normal":
        formula, parameter = _scaled(formula)
    probability: str | None = None
    if isinstance(parameter, Argument) and parameter.kind == "tensor":
        probability, parameter = parameter.name, None
    given = {argument.name for argument in formula.arguments}
    numbers = _Numbers(given, {node: name for name, node in formula.names})
    first, *rest = formula.outputs
    outputs = tuple(map(numbers.taken, (as_number(first), *rest)))
    word, *others = formula.arguments
    names = tuple((name, numbers.taken(node)) for name, node in formula.names)
    read = {node for output in outputs for node in walk((output,)) if isinstance(node, Argument)}
    inputs = tuple(a for a in others if a.kind == "tensor" and a in read)
    is_real = (REAL_PART,) if REAL_PART in read else ()
    arguments = (word, *inputs, *numbers.arguments.values(), *is_real)
    of_call = (parameter or ZERO, *map(as_number, numbers.arguments))
    asked = {node for each in of_call for node in walk((each,))}
    scalars = tuple(a for a in others if a in asked or IsNone(a) in asked)
    return DrawPlan(
        replace(formula, arguments=arguments, outputs=outputs, names=names),
        Formula(scalars, of_call),
        tuple(a.name for a in inputs),
        probability,
    )


def _scaled(formula: Formula) -> tuple[Formula, Expression]:
    """The formula of a normal number of another deviation, where a number multiplies each of its
    normal numbers: two numbers of a pair share the product with their radius."""
    normal = formula.arguments[0]
    readers = {n for n in walk(formula.outputs) if normal in children(n)}
    factors = {
        other
        for node in readers
        for one, other in (children(node)[:2], children(node)[1::-1])
        if is_call(node, "mul") and one == normal and is_of_call(other)
    }
    if len(factors) != 1 or not all(is_call(node, "mul") for node in readers):
        return formula, ONE
    products: dict[Expression, Expression] = dict.fromkeys(readers, normal)
    outputs = tuple(substitute(output, products) for output in formula.outputs)
    names = tuple((name, substitute(node, products)) for name, node in formula.names)
    return replace(formula, outputs=outputs, names=names), next(iter(factors))


class _Numbers:
    """Puts arguments in place of what depends on the call alone."""

    def __init__(self, given: set[str], names: dict[Expression, str]) -> None:
        self.arguments: dict[Expression, Argument] = {}
        self._given = given
        self._names = names

    def taken(self, node: Expression) -> Expression:
        """An expression over elements and these arguments."""
        if isinstance(node, Constant | Named):
            return node
        if not is_of_call(node):
            return with_children(node, tuple(map(self.taken, children(node))))
        if not any(isinstance(each, Argument) for each in walk((node,))):
            return node
        if node not in self.arguments:
            self.arguments[node] = Argument(self._name(node), "scalar")
        number = self.arguments[node]
        return call("ne", number, ZERO) if type_of(node) == "bool" else number

    def _name(self, node: Expression) -> str:
        if isinstance(node, Argument):
            return node.name
        return self._names.get(node, f"number{len(self.arguments)}")
