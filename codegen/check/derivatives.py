"""Rules about entries of derivatives.yaml against their operators."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import Related, SourceLocation
from ..model.derivative import Derivative, GradientKind, TangentKind
from ..model.operator import Composite, Operator, Pointwise
from .rules import Context, Problem, derivative_rule, program_rule

_OWN_NAMES = ("grad", "grads", "grad_input_mask")


def _keys(derivative: Derivative) -> list[tuple[str, ...]]:
    """Return the names of every key, in file order of gradients and then of tangents."""
    keys = [gradient.inputs for gradient in derivative.gradients]
    return keys + [tangent.results for tangent in derivative.tangents]


def _key_place(derivative: Derivative, names: tuple[str, ...], name: str) -> SourceLocation:
    """Return the place of `name` in the key made of `names`."""
    places = derivative.places
    for key in (", ".join(names), ",".join(names)):
        if places is not None and places.has(key):
            return places.key(key).at(key.find(name))
    return derivative.where


@program_rule("E405")
def one_derivative_per_operator(context: Context) -> Iterator[Problem]:
    """No two entries speak of one operator."""
    first: dict[str, Derivative] = {}
    for derivative in context.program.derivatives:
        earlier = first.setdefault(derivative.operator, derivative)
        if earlier is not derivative:
            message = f"'{derivative.operator}' has two derivative entries"
            related = (Related(earlier.where, "the first is here"),)
            width = len(derivative.operator)
            yield Problem(derivative.where, message, None, related, width)


@derivative_rule("E406")
def every_tensor_is_spoken_of(
    derivative: Derivative, operator: Operator, context: Context
) -> Iterator[Problem]:
    """Every tensor argument has a gradient, or is non_differentiable."""
    flags = derivative.output_differentiability
    if not operator.may_differentiate or (flags is not None and not any(flags)):
        return
    for argument in operator.differentiable_arguments:
        if argument.name not in derivative.inputs:
            message = f"{operator.name}: nobody differentiates '{argument.name}'"
            hint = f"add '{argument.name}: <formula>', or '{argument.name}: non_differentiable'"
            related = (Related(argument.where or operator.where, "the argument"),)
            yield Problem(derivative.where, message, hint, related, len(operator.name))


@program_rule("E416")
def differentiable_operators_have_derivatives(context: Context) -> Iterator[Problem]:
    """An operator on floating-point tensors has a derivative entry, unless it is a composite."""
    for operator in context.program.operators:
        is_known = operator.base_name in context.unread or context.program.derivative(operator)
        if not is_known and _needs_derivative(operator):
            message = f"{operator.name} has no derivative"
            names = ", ".join(a.name for a in operator.differentiable_arguments)
            file = "the file of --derivatives" if context.begins_derivatives else "derivatives.yaml"
            hint = f"add an entry to {file} that speaks of {names}; each may be non_differentiable"
            yield Problem(operator.where, message, hint, width=len(operator.name))


def _needs_derivative(operator: Operator) -> bool:
    return (
        not isinstance(operator.kind, Composite)
        and operator.may_differentiate
        and operator.returns_tensors
        and operator.promotion.rule != "always_bool"
        and bool(operator.differentiable_arguments)
    )


@derivative_rule("E407")
def auto_is_for_formulas(
    derivative: Derivative, operator: Operator, context: Context
) -> Iterator[Problem]:
    """`auto` differentiates a pointwise formula or statements; nothing else has them."""
    if isinstance(operator.kind, Pointwise):
        return
    kind = type(operator.kind).__name__.lower()
    for gradient in derivative.gradients:
        if gradient.kind is GradientKind.AUTO:
            message = f"{operator.name}: 'auto' needs a pointwise formula, this is a {kind}"
            hint = "write the formula of the gradient"
            yield Problem(gradient.where or derivative.where, message, hint, width=len("auto"))
    for tangent in derivative.tangents:
        if tangent.kind is TangentKind.AUTO_ELEMENT_WISE:
            message = f"{operator.name}: 'auto_element_wise' needs a pointwise formula"
            where = tangent.where or derivative.where
            yield Problem(where, message, width=len("auto_element_wise"))


@derivative_rule("E433")
def saves_is_for_auto(
    derivative: Derivative, operator: Operator, context: Context
) -> Iterator[Problem]:
    """`saves` chooses what `auto` reads; a formula says itself what is saved."""
    if derivative.saves_operands and not derivative.is_auto:
        message = f"{operator.name}: 'saves' needs a gradient that is 'auto'"
        yield Problem(derivative.where, message, None, width=len(operator.name))


@derivative_rule("E408")
def one_flag_per_result(
    derivative: Derivative, operator: Operator, context: Context
) -> Iterator[Problem]:
    """output_differentiability has as many flags as the schema has results."""
    flags = derivative.output_differentiability
    expected = len(operator.schema.returns)
    if flags is not None and len(flags) != expected:
        results = "1 result" if expected == 1 else f"{expected} results"
        message = f"{operator.name} has {results}, but {len(flags)} flags"
        places = derivative.places
        where = places.value("output_differentiability") if places else derivative.where
        yield Problem(where, message)


@derivative_rule("E409")
def one_key_per_name(
    derivative: Derivative, operator: Operator, context: Context
) -> Iterator[Problem]:
    """No argument and no result stands in two keys."""
    seen: set[str] = set()
    for names in _keys(derivative):
        for name in names:
            if name in seen:
                message = f"{operator.name}: '{name}' is given twice"
                where = _key_place(derivative, names, name)
                yield Problem(where, message, width=len(name))
            seen.add(name)


@derivative_rule("E410")
def gradients_are_of_tensors(
    derivative: Derivative, operator: Operator, context: Context
) -> Iterator[Problem]:
    """A gradient is asked of arguments that hold tensors."""
    for names in _keys(derivative):
        for name in names:
            argument = operator.schema.argument(name)
            if argument is not None and not argument.type.holds_tensors:
                message = f"{operator.name}: '{name}' is {argument.type}, no tensor"
                where = _key_place(derivative, names, name)
                yield Problem(where, message, "delete this key", width=len(name))


@derivative_rule("E411")
def schemas_agree(
    derivative: Derivative, operator: Operator, context: Context
) -> Iterator[Problem]:
    """A whole schema in `name` is the operator's."""
    schema = derivative.schema
    if schema is not None and (schema.arguments, schema.returns, schema.name) != (
        operator.schema.arguments, operator.schema.returns, operator.schema.name,
    ):  # fmt: skip
        message = f"the schema differs from the operator's: {operator.schema}"
        related = (Related(operator.where, "the operator"),)
        hint = f"'name: {operator.name}' is enough"
        width = len(str(schema))
        yield Problem(_first_difference(derivative, operator), message, hint, related, width)


def _first_difference(derivative: Derivative, operator: Operator) -> SourceLocation:
    """Return the place of the first argument that differs, or of the schema."""
    assert derivative.schema is not None
    theirs = operator.schema.arguments
    for i, argument in enumerate(derivative.schema.arguments):
        if i >= len(theirs) or argument != theirs[i]:
            return argument.where or derivative.where
    return derivative.where


@derivative_rule("E413")
def gradients_exist(
    derivative: Derivative, operator: Operator, context: Context
) -> Iterator[Problem]:
    """`grads[i]` is the gradient of a result that exists."""
    results = len(operator.schema.returns)
    is_list = results == 1 and operator.schema.returns[0].type.is_list
    for gradient in derivative.gradients:
        expression = gradient.expression
        if expression is None or is_list:
            continue
        for index in expression.gradients:
            if not -results <= index < results:
                message = f"{operator.name} has {results} results, there is no grads[{index}]"
                where = gradient.where or derivative.where
                offset = max(0, expression.text.find(f"grads[{index}]"))
                yield Problem(where.at(offset), message, width=len(f"grads[{index}]"))


@derivative_rule("E417")
def arguments_do_not_hide_gradients(
    derivative: Derivative, operator: Operator, context: Context
) -> Iterator[Problem]:
    """No argument is called like a name of derivative formulas."""
    for argument in operator.arguments:
        if argument.name in _OWN_NAMES:
            message = f"{operator.name}: argument '{argument.name}' hides the gradient's name"
            hint = f"call it '{argument.name}_output'"
            where = argument.where or operator.where
            yield Problem(where, message, hint, width=len(str(argument)))
