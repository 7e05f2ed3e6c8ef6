"""Splits operators that draw: one takes a key from the generator, the other is a function of it.

So the derivative of the second one is told the key, and draws the same numbers again.
"""

from __future__ import annotations

from dataclasses import replace

from ..model.derivative import Derivative, Gradient, GradientKind
from ..model.index import DRAW_KEY
from ..model.operator import FUNCTION, Composite, Index, Operator, Promotion, drawn_name
from ..model.program import Program
from .expressions import Scope, read_expression
from .schema import parse_schema
from .scopes import argument_scope


def with_draws(program: Program) -> Program:
    """The program with two operators for each that draws."""
    operators: list[Operator] = []
    split: dict[str, str] = {}
    for operator in program.operators:
        if not isinstance(operator.kind, Index) or not operator.kind.program.draws:
            operators.append(operator)
            continue
        inner = _function_of_key(operator)
        operators += [_with_generator(operator, inner), inner]
        split[operator.name] = inner.name
    derivatives = tuple(
        _of_key(each, split[each.operator]) if each.operator in split else each
        for each in program.derivatives
    )
    return replace(program, operators=tuple(operators), derivatives=derivatives)


def _generator(operator: Operator) -> str:
    return next(a.name for a in operator.arguments if a.type.base == "Generator")


def _function_of_key(operator: Operator) -> Operator:
    """The operator that is told the key."""
    others = [a for a in operator.arguments if a.name != _generator(operator)]
    written = [f"{a.type} {a.name}" for a in others]
    count = sum(a.type.is_tensor for a in others)
    written.insert(count, f"Tensor {DRAW_KEY}")
    returns = ", ".join(str(each) for each in operator.schema.returns)
    returns = f"({returns})" if len(operator.schema.returns) > 1 else returns
    text = f"{drawn_name(operator.base_name)}({', '.join(written)}) -> {returns}"
    return replace(
        operator,
        schema=parse_schema(text, operator.where),
        variants=(FUNCTION,),
        python_module="torch",
        aliases=(),
        tags=("internal",),
        reference=None,
        samples=None,
        doc=f"`{operator.base_name}` as a function of the key of its random numbers.",
    )


def _with_generator(operator: Operator, inner: Operator) -> Operator:
    """The operator that users call: the other one, with a key from the generator."""
    first = next(a.name for a in operator.arguments if a.type.is_tensor)
    key = f"_draw_key({first}, {_generator(operator)})"
    given = ", ".join(key if a.name == DRAW_KEY else a.name for a in inner.arguments)
    scope = Scope(argument_scope(operator.schema))
    expression = read_expression(f"{inner.base_name}({given})", operator.where, scope)
    tags = (*operator.tags, *(["nondeterministic"] * ("nondeterministic" not in operator.tags)))
    kind = Composite(expression, None)
    return replace(operator, kind=kind, promotion=Promotion("none"), tags=tags)


def _of_key(derivative: Derivative, operator: str) -> Derivative:
    """The derivative of the operator that is told the key."""
    key = Gradient((DRAW_KEY,), GradientKind.NON_DIFFERENTIABLE, where=derivative.where)
    camel = "".join(word[:1].upper() + word[1:] for word in operator.split("_"))
    return replace(
        derivative,
        operator=operator,
        node=f"{camel}Backward0",
        gradients=(*derivative.gradients, key),
        schema=None,
    )
