"""Splits index operators with optional arguments: one operator for each set of those there."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ..model.derivative import Derivative
from ..model.index import IndexProgram
from ..model.operator import (
    FUNCTION,
    Composite,
    Index,
    Operator,
    Promotion,
    Samples,
    SourceText,
    variant_name,
)
from ..model.program import Program
from .expressions import Scope, read_expression
from .schema import parse_schema
from .scopes import argument_scope


def with_optionals(program: Program) -> Program:
    """The program with an operator for each variant of those that have optional arguments."""
    operators: list[Operator] = []
    split: dict[str, list[tuple[Operator, frozenset[str]]]] = {}
    for operator in program.operators:
        if not isinstance(operator.kind, Index) or not operator.kind.variants:
            operators.append(operator)
            continue
        made = [
            (_variant(operator, missing, each), missing) for missing, each in operator.kind.variants
        ]
        operators += [_choosing(operator, made), *(each for each, _ in made)]
        split[operator.name] = made
    derivatives: list[Derivative] = []
    for derivative in program.derivatives:
        if derivative.operator not in split:
            derivatives.append(derivative)
            continue
        pairs = split[derivative.operator]
        derivatives += [_derivative(derivative, made, missing) for made, missing in pairs]
    return replace(program, operators=tuple(operators), derivatives=tuple(derivatives))


def _variant(operator: Operator, missing: Collection[str], program: IndexProgram) -> Operator:
    """The operator of calls where these arguments are missing, and the other ones are not."""
    optional = [a.name for a in operator.arguments if a.type.is_optional and _is_asked(a.type.base)]
    there = [a for a in operator.arguments if a.name not in missing]
    types = {a.name: str(a.type).removesuffix("?" if a.name in optional else "") for a in there}
    arguments = ", ".join(f"{type_} {name}" for name, type_ in types.items())
    returns = ", ".join(str(each) for each in operator.schema.returns)
    returns = f"({returns})" if len(operator.schema.returns) > 1 else returns
    name = variant_name(operator.base_name, [n for n in optional if n not in missing])
    numbers = tuple(each.name for each in program.inputs if each.type == "number")
    promotion = operator.promotion
    if promotion.arguments is not None:
        kept = tuple(n for n in promotion.arguments if n in numbers)
        promotion = replace(promotion, arguments=kept)
    return replace(
        operator,
        schema=parse_schema(f"{name}({arguments}) -> {returns}", operator.where),
        variants=(FUNCTION,),
        python_module="torch",
        aliases=(),
        promotion=promotion,
        kind=Index(program),
        tags=("internal",),
        reference=None,
        samples=_samples(operator, optional, missing),
        doc=f"`{operator.base_name}` where {_listed(missing)} missing."
        if missing
        else f"`{operator.base_name}` of all its arguments.",
    )


def _samples(
    operator: Operator, optional: Sequence[str], missing: Collection[str]
) -> Samples | None:
    """The sample calls where just these of the optional arguments are missing.

    They give the values of defaults, which the variants have none of.
    """
    calls = []
    defaults = {
        argument.name: SourceText(repr(argument.default.value), operator.where)
        for argument in operator.arguments
        if argument.default is not None
    }
    for call in operator.samples.calls if operator.samples else ():
        given = {name for name, value in call.arguments if str(value) != "None"}
        if set(optional) - given == set(missing):
            whole = defaults | dict(call.arguments)
            arguments = tuple([pair for pair in whole.items() if pair[0] not in missing])
            calls.append(replace(call, arguments=arguments))
    return Samples(calls=tuple(calls)) if calls else None


def _is_asked(base: str) -> bool:
    """Whether a text may ask for an argument of this type: a generator is none of its business."""
    return base != "Generator"


def _listed(missing: Collection[str]) -> str:
    names = " and ".join(f"`{name}`" for name in sorted(missing))
    return f"{names} {'is' if len(missing) == 1 else 'are'}"


def _choosing(operator: Operator, made: Sequence[tuple[Operator, frozenset[str]]]) -> Operator:
    """The operator that users call: it looks which arguments are there."""
    optional = [n for a in operator.arguments for n in [a.name] if any(n in m for _, m in made)]

    def choice(rest: Sequence[str], missing: frozenset[str]) -> str:
        if not rest:
            variant = next(each for each, known in made if known == missing)
            return f"{variant.base_name}({', '.join(a.name for a in variant.arguments)})"
        name, *others = rest
        there, gone = choice(others, missing), choice(others, missing | {name})
        return f"({gone} if {name} is None else {there})"

    text = choice(optional, frozenset()).removeprefix("(").removesuffix(")")
    scope = Scope(argument_scope(operator.schema))
    expression = read_expression(text, operator.where, scope)
    kind = Composite(expression, None)
    return replace(operator, kind=kind, promotion=Promotion("none"))


def _derivative(derivative: Derivative, operator: Operator, missing: Collection[str]) -> Derivative:
    """The derivative of a variant."""
    gradients = tuple(
        replace(each, inputs=tuple(name for name in each.inputs if name not in missing))
        for each in derivative.gradients
        if not set(each.inputs) <= set(missing)
    )
    camel = "".join(word[:1].upper() + word[1:] for word in operator.base_name.split("_"))
    node = f"{camel}Backward0"
    return replace(derivative, operator=operator.name, node=node, gradients=gradients, schema=None)
