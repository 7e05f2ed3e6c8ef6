"""Rules about Python expressions: derivative formulas, forward-mode formulas, composite bodies."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

from ..errors import SourceLocation, did_you_mean
from ..model.derivative import Derivative
from ..model.expression import Call, Expression
from ..model.operator import Composite, Operator
from ..model.signature import Signature
from ..model.vocabulary import (
    EXPRESSION_BUILTINS,
    EXPRESSION_CONSTANTS,
    RECORD_METHODS,
    RECORD_PROPERTIES,
)
from .rules import Context, Problem, derivative_rule, operator_rule

_MATH = frozenset(dir(math))
_MODULES = ("math", "torch", "np", "numpy", "F", "nn")
"""What stands before a dot without being a tensor; all but the first is unknown here."""
_GRADIENT_NAMES = ("grad", "grads", "grad_input_mask")


def _expressions(
    derivative: Derivative, operator: Operator
) -> Iterator[tuple[Expression, Collection[str]]]:
    """Yield every expression of an entry with the names that it may read."""
    names = [argument.name for argument in operator.arguments]
    results = _result_names(operator)
    for gradient in derivative.gradients:
        if gradient.expression:
            yield gradient.expression, (*names, *results, *_GRADIENT_NAMES)
    tensors = [argument.name for argument in operator.differentiable_arguments]
    forward = [f"{name}_{suffix}" for name in tensors for suffix in "tp"]
    for tangent in derivative.tangents:
        if tangent.expression:
            yield tangent.expression, (*names, *results, *forward)


def _result_names(operator: Operator) -> list[str]:
    returns = operator.schema.returns
    names = [result.name for result in returns if result.name]
    return names + (
        ["result"] if len(returns) == 1 else [f"result{i}" for i in range(len(returns))]
    )


def _place(expression: Expression, offset: int) -> SourceLocation:
    assert expression.where is not None
    return expression.where.at(offset)


@derivative_rule("E420")
def names_are_known(
    derivative: Derivative, operator: Operator, context: Context
) -> Iterator[Problem]:
    """A derivative formula reads arguments, results, gradients and constants."""
    for expression, names in _expressions(derivative, operator):
        yield from _unknown_names(operator, expression, names)


@operator_rule("E424")
def body_names_are_known(operator: Operator, context: Context) -> Iterator[Problem]:
    """A composite body reads arguments and constants, and uses every argument."""
    expression = _body(operator)
    if expression is None:
        return
    names = [argument.name for argument in operator.arguments]
    yield from _unknown_names(operator, expression, names)
    for argument in operator.arguments:
        if not expression.uses(argument.name):
            message = f"{operator.name}: the body does not use '{argument.name}'"
            where = argument.where or operator.where
            yield Problem(where, message, width=len(str(argument)))


def _unknown_names(
    operator: Operator, expression: Expression, names: Collection[str]
) -> Iterator[Problem]:
    for use in expression.names:
        if use.name in names or use.name in EXPRESSION_CONSTANTS:
            continue
        hint = did_you_mean(use.name, names) or "known here: " + ", ".join(names)
        if use.name in _MODULES:
            hint = "operators are called by name alone: exp(x)"
        message = f"{operator.name}: unknown name '{use.name}'"
        yield Problem(_place(expression, use.offset), message, hint, width=len(use.name))


@derivative_rule("E421")
def functions_are_known(
    derivative: Derivative, operator: Operator, context: Context
) -> Iterator[Problem]:
    """A derivative formula calls operators, functions of formulas.py and a few of Python's."""
    for expression, _ in _expressions(derivative, operator):
        yield from _unknown_functions(operator, expression, context)


@operator_rule("E425")
def body_functions_are_known(operator: Operator, context: Context) -> Iterator[Problem]:
    """A composite body calls operators and a few functions of Python's."""
    expression = _body(operator)
    if expression is not None:
        yield from _unknown_functions(operator, expression, context)


def _unknown_functions(
    operator: Operator, expression: Expression, context: Context
) -> Iterator[Problem]:
    for call in expression.calls:
        if call.is_method or _is_known_function(call.name, context):
            continue
        known = [*context.operators, *context.functions, *EXPRESSION_BUILTINS]
        if call.name in context.methods or call.name in RECORD_METHODS:
            hint: str | None = f"'{call.name}' is a method: x.{call.name}(...)"
        else:
            hint = did_you_mean(call.name, known)
        message = f"{operator.name}: unknown function '{call.name}'"
        yield Problem(_place(expression, call.offset), message, hint, width=len(call.name))


def _is_known_function(name: str, context: Context) -> bool:
    return (
        name in context.operators
        or name in context.functions
        or name in EXPRESSION_BUILTINS
        or context.is_broken(name)
    )


@derivative_rule("E422")
def methods_are_known(
    derivative: Derivative, operator: Operator, context: Context
) -> Iterator[Problem]:
    """A derivative formula calls methods and reads attributes that tensors have."""
    for expression, _ in _expressions(derivative, operator):
        yield from _unknown_methods(operator, expression, context)


@operator_rule("E426")
def body_methods_are_known(operator: Operator, context: Context) -> Iterator[Problem]:
    """A composite body calls methods and reads attributes that tensors have."""
    expression = _body(operator)
    if expression is not None:
        yield from _unknown_methods(operator, expression, context)


def _unknown_methods(
    operator: Operator, expression: Expression, context: Context
) -> Iterator[Problem]:
    reads_math = expression.uses("math")
    for call in expression.calls:
        name = call.name
        if call.receiver in _MODULES:
            yield from _math_of_tensors(operator, expression, call)
            continue
        if not call.is_method or name in context.methods or name in RECORD_METHODS:
            continue
        if context.is_broken(name) or (reads_math and name in _MATH):
            continue
        known = [*context.methods, *RECORD_METHODS]
        hint = did_you_mean(name, known)
        if name in context.operators:
            hint = f"'{name}' is a function: {name}(x, ...)"
        message = f"{operator.name}: unknown method '{name}'"
        yield Problem(_place(expression, call.offset), message, hint, width=len(name))
    for use in expression.attributes:
        name = use.name
        if name in RECORD_PROPERTIES or name in context.properties:
            continue
        if reads_math and name in _MATH:
            continue
        hint = did_you_mean(name, [*RECORD_PROPERTIES, *context.properties])
        if name in context.methods or name in RECORD_METHODS:
            hint = f"'{name}' is a method: call it"
        message = f"{operator.name}: unknown attribute '{name}'"
        yield Problem(_place(expression, use.offset), message, hint, width=len(name))


def _math_of_tensors(operator: Operator, expression: Expression, call: Call) -> Iterator[Problem]:
    """Python's math takes numbers: of a tensor it would make one, and cut the graph."""
    tensors = {argument.name for argument in operator.differentiable_arguments}
    tensors.update(_result_names(operator), _GRADIENT_NAMES)
    taken = [name for name in call.given if name in tensors]
    if call.receiver == "math" and taken:
        message = f"{operator.name}: math.{call.name} takes numbers, '{taken[0]}' is a tensor"
        remedy = f"{call.name}({taken[0]}) is the operator"
        yield Problem(_place(expression, call.offset), message, remedy, width=len(call.name))
    elif call.receiver == "math" and call.name not in _MATH:
        message = f"{operator.name}: math has no '{call.name}'"
        hint = did_you_mean(call.name, _MATH)
        yield Problem(_place(expression, call.offset), message, hint, width=len(call.name))


@derivative_rule("E423")
def calls_fit(derivative: Derivative, operator: Operator, context: Context) -> Iterator[Problem]:
    """A call gives as many arguments as the function takes, by the names it knows."""
    for expression, _ in _expressions(derivative, operator):
        yield from _wrong_calls(operator, expression, context)


@operator_rule("E427")
def body_calls_fit(operator: Operator, context: Context) -> Iterator[Problem]:
    """A call in a composite body gives as many arguments as the operator takes."""
    expression = _body(operator)
    if expression is not None:
        yield from _wrong_calls(operator, expression, context)


def _wrong_calls(operator: Operator, expression: Expression, context: Context) -> Iterator[Problem]:
    for call in expression.calls:
        if call.is_method and (call.name in RECORD_METHODS or call.receiver in _MODULES):
            continue
        signatures = _signatures(call, context)
        if not signatures or any(s.accepts(call.positional, call.keywords) for s in signatures):
            continue
        given = _counted(call)
        message = f"{operator.name}: '{call.name}' cannot be called with {given}"
        forms = " or ".join(f"{call.name}{signature}" for signature in signatures[:3])
        place = _place(expression, call.offset)
        yield Problem(place, message, f"it is {forms}", width=len(call.name))


def _signatures(call: Call, context: Context) -> list[Signature]:
    if call.is_method:
        return context.methods.get(call.name, [])
    if call.name in context.functions:
        return [context.functions[call.name]]
    return context.operators.get(call.name, [])


def _counted(call: Call) -> str:
    count = "1 argument" if call.positional == 1 else f"{call.positional} arguments"
    names = ", ".join(f"'{keyword}'" for keyword in call.keywords)
    return f"{count} and {names}" if names else count


def _body(operator: Operator) -> Expression | None:
    return operator.kind.body if isinstance(operator.kind, Composite) else None
