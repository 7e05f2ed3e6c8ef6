"""Fixes what is known of a formula's arguments before its kernel is compiled."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..model.formula import Expression, Formula, IsNone
from .expressions import FALSE, TRUE, substitute
from .simplify import simplify


def specialize(formula: Formula, absent: Collection[str] = ()) -> Formula:
    """Decide every `x is None`: the arguments in `absent` are None, all others are given.

    Absent arguments leave the signature; those that remain are no longer optional.
    """
    values: dict[Expression, Expression] = {}
    remaining = []
    for argument in formula.arguments:
        given = argument.name not in absent
        if argument.optional:
            values[IsNone(argument)] = FALSE if given else TRUE
            if given:
                values[argument] = replace(argument, optional=False)
        if given:
            remaining.append(replace(argument, optional=False))
    outputs = tuple(substitute(output, values) for output in formula.outputs)
    names = tuple((name, substitute(node, values)) for name, node in formula.names)
    return simplify(replace(formula, arguments=tuple(remaining), outputs=outputs, names=names))


def with_scalars(formula: Formula, names: Collection[str]) -> Formula:
    """Turn the tensor arguments in `names` into scalars, for an overload that takes numbers."""
    arguments = tuple(
        replace(argument, kind="scalar")
        if argument.name in names and argument.kind == "tensor"
        else argument
        for argument in formula.arguments
    )
    values: dict[Expression, Expression] = {
        old: new for old, new in zip(formula.arguments, arguments, strict=True) if old != new
    }
    outputs = tuple(substitute(output, values) for output in formula.outputs)
    shared = tuple((name, substitute(node, values)) for name, node in formula.names)
    return replace(formula, arguments=arguments, outputs=outputs, names=shared)
