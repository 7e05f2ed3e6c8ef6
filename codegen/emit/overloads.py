"""Emits torchgen_out/functions/overloads.py: which of several entries of a family a call means.

A call is told apart by which parameters it gives and by their types. The tests of a family stand in
the order of its entries; each tests only what some other entry would not accept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..model.operator import Operator
from ..model.program import Program
from ..model.schema import Argument
from ..write import File
from . import calling, functions, naming, translate
from .environment import render

_TESTS = {
    "int": "is_int",
    "SymInt": "is_int",
    "float": "is_number",
    "Scalar": "is_number",
    "bool": "is_bool",
    "str": "is_str",
    "ScalarType": "is_dtype",
}


@dataclass(frozen=True, slots=True)
class Branch:
    """One entry of the family: when it is meant, and its call."""

    condition: str
    call: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """One entry of a family that is bound at the call: its parameters as rows."""

    function: str
    parameters: tuple[str, ...]
    """`(name, test, must_be_given, is_keyword_only, may_be_none)`, as Python."""


@dataclass(frozen=True, slots=True)
class Family:
    """The function users call."""

    name: str
    schemas: tuple[str, ...]
    parameters: str
    varargs: str
    several: str
    """When the positional arguments are what `varargs` gathers, rather than the first is."""
    branches: tuple[Branch, ...]
    candidates: tuple[Candidate, ...]
    """Instead of branches, where a name stands at different places in different entries."""
    synonyms: str
    """The class of NumPy's words that are taken."""
    is_unnamed: str
    """Whether all arguments were given by position."""
    keywords: str
    """By name what was given, or MISSING."""

    @property
    def quoted_schemas(self) -> tuple[str, ...]:
        """The schemas as Python strings."""
        return tuple(translate.literal(schema) for schema in self.schemas)


def emit(program: Program) -> Iterable[File]:
    """Emit one function per overloaded family, and per overloaded in-place family."""
    families = []
    for name, operators in program.families.items():
        if len(operators) > 1:
            families.append(_family(program, name, operators, inplace=False))
            with_inplace = tuple(o for o in operators if o.has_inplace)
            if with_inplace:
                families.append(_family(program, f"{name}_", with_inplace, inplace=True))
    imports = {
        kind: sorted(
            name
            for operators in program.families.values()
            if len(operators) > 1
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
            library=program.library,
            synonyms=calling.NAMES,
            imports={kind: names for kind, names in imports.items() if names},
        )


def _bound_names(program: Program, operator: Operator) -> Iterator[str]:
    yield naming.function_name(program, operator)
    if operator.has_inplace:
        yield naming.inplace_name(program, operator)


def positional_names(operators: tuple[Operator, ...]) -> list[str]:
    """The positional parameters of the family: those of its longest entry."""
    longest = max(operators, key=lambda o: len(o.schema.positional))
    return [translate.parameter(a) for a in longest.schema.positional]


def _family(program: Program, name: str, operators: tuple[Operator, ...], inplace: bool) -> Family:
    slots = positional_names(operators)
    first = "input" if any(o.has_function for o in operators) else "self"
    if slots[0] == "self":
        slots[0] = first
    varargs = _varargs(operators, slots)
    keyword = []
    for operator in operators:
        for argument in operator.arguments:
            parameter = _local(argument, first)
            if parameter not in slots and parameter not in keyword:
                keyword.append(parameter)
    has_out = not inplace and any(o.has_out for o in operators)
    is_factory = any(o.has_tag("factory") for o in operators)
    is_bound = any(_moves(operator, slots, first) for operator in operators)
    branches = [
        _branch(program, operator, operators, slots, keyword, first, inplace)
        for operator in operators
        if not is_bound
    ]
    words = _synonyms(operators, [*slots, *keyword])
    required = (
        slots[0]
        if not words
        and slots[0] != varargs
        and all(_local(o.arguments[0], first) == slots[0] for o in operators)
        else ""
    )
    return Family(
        name,
        tuple(str(o.inplace_schema if inplace else o.schema) for o in operators),
        (
            _bound_parameters([*slots, *keyword], has_out, is_factory)
            if is_bound
            else _parameters(slots, keyword, varargs, required, has_out, is_factory)
        )
        + (f", **_words: Unpack[{words}]" if words else ""),
        "" if is_bound else varargs,
        _several(operators, slots),
        tuple(branches),
        tuple(_candidate(program, operator, first, inplace) for operator in operators if is_bound),
        words,
        _is_unnamed([*slots, *keyword], has_out, is_factory),
        _keywords([*slots, *keyword], has_out, is_factory),
    )


def _synonyms(operators: tuple[Operator, ...], parameters: list[str]) -> str:
    """As for the binding of one entry; the family takes what all its entries together do."""
    own = {name: name for name in parameters}
    return next(filter(None, (calling.synonyms(operator, own) for operator in operators)), "")


def _moves(operator: Operator, slots: list[str], first: str) -> bool:
    """Whether a parameter's name is, at another place, that of another entry's parameter."""
    return any(
        _local(argument, first) != slots[position] and _local(argument, first) in slots
        for position, argument in enumerate(operator.schema.positional)
    )


def _bound_parameters(names: list[str], has_out: bool, is_factory: bool) -> str:
    parts = ["*args: Any", *(f"{name}: Any = MISSING" for name in names)]
    if has_out:
        parts.append("out: Any = None")
    if is_factory:
        parts.append("requires_grad: bool = False")
    return ", ".join(parts)


def _is_unnamed(names: list[str], has_out: bool, is_factory: bool) -> str:
    tests = [f"{name} is MISSING" for name in names]
    if has_out:
        tests.append("out is None")
    if is_factory:
        tests.append("not requires_grad")
    return " and ".join(tests)


def _keywords(names: list[str], has_out: bool, is_factory: bool) -> str:
    pairs = [f'"{name}": {name}' for name in names]
    if has_out:
        pairs.append('"out": MISSING if out is None else out')
    if is_factory:
        pairs.append('"requires_grad": requires_grad or MISSING')
    return ", ".join(pairs)


def _candidate(program: Program, operator: Operator, first: str, inplace: bool) -> Candidate:
    """An entry's function, and its parameters as rows."""
    rows = [
        f'("{_local(argument, first)}", {type_test(argument)}, {argument.default is None}, '
        f"{argument.is_keyword_only}, {argument.type.is_optional})"
        for argument in operator.arguments
    ]
    if operator.has_out and not inplace:
        rows.append('("out", is_given, False, True, True)')
    if operator.has_tag("factory"):
        rows.append('("requires_grad", is_bool, False, True, False)')
    name = naming.inplace_name if inplace else naming.function_name
    return Candidate(name(program, operator), tuple(rows))


def _varargs(operators: tuple[Operator, ...], slots: list[str]) -> str:
    """The slot that takes several positional arguments, if an entry allows it."""
    for operator in operators:
        name = functions.varargs_parameter(operator)
        if not name:
            continue
        positions = [translate.parameter(a) for a in operator.schema.positional]
        position = positions.index(name)
        if position == len(slots) - 1 and not _takes_int(operators, position):
            return slots[-1]
    return ""


def _takes_int(operators: tuple[Operator, ...], position: int) -> bool:
    """Whether some entry takes a single int where another takes several: `hsplit(x, 3)`."""
    types = [
        o.schema.positional[position].type for o in operators if len(o.schema.positional) > position
    ]
    return any(type_.base in ("int", "SymInt") and not type_.is_list for type_ in types)


def _several(operators: tuple[Operator, ...], slots: list[str]) -> str:
    """One tensor is no list of one where some entry takes a tensor there: `atleast_1d(x)`."""
    last = len(slots) - 1
    types = [o.schema.positional[last].type for o in operators if len(o.schema.positional) > last]
    if any(type_.is_tensor for type_ in types):
        return "len(args) > 1"
    return "len(args) > 1 or first.__class__ is int or is_item(first)"


def _local(argument: Argument, first: str) -> str:
    return first if argument.name == "self" else translate.parameter(argument)


def _parameters(
    slots: list[str],
    keyword: list[str],
    varargs: str,
    required: str,
    has_out: bool,
    is_factory: bool,
) -> str:
    parts = [
        "*args: Any"
        if slot == varargs
        else (f"{slot}: Any" if slot == required else f"{slot}: Any = MISSING")
        for slot in slots
    ]
    extra = ([f"{varargs}: Any = MISSING"] if varargs else []) + [
        f"{name}: Any = MISSING" for name in keyword
    ]
    if has_out:
        extra.append("out: Any = None")
    if is_factory:
        extra.append("requires_grad: bool = False")
    if extra and not varargs:
        parts.append("*")
    return ", ".join(parts + extra)


def _branch(
    program: Program,
    operator: Operator,
    family: tuple[Operator, ...],
    slots: list[str],
    keyword: list[str],
    first: str,
    inplace: bool,
) -> Branch:
    """The tests that tell this entry's calls from the others'."""
    own: dict[str, list[str]] = {}
    tests = []
    used = set()
    for position, argument in enumerate(operator.arguments):
        local = _local(argument, first)
        places = [local]
        if not argument.is_keyword_only and slots[position] != local:
            places.insert(0, slots[position])
        own[argument.name] = places
        used.update(places)
    for position, argument in enumerate(operator.arguments):
        if len(own[argument.name]) > 1:
            tests.append(_given_once(argument, own[argument.name]))
        if not _discriminates(argument, position, operator, family):
            if argument.is_required and len(own[argument.name]) == 1:
                tests.append(f"{own[argument.name][0]} is not MISSING")
            continue
        tests.append(_given_test(argument, own[argument.name]))
    unused = [name for name in [*slots, *keyword] if name not in used]
    tests += [f"{name} is MISSING" for name in unused]
    gathered = functions.varargs_parameter(operator)
    arguments = [
        _pass(argument, own[argument.name], translate.parameter(argument) == gathered)
        for argument in operator.arguments
    ]
    if not inplace and operator.has_out:
        arguments.append("out=out")
    elif not inplace and any(o.has_out for o in family):
        tests.append("out is None")
    if operator.has_tag("factory"):
        arguments.append("requires_grad=requires_grad")
    elif any(o.has_tag("factory") for o in family):
        tests.append("not requires_grad")
    name = (
        naming.inplace_name(program, operator)
        if inplace
        else naming.function_name(program, operator)
    )
    return Branch(" and ".join(tests) or "True", f"{name}({', '.join(arguments)})")


def _discriminates(
    argument: Argument, position: int, operator: Operator, family: tuple[Operator, ...]
) -> bool:
    """Whether an entry of the family lacks the argument or gives it another type."""
    for other in family:
        if other is operator:
            continue
        if argument.is_keyword_only:
            twin = other.schema.argument(argument.name)
        else:
            twin = (
                other.schema.positional[position]
                if position < len(other.schema.positional)
                else None
            )
        if twin is None or twin.type != argument.type or twin.name != argument.name:
            return True
        if (twin.default is None) != (argument.default is None):
            return True
    return False


def _given_once(argument: Argument, places: list[str]) -> str:
    """By position or by name: not both, and one of them if it must be given."""
    first, second = places
    if argument.default is None:
        return f"({first} is MISSING) != ({second} is MISSING)"
    return f"({first} is MISSING or {second} is MISSING)"


def _given_test(argument: Argument, places: list[str]) -> str:
    value = _value(places)
    test = f"{type_test(argument)}({value.removeprefix('(').removesuffix(')')})"
    if argument.type.is_optional:
        test = f"({value} is None or {test})"
    if argument.default is not None:
        missing = " and ".join(f"{place} is MISSING" for place in places)
        return f"({missing} or {test})" if len(places) == 1 else f"(({missing}) or {test})"
    return test


def _value(places: list[str]) -> str:
    if len(places) == 1:
        return places[0]
    return f"({places[1]} if {places[0]} is MISSING else {places[0]})"


def type_test(argument: Argument) -> str:
    """The predicate of a schema type."""
    type_ = argument.type
    if type_.is_list:
        if type_.base == "Tensor":
            return "is_tensors"
        if type_.base in ("Scalar", "float"):
            return "is_numbers"
        if type_.list_size:  # a single number stands for all
            return "is_int_or_ints"
        return "is_ints" if len(type_.modifiers) == 1 else "is_given"
    if type_.is_union:
        return "is_number_or_tensor"
    if type_.base == "Tensor":
        return "is_tensor"
    return _TESTS.get(type_.base, "is_given")


def _pass(argument: Argument, places: list[str], is_gathered: bool) -> str:
    """The value handed on, by keyword where the schema says so."""
    value = _value(places)
    if argument.default is not None:
        fallback = translate.default(argument.default)
        value = f"{fallback} if {_all_missing(places)} else {value}"
    if argument.is_keyword_only or is_gathered:
        return f"{translate.parameter(argument)}={value}"
    return value[1:-1] if value == _value(places) and len(places) > 1 else value


def _all_missing(places: list[str]) -> str:
    return " and ".join(f"{place} is MISSING" for place in places)
