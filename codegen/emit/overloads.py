"""Emits torchgen_out/functions/overloads.py: the functions of families of several entries.

Which entry a call means is found at run time, by the signatures that are emitted here. Families
that are tagged `frequent` first try the shortest calls of their entries, by the arguments' classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model.operator import Operator
from ..model.program import Program
from ..model.schema import Argument
from ..record import record
from ..write import File
from . import calling, functions, naming, translate
from .environment import render


@record
class Entry:
    """One entry of a family."""

    function: str
    signature: str
    """Its parameters as people give them, as a Python string."""
    short_call: str
    """The test of `args` that is true of its shortest call; empty if there is no need for one."""
    named_call: str
    """The same with an argument by name that only this entry has."""


@record
class Family:
    """The function users call."""

    name: str
    schemas: tuple[str, ...]
    entries: tuple[Entry, ...]
    takes_words: bool
    """Whether it takes NumPy's words for parameters."""

    @property
    def short_calls(self) -> list[Entry]:
        """The entries whose shortest calls are tried first."""
        return [entry for entry in self.entries if entry.short_call]

    @property
    def named_calls(self) -> list[Entry]:
        """The same where one argument is given by name."""
        return [entry for entry in self.entries if entry.named_call]


def emit(program: Program) -> Iterable[File]:
    """Emit one function per overloaded family, and per overloaded in-place family."""
    families = []
    for name, operators in overloaded(program):
        families.append(_family(program, name, operators, inplace=False))
        with_inplace = tuple(o for o in operators if o.has_inplace)
        if with_inplace:
            families.append(_family(program, f"{name}_", with_inplace, inplace=True))
    imports = {
        kind: sorted(
            name
            for _, operators in overloaded(program)
            for operator in operators
            if naming.kind_of(operator) == kind
            for name in _bound_names(program, operator)
        )
        for kind in naming.KIND_NAMES
    }
    if families or program.is_library:
        yield render(
            "functions/overloads.py",
            "overloads.py.jinja",
            package=program.package,
            families=families,
            imports={kind: names for kind, names in imports.items() if names},
        )


def overloaded(program: Program) -> Iterator[tuple[str, tuple[Operator, ...]]]:
    """The families of several entries, by name."""
    for name, operators in program.families.items():
        if len(operators) > 1:
            yield name, operators


def _bound_names(program: Program, operator: Operator) -> Iterator[str]:
    yield naming.function_name(program, operator)
    if operator.has_inplace:
        yield naming.inplace_name(program, operator)


def _family(program: Program, name: str, operators: tuple[Operator, ...], inplace: bool) -> Family:
    return Family(
        name,
        tuple(str(o.inplace_schema if inplace else o.schema) for o in operators),
        tuple(_entry(program, operator, operators, inplace) for operator in operators),
        any(calling.takes_synonyms(operator) for operator in operators),
    )


def _entry(
    program: Program, operator: Operator, family: tuple[Operator, ...], inplace: bool
) -> Entry:
    name = naming.inplace_name if inplace else naming.function_name
    gathered = _gathered(operator, family)
    is_frequent = any(each.has_tag("frequent") for each in family)
    return Entry(
        name(program, operator),
        translate.literal(_signature(operator, gathered, inplace)),
        _short_call(operator, gathered, family) if is_frequent else "",
        _named_call(operator, family) if is_frequent else "",
    )


def _signature(operator: Operator, gathered: Argument | None, inplace: bool) -> str:
    """`Tensor input, int dim, *, Tensor? out=None`."""
    parts = [_parameter(operator, a, a is gathered) for a in operator.schema.positional]
    named = [_parameter(operator, a, False) for a in operator.schema.keyword_only]
    if operator.has_out and not inplace:
        several = len(operator.schema.returns) > 1
        named.append(f"{'Tensor[]' if several else 'Tensor'}? out=None")
    if operator.has_tag("factory"):
        named.append("bool requires_grad=False")
    return ", ".join([*parts, *(["*", *named] if named else [])])


def _parameter(operator: Operator, argument: Argument, is_gathered: bool) -> str:
    name = (
        translate.first_parameter(operator)
        if argument.name == "self"
        else translate.parameter(argument)
    )
    default = "" if argument.default is None else f"={argument.default}"
    return f"{argument.type.plain} {'*' if is_gathered else ''}{name}{default}"


def _gathered(operator: Operator, family: tuple[Operator, ...]) -> Argument | None:
    """The list that may be given as several arguments.

    None where another entry takes one integer in its place: `hsplit(x, 3)`.
    """
    name = functions.varargs_parameter(operator)
    for position, argument in enumerate(operator.schema.positional):
        if name and translate.parameter(argument) == name:
            others = [o.schema.positional[position : position + 1] for o in family]
            return None if any(o and o[0].type.is_int for o in others) else argument
    return None


_CLASSES = {
    "Tensor": "is Tensor",
    "Tensor|Scalar": "in OPERANDS",
    "int": "is int",
    "SymInt": "is int",
    "int[]": "is int",
    "SymInt[]": "is int",
    "float": "is float",
    "ScalarType": "is Dtype",
}
"""How a value shows at first sight that it is of a type; a list, by the first that it gathers."""

_LIST = "in LISTS"
"""How one shows that is given as one argument, where no other entry takes another kind of list."""


def _short_call(operator: Operator, gathered: Argument | None, family: tuple[Operator, ...]) -> str:
    """The calls by position that other entries do not take, too; empty if there are none."""
    required = [a for a in operator.schema.positional if a.is_required]
    if any(a.is_required for a in operator.schema.keyword_only):
        return ""
    least, most = len(required), _most(operator, required, family)
    if gathered:
        return _test(operator, required, f"len(args) >= {least}", family, gathered)
    count = f"len(args) == {least}" if least == most else f"{least} <= len(args) <= {most}"
    return _test(operator, required, count, family)


def _most(operator: Operator, required: list[Argument], family: tuple[Operator, ...]) -> int:
    """How many arguments a short call may have: fewer than an entry takes that begins alike."""
    least, most = len(required), len(operator.schema.positional)
    for other in family:
        positional = other.schema.positional
        pairs = zip(required, positional, strict=False)
        is_alike = all(own.type.plain == its.type.plain for own, its in pairs)
        by_name = any(a.is_required for a in other.schema.keyword_only)
        if other is not operator and len(positional) > least and is_alike and not by_name:
            most = min(most, max(least, sum(a.is_required for a in positional) - 1))
    return most


def _named_call(operator: Operator, family: tuple[Operator, ...]) -> str:
    """The call with what must be given, the last of it by a name that no other entry has."""
    *given, last = [a for a in operator.arguments if a.is_required]
    others = [o for o in family if o is not operator and o.arguments[0].type.is_tensor]
    is_shared = any(o.schema.argument(last.name) for o in others)
    if is_shared or not given or any(a.is_keyword_only or a.type.is_list for a in given):
        return ""
    test = _test(operator, given, f"len(args) == {len(given)}", family)
    return f'{test} and "{translate.parameter(last)}" in keywords' if test else ""


def _test(
    operator: Operator,
    given: list[Argument],
    count: str,
    family: tuple[Operator, ...],
    gathered: Argument | None = None,
) -> str:
    """Whether these arguments are given by position, as far as classes tell.

    Where all entries take the same, the entry says what is wrong. A tensor of no dims passes for a
    number: it means the first entry that takes either.
    """
    tests = [count]
    before = family[: family.index(operator)]
    for position, argument in enumerate(given):
        others = [a.type for o in family for a in o.schema.positional[position : position + 1]]
        types = {each.plain for each in others}
        if types == {argument.type.plain}:
            continue
        tried = {a.type.plain for o in before for a in o.schema.positional[position : position + 1]}
        if argument.type.plain == "Tensor" and "float" in tried:
            test = ""
        elif not argument.type.is_list or argument is gathered:
            test = _CLASSES.get(argument.type.plain, "")
        else:
            test = "" if len({each.plain for each in others if each.is_list}) > 1 else _LIST
        if not test:
            return ""
        tests.append(f"args[{position}].__class__ {test}")
    return " and ".join(tests)
