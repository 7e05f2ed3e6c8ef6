"""Finds the operators that a person means: by schema name, public name, alias or dunder."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import did_you_mean
from ..model.operator import Operator
from ..model.program import Program


class UnknownOperator(Exception):
    """No operator has the name."""

    def __init__(self, name: str, program: Program) -> None:
        known = dict.fromkeys(n for o in program.operators for n in names(o))
        if program.base and any(name in names(o) for o in program.base.operators):
            hint: str | None = "it is the library's; leave out --functions to mean that"
        else:
            last = name.lower().split(".")[-1]
            hint = did_you_mean(last if last in known else name, known)
        hint = hint or f"{program.package}/reference lists all"
        super().__init__(f"no operator is called '{name}': {hint}")


def find(program: Program, name: str) -> tuple[Operator, ...]:
    """The operators called `name`; several for a family of overloads.

    Raises: UnknownOperator.
    """
    wanted = name
    for prefix in ("torch.", f"{program.package}.", "Tensor."):
        wanted = wanted.removeprefix(prefix)
    exact = program.operator(wanted)
    if exact is not None and exact.overload:
        return (exact,)
    found = tuple(operator for operator in program.operators if wanted in names(operator))
    if not found:
        raise UnknownOperator(name, program)
    return found


def names(operator: Operator) -> Iterator[str]:
    """Everything that an operator may be called."""
    yield operator.name
    for base in (operator.base_name, *operator.flat_names):
        yield base
        if operator.has_inplace:
            yield f"{base}_"
    yield operator.public_path
    for module, alias in operator.public_aliases:
        yield f"{module}.{alias}"
    yield from operator.dunders
