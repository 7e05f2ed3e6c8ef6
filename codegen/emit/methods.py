"""Emits torchgen_out/methods.py: one explicit assignment per method of Tensor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model.operator import Operator
from ..model.program import Program
from ..record import record
from ..write import File
from . import functions, naming
from .environment import render


@record
class Assignment:
    """`Tensor.name = value`."""

    name: str
    value: str


def emit(program: Program) -> Iterable[File]:
    """Emit all methods, in-place variants, dunders and aliases."""
    kinds = {
        kind: [
            assignment
            for operator in naming.of_kind(program, kind)
            for assignment in _assignments(program, operator, kind)
        ]
        for kind in naming.KIND_NAMES
    }
    overloads = list(_family_assignments(program))
    yield render(
        "methods.py",
        "methods.py.jinja",
        package=program.package,
        groups=[
            *((kind, items) for kind, items in kinds.items() if items),
            *([("overloads", overloads)] if overloads else []),
        ],
    )


def public_aliases(operator: Operator) -> list[str]:
    """Aliases in the operator's own module: those without a dot."""
    return [name for name in operator.aliases if "." not in name]


def _assignments(program: Program, operator: Operator, kind: str) -> Iterator[Assignment]:
    overloaded = naming.is_overloaded(program, operator)
    if not overloaded and operator.has_method:
        value = f"{kind}.{naming.method_name(program, operator)}"
        if operator.has_tag("property"):
            setter = f", assigning({value})" if operator.has_tag("assignable") else ""
            value = f"property({value}{setter})"
        for name in (operator.base_name, *public_aliases(operator)):
            yield Assignment(name, value)
    if not overloaded and operator.has_inplace:
        for name in (operator.base_name, *public_aliases(operator)):
            yield Assignment(f"{name}_", f"{kind}.{operator.base_name}_")
    for name in operator.dunders:
        if name in operator.inplace_dunders:
            yield Assignment(name, f"{kind}.{naming.inplace_name(program, operator)}")
        elif functions.is_binary(operator):
            yield Assignment(name, f"{kind}.{name}")
        else:
            yield Assignment(name, f"{kind}.{naming.function_name(program, operator)}")


def _family_assignments(program: Program) -> Iterator[Assignment]:
    for name, operators in program.families.items():
        if len(operators) == 1:
            continue
        aliases = dict.fromkeys(a for o in operators for a in public_aliases(o))
        if any(o.has_method for o in operators):
            for public in (name, *aliases):
                yield Assignment(public, f"overloads.{name}")
        if any(o.has_inplace for o in operators):
            for public in (name, *aliases):
                yield Assignment(f"{public}_", f"overloads.{name}_")
