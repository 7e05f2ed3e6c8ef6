"""Emits torchgen_out/functions/foreach.py: operators over lists of tensors, `_foreach_add`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model.operator import Operator
from ..model.program import Program
from ..model.schema import Argument
from ..model.vocabulary import FOREACH_OPERAND, FOREACH_SYNONYMS
from ..record import record
from ..write import File
from . import naming, translate
from .environment import render
from .imports import member_order


@record
class Foreach:
    """One function over lists."""

    name: str
    doc: str
    module: str
    """Module below torchgen_out.functions of what is called for every tensor."""
    function: str
    parameters: str
    kinds: str
    """What may stand in the place of each operand, as runtime/bindings/foreach.py names it."""
    operands: str
    row: str
    """The operands of one call; a lone one as a tuple."""
    call: str
    is_inplace: bool
    synonyms: str
    """Other words for parameters, as the body of a dict; empty if there are none."""


def emit(program: Program) -> Iterable[File]:
    """Emit one function for every name of the key `foreach`, and its in-place variant."""
    items = list(_items(program))
    if items or program.is_library:
        yield render(
            "functions/foreach.py",
            "foreach.py.jinja",
            package=program.package,
            items=items,
            modules=sorted({item.module for item in items}),
            names=sorted((item.name for item in items), key=member_order),
        )


def _items(program: Program) -> Iterator[Foreach]:
    families: dict[str, list[Operator]] = {}
    for operator in program.operators:
        for name in operator.foreach:
            families.setdefault(name, []).append(operator)
    for name, entries in families.items():
        yield _item(program, name, entries, entries[0].is_inplace)
        if entries[0].has_inplace:
            yield _item(program, f"{name}_", entries[:1], True)


def _item(program: Program, name: str, entries: list[Operator], is_inplace: bool) -> Foreach:
    """The function over lists of one operator; entries: those of its family that take part."""
    first = entries[0]
    operands = [a for a in first.arguments if _is_listed(a)]
    names = [translate.parameter(a) for a in operands]
    given = [
        f"{translate.parameter(a)}={translate.parameter(a)}"
        if a.is_keyword_only
        else translate.parameter(a)
        for a in first.arguments
    ]
    kinds = _kinds(entries)
    is_variant = is_inplace and not first.is_inplace
    return Foreach(
        name=f"_foreach_{name}",
        doc="\n    ".join(
            str(entry.inplace_schema if is_variant else entry.schema) for entry in entries
        ),
        module=_module(program, entries),
        function=_function(program, entries, is_variant),
        parameters=_parameters(first),
        kinds=", ".join(kinds) + ("," if len(kinds) == 1 else ""),
        operands=", ".join(names),
        row=", ".join(names) if len(names) > 1 else translate.tuple_of(names),
        call=", ".join(given),
        is_inplace=is_inplace,
        synonyms=", ".join(f'"{word}": "{name}"' for word, name in _synonyms(operands)),
    )


def _synonyms(operands: list[Argument]) -> Iterator[tuple[str, str]]:
    """PyTorch's words, each with our name of the parameter."""
    for argument in operands[1:]:
        own = translate.parameter(argument)
        is_either = argument.type.is_tensor and "Scalar" in argument.type.names
        words = FOREACH_SYNONYMS.get(argument.name, FOREACH_OPERAND if is_either else ())
        yield from ((word, own) for word in words if word != own)


def _is_listed(argument: Argument) -> bool:
    """Whether an argument may be a list with one value for every tensor."""
    return argument.type.is_tensor or argument.type.names == ("Scalar",)


def _module(program: Program, entries: list[Operator]) -> str:
    return "overloads" if len(entries) > 1 else naming.kind_of(entries[0])


def _function(program: Program, entries: list[Operator], is_inplace: bool) -> str:
    """One entry's own binding, or what tells several apart."""
    if len(entries) > 1:
        return f"{entries[0].base_name}{'_' if is_inplace else ''}"
    name = naming.inplace_name if is_inplace else naming.function_name
    return name(program, entries[0])


def _parameters(operator: Operator) -> str:
    """Numbers may be given by position, in lists as well, wherever the operator wants a name."""
    has_synonyms = any(_synonyms([a for a in operator.arguments if _is_listed(a)]))
    listed = [a for a in operator.arguments if _is_listed(a) or not a.is_keyword_only]
    parts = [_parameter(a, has_synonyms and i > 0) for i, a in enumerate(listed)]
    others = [a for a in operator.arguments if a.is_keyword_only and not _is_listed(a)]
    rest = [_parameter(a, False) for a in others]
    words = ["**words: Any"] if has_synonyms else []
    return ", ".join([*parts, *(["*", *rest] if rest else []), *words])


def _parameter(argument: Argument, may_miss: bool) -> str:
    """may_miss: whether it may have been given by another name."""
    name = translate.parameter(argument)
    annotation = "Any" if _is_listed(argument) else translate.annotation(argument.type)
    missing = " = MISSING" if may_miss else ""
    default = f" = {translate.default(argument.default)}" if argument.default else missing
    return f"{name}: {annotation}{default}"


def _kinds(entries: list[Operator]) -> list[str]:
    """For every operand, what the entries accept in its place together."""
    columns = zip(*([a for a in e.arguments if _is_listed(a)] for e in entries), strict=True)
    return [_kind({name for a in column for name in a.type.names}) for column in columns]


def _kind(names: set[str]) -> str:
    if names == {"Tensor"}:
        return "TENSORS"
    return "NUMBERS" if names == {"Scalar"} else "TENSORS_OR_NUMBERS"
