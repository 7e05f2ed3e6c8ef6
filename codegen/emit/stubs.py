"""Emits type stubs: the methods of Tensor, and the families of several entries.

The bindings are annotated where they stand; what a type checker cannot see there are methods put
on the class by assignment, and which of several entries a call means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..model.operator import Operator
from ..model.program import Program
from ..record import record
from ..write import File
from . import functions, methods, naming, translate
from .environment import render

_BUILTINS = re.compile(r"(?<![.\w])(bool|int|float|complex|tuple|str|object)(?!\w)")
_TYPES = re.compile(r"(?<![.\w])(dtype|layout|device|memory_format)\b")


_BOOL_IN_OBJECT = ("__eq__", "__ne__")
"""Dunders that `object` declares to return bool."""


@record
class Signature:
    """One `def` of a stub."""

    name: str
    parameters: str
    result: str
    is_overload: bool
    is_property: bool
    comment: str = ""


def emit(program: Program) -> Iterable[File]:
    """Emit `tensor_methods.pyi` and `functions/overloads.pyi`."""
    yield render(
        "tensor_methods.pyi",
        "tensor_methods.pyi.jinja",
        package=program.package,
        signatures=list(_methods(program)),
    )
    families = [
        signature
        for name, operators in program.families.items()
        if len(operators) > 1
        for signature in (
            *_family(program, name, operators, inplace=False),
            *_family(program, f"{name}_", operators, inplace=True),
        )
    ]
    if families or program.is_library:
        yield render(
            "functions/overloads.pyi",
            "overloads.pyi.jinja",
            package=program.package,
            signatures=families,
        )


def _annotation(text: str) -> str:
    """One annotation with builtins and torch's types told apart."""
    text = _BUILTINS.sub(r"builtins.\1", text)
    return _TYPES.sub(r"_\1", text)


def _parameters(operator: Operator, first: str, varargs: str, has_out: bool) -> str:
    parts: list[str] = []
    keyword: list[str] = []
    for position, argument in enumerate(operator.arguments):
        name = first if argument.name == "self" else translate.parameter(argument)
        if position == 0 and first == "self" and argument.name == "self":
            parts.append("self")
            continue
        text = f"{name}: {_annotation(translate.annotation(argument.type))}"
        if argument.default is not None:
            text += " = ..."
        if name == varargs:
            parts.append("*args: Any")
            keyword.insert(0, f"{name}: Any = ...")
        elif argument.is_keyword_only or "*args: Any" in parts:
            keyword.append(text)
        else:
            parts.append(text)
    if has_out:
        several = len(operator.schema.returns) > 1
        out = "builtins.tuple[Tensor, ...]" if several else "Tensor"
        keyword.append(f"out: {out} | None = ...")
    if operator.has_tag("factory"):
        keyword.append("requires_grad: builtins.bool = ...")
    if keyword and "*args: Any" not in parts:
        parts.append("*")
    return ", ".join(parts + keyword)


def _signature(
    operator: Operator, name: str, first: str, is_overload: bool, inplace: bool
) -> Signature:
    varargs = functions.varargs_parameter(operator)
    result = (
        "Tensor"
        if inplace
        else _annotation(
            translate.result_annotation(operator.schema.returns, naming.named_tuple(operator))
        )
    )
    return Signature(
        name,
        _parameters(operator, first, varargs, operator.has_out and not inplace),
        result,
        is_overload,
        operator.has_tag("property") and first == "self",
    )


def _family(
    program: Program, name: str, operators: tuple[Operator, ...], inplace: bool
) -> Iterator[Signature]:
    members = [o for o in operators if o.has_inplace] if inplace else list(operators)
    first = "input" if any(o.has_function for o in operators) else "self_"
    for operator in members:
        yield _signature(operator, name, first, len(members) > 1, inplace)


def _methods(program: Program) -> Iterator[Signature]:
    for operators in program.families.values():
        if not any(o.has_method or o.has_inplace for o in operators):
            continue
        aliases = dict.fromkeys(a for o in operators for a in methods.public_aliases(o))
        names = (operators[0].base_name, *aliases)
        for inplace in (False, True):
            members = [
                o
                for o in operators
                if (o.has_inplace if inplace else o.has_method)
                and o.arguments
                and o.arguments[0].name == "self"
            ]
            for name in names if members else ():
                for operator in members:
                    yield _signature(
                        operator,
                        f"{name}_" if inplace else name,
                        "self",
                        len(members) > 1,
                        inplace,
                    )
    yield from _dunders(program)


def _dunders(program: Program) -> Iterator[Signature]:
    for operator in program.operators:
        for name in operator.dunders:
            unary = not functions.is_binary(operator)
            parameters = "self" if unary else "self, other: Any"
            comment = "  # type: ignore[override]" if name in _BOOL_IN_OBJECT else ""
            yield Signature(name, parameters, "Tensor", False, False, comment)
