"""Symbolic derivatives of formulas, by reverse accumulation over the graph of the expression.

NaN-safe by construction: what a masked branch would contribute never takes part in arithmetic.
An adjoint that is zero on one side of a condition stays a choice between zero and something, and
factors are multiplied into its other side: `0 if x == 0 else g * log(x)`, never `0 * log(x)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ..errors import CodegenError, Diagnostic, SourceLocation
from ..model.formula import (
    Argument,
    Call,
    Expression,
    Formula,
    Primitive,
    Select,
    children,
    type_of,
    walk,
)
from ..record import record
from .expressions import ONE, ZERO, call, is_call, select, substitute
from .parse import parse_formula
from .primitives import PRIMITIVES
from .result import cheapest, over_inputs
from .simplify import Simplifier, simplify

_MINUS_ONE = call("neg", ONE)
_NOWHERE = SourceLocation("<formula>", 1, 1)


def backward(
    formula: Formula,
    needs: Sequence[str],
    is_complex: bool = False,
    grad: str = "grad",
    result: str = "result",
    may_read_result: bool = True,
) -> Formula:
    """Return the gradients of the arguments in `needs` as one formula.

    Its arguments are the incoming gradient, then those arguments and the result that it reads:
    these must be saved. A formula of several outputs takes grad0, grad1, ... instead.
    Raises: CodegenError if a primitive on the way has no derivative.
    """
    formula = simplify(formula, unroll=False)
    grads = tuple(
        Argument(grad if len(formula.outputs) == 1 else f"{grad}{i}")
        for i in range(len(formula.outputs))
    )
    by_name = {argument.name: argument for argument in formula.arguments}
    targets = [by_name[name] for name in needs]
    adjoints = _Reverse(formula, targets, is_complex).gradients(grads)
    text = _title(formula, needs)
    raw = Formula((*grads, *formula.arguments), tuple(adjoints), formula.names, text, formula.where)
    if not may_read_result:
        return over_inputs(raw, grads)
    results = tuple(
        Argument(result if len(formula.outputs) == 1 else f"{result}{i}")
        for i in range(len(formula.outputs))
    )
    return cheapest(raw, formula.outputs, results)


def partial(formula: Formula, name: str) -> Formula:
    """Return the derivative of a real formula of one output by one argument."""
    formula = simplify(formula, unroll=False)
    target = next(argument for argument in formula.arguments if argument.name == name)
    outputs = tuple(_Reverse(formula, [target], False).gradients((ONE,)))
    text = _title(formula, [name])
    return simplify(Formula(formula.arguments, outputs, formula.names, text), collect=True)


def _title(formula: Formula, needs: Sequence[str]) -> str:
    """Return the docstring of a derivative: by what, and of which formula."""
    lead = ", ".join(f"d/d{name}" for name in needs) + ":"
    is_short = "\n" not in formula.text and len(lead) + len(formula.text) < 88
    return lead + (" " if is_short else "\n") + formula.text


def is_identically_zero(formula: Formula) -> tuple[bool, ...]:
    """Say for each output of a backward formula whether it is zero everywhere."""
    return tuple(output == ZERO for output in formula.outputs)


@record
class _Rule:
    """A derivative or adjoint rule, parsed: its parameters and its value."""

    parameters: tuple[Argument, ...]
    value: Expression

    def at(self, values: Sequence[Expression]) -> Expression:
        return substitute(self.value, dict(zip(self.parameters, values, strict=True)))


@cache
def _rule(text: str) -> _Rule:
    parameters = tuple(Argument(name) for name in ("x", "y", "result", "grad"))
    formula = parse_formula(text, SourceLocation("codegen/formula/primitives.py", 1, 1), parameters)
    return _Rule(parameters, simplify(formula, unroll=False).outputs[0])


@cache
def _without_parts(rule: _Rule) -> _Rule:
    """A rule for real operands, which are their own real parts."""
    parts: dict[Expression, Expression] = {call("real", each): each for each in rule.parameters}
    return _Rule(rule.parameters, substitute(rule.value, parts))


class _Reverse:
    """One sweep from the outputs of a formula to the arguments in `targets`."""

    def __init__(self, formula: Formula, targets: Sequence[Argument], is_complex: bool) -> None:
        self.formula = formula
        self.targets = targets
        self.is_complex = is_complex
        self.simplifier = Simplifier(unroll=False)
        self.order = walk(formula.outputs)
        self.depends: set[Expression] = set(targets)
        for node in self.order:
            if any(child in self.depends for child in children(node)):
                self.depends.add(node)

    def gradients(self, grads: Sequence[Expression]) -> list[Expression]:
        """Return the gradient of each target. The gradient of one output is multiplied in last."""
        separate = len(grads) == 1 and not self._has_adjoint_rules()
        seeds = (ONE,) if separate else grads
        total: dict[Expression, Expression] = {}
        for output, seed in zip(self.formula.outputs, seeds, strict=True):
            if type_of(output) == "number":
                total[output] = _sum(total.get(output, ZERO), seed)
        for node in reversed(self.order):
            adjoint = total.get(node, ZERO)
            if adjoint != ZERO and node in self.depends:
                for child, part in self._contributions(node, adjoint, conjugate=not separate):
                    total[child] = _sum(total.get(child, ZERO), part)
        found = [total.get(target, ZERO) for target in self.targets]
        if not separate:
            return found
        return [scale(grads[0], self._conj(adjoint)) for adjoint in found]

    def _has_adjoint_rules(self) -> bool:
        return self.is_complex and any(
            isinstance(node, Call) and node.primitive.adjoints and node in self.depends
            for node in self.order
        )

    def _contributions(
        self, node: Expression, adjoint: Expression, conjugate: bool
    ) -> list[tuple[Expression, Expression]]:
        if isinstance(node, Select):
            return [
                (node.then, _masked(node.condition, adjoint, True)),
                (node.otherwise, _masked(node.condition, adjoint, False)),
            ]
        if not isinstance(node, Call):
            return []
        if is_call(node, "log1p") and is_call(node.operands[0], "exp"):
            # e^t / (1 + e^t) would be inf / inf where e^t overflows.
            exponent = children(node.operands[0])[0]
            return [(exponent, scale(adjoint, self._conj(call("sigmoid", exponent))))]
        primitive, operands = node.primitive, node.operands
        values = [operands[0], operands[-1], node, adjoint]
        parts = []
        for i, operand in enumerate(operands):
            if operand not in self.depends:
                continue
            if self.is_complex and primitive.adjoints:
                parts.append((operand, _rule(primitive.adjoints[i]).at(values)))
            else:
                factor = self.simplifier(self._derivative(primitive, i).at(values))
                parts.append((operand, scale(adjoint, self._conj(factor) if conjugate else factor)))
        return parts

    def _derivative(self, primitive: Primitive, i: int) -> _Rule:
        text = primitive.derivatives[i]
        if text is None:
            where = self.formula.where or _NOWHERE
            message = f"the derivative of '{primitive.name}' is not known"
            hint = f"add a rule to codegen/formula/primitives.py ({len(PRIMITIVES)} primitives)"
            raise CodegenError([Diagnostic("E713", where, message, hint)])
        return _rule(text) if self.is_complex else _without_parts(_rule(text))

    def _conj(self, factor: Expression) -> Expression:
        return _over_leaves(factor) if self.is_complex else factor


def _over_leaves(node: Expression) -> Expression:
    """Conjugate, leaving zeros alone so that they stay visible."""
    if isinstance(node, Select):
        return select(node.condition, _over_leaves(node.then), _over_leaves(node.otherwise))
    return node if node in (ZERO, ONE, _MINUS_ONE) else call("conj", node)


def _masked(condition: Expression, adjoint: Expression, keep: bool) -> Expression:
    """Return the adjoint where `condition` is `keep`, else 0; masks nest as in the formula."""
    if isinstance(adjoint, Select) and adjoint.then == ZERO:
        inner = _masked(condition, adjoint.otherwise, keep)
        return select(adjoint.condition, ZERO, inner)
    if isinstance(adjoint, Select) and adjoint.otherwise == ZERO:
        inner = _masked(condition, adjoint.then, keep)
        return select(adjoint.condition, inner, ZERO)
    return select(condition, adjoint, ZERO) if keep else select(condition, ZERO, adjoint)


def scale(adjoint: Expression, factor: Expression) -> Expression:
    """Multiply, keeping every zero that a condition chose a zero."""
    if ZERO in (adjoint, factor):
        return ZERO
    for one, other in ((adjoint, factor), (factor, adjoint)):
        if one == ONE:
            return other
        if one == _MINUS_ONE and not isinstance(other, Select):
            return call("neg", other)
        if isinstance(one, Select) and _has_zero_leaf(one):
            then, otherwise = scale(one.then, other), scale(one.otherwise, other)
            return select(one.condition, then, otherwise)
    return call("mul", adjoint, factor)


def _has_zero_leaf(node: Expression) -> bool:
    if isinstance(node, Select):
        return _has_zero_leaf(node.then) or _has_zero_leaf(node.otherwise)
    return node == ZERO


def _sum(x: Expression, y: Expression) -> Expression:
    """Add two contributions; those of the two branches of one condition become one choice."""
    if ZERO in (x, y):
        return y if x == ZERO else x
    return _merged(x, y) or call("add", x, y)


def _merged(x: Expression, y: Expression) -> Expression | None:
    """Add choices by the same condition branch by branch; x may be a sum that holds one."""
    if isinstance(x, Select) and isinstance(y, Select) and x.condition == y.condition:
        return select(x.condition, _sum(x.then, y.then), _sum(x.otherwise, y.otherwise))
    if is_call(x, "add"):
        first, second = children(x)
        if (merged := _merged(first, y)) is not None:
            return call("add", merged, second)
        if (merged := _merged(second, y)) is not None:
            return call("add", first, merged)
    return None
