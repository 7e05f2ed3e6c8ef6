"""Rules about cases: an entry that is another operator, called with certain arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..errors import did_you_mean
from ..model.operator import Case, Dispatch, Given, Index, Operator
from ..model.schema import Argument, Type
from .rules import Context, Problem, operator_rule

_CONSTANTS = {
    "bool": ("bool",),
    "int": ("int", "SymInt", "float", "Scalar", "complex"),
    "float": ("float", "Scalar", "complex"),
    "complex": ("Scalar", "complex"),
    "str": ("str",),
}
"""Which types of an argument a constant of a Python type is one of."""
_WIDER = {"int": ("SymInt", "Scalar"), "SymInt": ("int", "Scalar"), "float": ("Scalar",)}
"""Which other types of an argument take what is of a type."""


@operator_rule("E344")
def cases_are_calls_of_kernels(operator: Operator, context: Context) -> Iterator[Problem]:
    """A case calls an operator that has a kernel, with all its arguments, of their types."""
    kind = operator.kind
    if not isinstance(kind, Case):
        return
    target = context.program.known_operator(kind.target)
    if target is None:
        if kind.target.split(".")[0] not in context.broken:
            message = f"{operator.name}: there is no operator '{kind.target}'"
            hint = did_you_mean(kind.target, context.program.known_names())
            yield Problem(kind.where, message, hint, width=len(kind.target))
        return
    if not isinstance(target.kind, Dispatch | Index):
        message = f"{operator.name}: '{kind.target}' has no kernel that it could be a case of"
        hint = "name an operator with 'dispatch' or 'index'"
        yield Problem(kind.where, message, hint, width=len(kind.target))
        return
    yield from _fits(operator, kind, target)
    yield from _is_given(operator, kind, target)


def _fits(operator: Operator, kind: Case, target: Operator) -> Iterator[Problem]:
    """The results, and whether there is a shape function for them."""
    own, others = len(operator.schema.returns), len(target.schema.returns)
    assert isinstance(target.kind, Dispatch | Index)
    is_text = isinstance(target.kind, Index)
    if operator.is_inplace != target.is_inplace:
        writes = "writes to self" if target.is_inplace else "makes new tensors"
        message = f"{operator.name}: '{kind.target}' {writes}"
        yield Problem(kind.where, message, width=len(kind.target))
    elif own > others:
        message = f"{operator.name}: {own} results, where '{kind.target}' has {others}"
        yield Problem(kind.where, message, width=len(kind.target))
    elif own < others and kind.meta is None:
        message = f"{operator.name}: only {own} of {others} results need a shape function"
        yield Problem(kind.where, message, "add meta: family.function", width=len(kind.target))
    elif is_text and kind.meta is None and target.kind.meta is None:
        message = f"{operator.name}: '{kind.target}' has the sizes of its own operands alone"
        yield Problem(kind.where, message, "add meta: family.function", width=len(kind.target))


def _is_given(operator: Operator, kind: Case, target: Operator) -> Iterator[Problem]:
    """The arguments: all of the other operator, each once, and of a type that it takes."""
    names = [argument.name for argument in target.arguments]
    positional = [value for name, value in kind.given if name is None]
    for value in positional[len(names) :]:
        message = f"{operator.name}: '{kind.target}' takes {len(names)} arguments"
        yield Problem(value.where, message, width=len(value.text))
    for name, value in kind.given:
        if name is not None and (name not in names or name in names[: len(positional)]):
            what = "has no argument" if name not in names else "is given twice"
            message = f"{operator.name}: '{kind.target}' {what} '{name}'"
            yield Problem(value.where, message, did_you_mean(name, names), width=len(value.text))
    given = kind.by_name(target.schema)
    for argument in target.arguments:
        if argument.name not in given:
            message = f"{operator.name}: '{kind.target}' is not given '{argument.name}'"
            yield Problem(kind.where, message, f"it takes {target.schema}", width=len(kind.target))
        elif not _takes(argument, given[argument.name], operator):
            value = given[argument.name]
            message = f"{operator.name}: '{argument}' of '{kind.target}' cannot be {value}"
            yield Problem(value.where, message, width=len(value.text))
    yield from _in_order(operator, kind, [given[name] for name in names if name in given])
    used = {value.text for value in given.values() if value.is_argument}
    for own in operator.arguments if kind.meta is None else ():
        if own.name not in used:
            message = f"{operator.name}: '{kind.target}' is not told of '{own.name}'"
            yield Problem(kind.where, message, "pass it, or add meta", width=len(kind.target))


def _in_order(operator: Operator, kind: Case, given: list[Given]) -> Iterator[Problem]:
    """What the kernel runs over is the memory of the call's tensors, in their order."""
    tensors = [argument.name for argument in operator.differentiable_arguments]
    places = [tensors.index(value.text) for value in given if value.text in tensors]
    if places != list(range(len(tensors))):
        message = f"{operator.name}: '{kind.target}' is not given all tensors in their order"
        yield Problem(kind.where, message, width=len(kind.target))


def _takes(argument: Argument, given: Given, operator: Operator) -> bool:
    own = operator.schema.argument(given.text) if given.is_argument else None
    if own is not None:
        is_flag = own.type.names == ("bool",) and not own.type.is_list
        return _is_taken(argument.type, own.type) and (is_flag or not given.is_negated)
    value = ast.literal_eval(given.text)
    if value is None:
        return argument.type.is_optional
    if isinstance(value, tuple | list):
        return argument.type.is_list
    return bool({*_CONSTANTS.get(type(value).__name__, ())} & {*argument.type.names})


def _is_taken(taken: Type, own: Type) -> bool:
    """Whether whatever is of one type is of the other, too."""
    if own.is_list != taken.is_list or (own.is_optional and not taken.is_optional):
        return False
    return all({name, *_WIDER.get(name, ())} & {*taken.names} for name in own.names)
