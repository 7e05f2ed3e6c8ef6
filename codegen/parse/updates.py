"""Splits operators that update arguments: one makes their new values, the other puts these there.

So the statements read what an argument was, whatever the order of threads, and what is written is
written by `copy_`, which knows of versions, views, dtypes and the graph.
"""

from __future__ import annotations

from dataclasses import replace

from .. import library
from ..model.derivative import Derivative, Gradient, GradientKind
from ..model.operator import FUNCTION, Composite, FunctionReference, Index, Operator, Promotion
from ..model.program import Program
from ..model.schema import TENSOR
from .schema import parse_schema

_UPDATED = FunctionReference(f"{library.RUNTIME}.ops.composite.updates", "updated", True)


def with_updates(program: Program) -> Program:
    """The program with two operators for each that updates arguments."""
    operators: list[Operator] = []
    split: dict[str, tuple[Operator, Operator]] = {}
    for operator in program.operators:
        if not isinstance(operator.kind, Index) or not operator.kind.updates:
            operators.append(operator)
            continue
        inner = _of_values(operator, operator.kind)
        operators += [_writing(operator, inner), inner]
        split[operator.name] = operator, inner
    known = {each.operator for each in program.derivatives}
    derivatives = [
        _of_inner(each, *split[each.operator]) if each.operator in split else each
        for each in program.derivatives
    ]
    for operator, inner in split.values():
        if operator.name not in known and not operator.schema.returns:
            derivatives.append(_none(inner))
    return replace(program, operators=tuple(operators), derivatives=tuple(derivatives))


def _values_name(operator: Operator) -> str:
    """What the operator is called that makes new values."""
    return f"_{operator.identifier.lstrip('_')}_values"


def _of_values(operator: Operator, kind: Index) -> Operator:
    """The operator that returns what arguments become, behind what is returned anyway.

    It is given all arguments, by position.
    """
    returns = [*map(str, operator.schema.returns), *[TENSOR] * len(kind.updates)]
    given = (f"{replace(a.type, alias=None)} {a.name}" for a in operator.arguments)
    text = f"{_values_name(operator)}({', '.join(given)}) -> "
    text += f"({', '.join(returns)})" if len(returns) > 1 else returns[0]
    updated = " and ".join(f"`{name}`" for name in kind.updates)
    return replace(
        operator,
        schema=parse_schema(text, operator.where),
        variants=(FUNCTION,),
        python_module="torch",
        deprecated=(),
        superseded=None,
        dunders=(),
        aliases=(),
        foreach=(),
        kind=replace(kind, updates=()),
        tags=("internal",),
        reference=None,
        samples=None,
        doc=f"What `{operator.base_name}` returns, and what becomes of {updated}.",
    )


def _writing(operator: Operator, inner: Operator) -> Operator:
    """The operator that users call."""
    names = [each.name for each in operator.arguments]
    assert isinstance(operator.kind, Index)
    written = tuple(names.index(name) for name in operator.kind.updates)
    kind = Composite(None, _UPDATED, inner.base_name, written)
    return replace(operator, kind=kind, promotion=Promotion("none"))


def _of_inner(derivative: Derivative, operator: Operator, inner: Operator) -> Derivative:
    """The derivative of the operator that makes new values: these are constants to it."""
    own = len(operator.schema.returns)
    flags = derivative.output_differentiability or (True,) * own
    added = (False,) * (len(inner.schema.returns) - own)
    return replace(
        derivative,
        operator=inner.name,
        output_differentiability=(*flags, *added),
        schema=None,
    )


def _none(inner: Operator) -> Derivative:
    """The derivative of an operator that returns nothing."""
    names = (each.name for each in inner.arguments if each.type.holds_tensors)
    kind = GradientKind.NON_DIFFERENTIABLE
    gradients = tuple(Gradient((name,), kind, where=inner.where) for name in names)
    return Derivative(inner.name, f"{_camel(inner)}Backward0", gradients, where=inner.where)


def _camel(operator: Operator) -> str:
    return "".join(word[:1].upper() + word[1:] for word in operator.base_name.split("_"))
