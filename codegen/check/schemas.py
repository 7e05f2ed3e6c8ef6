"""Rules about one schema: names, defaults, alias annotations."""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from ..errors import Related, SourceLocation
from ..model.operator import Composite, Operator, View
from ..model.schema import Argument, Default, Literal, Symbol, Type
from .rules import Context, Problem, operator_rule

_PLAIN_DEFAULTS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "SymInt": (int,),
    "DeviceIndex": (int,),
    "float": (int, float),
    "SymFloat": (int, float),
    "complex": (int, float),
    "Scalar": (int, float, bool),
    "bool": (bool,),
    "SymBool": (bool,),
    "str": (str,),
}
# fmt: off
_SYMBOLS: dict[str, frozenset[str]] = {
    "int": frozenset(("Mean", "Sum")),
    "ScalarType": frozenset((
        "byte", "char", "short", "int", "long", "half", "bfloat16", "float", "double", "bool",
        "chalf", "cfloat", "cdouble",
    )),
    "MemoryFormat": frozenset((
        "contiguous_format", "preserve_format", "channels_last", "channels_last_3d",
    )),
    "Layout": frozenset(("strided",)),
    "Device": frozenset(("cpu",)),
}
# fmt: on


def place_of(argument: Argument, operator: Operator) -> SourceLocation:
    """Return the place of an argument's type, or of the schema."""
    return argument.where or operator.where


@operator_rule("E203")
def out_is_keyword_only(operator: Operator, context: Context) -> Iterator[Problem]:
    """An out argument stands after `*`."""
    for argument in operator.schema.positional:
        if argument.name == "out" or (argument.type.is_written and argument.name.startswith("out")):
            where = place_of(argument, operator)
            message = f"{operator.name}: {argument.name} must be keyword-only"
            yield Problem(where, message, "put '*' before it", width=len(str(argument)))


@operator_rule("E204")
def argument_names_differ(operator: Operator, context: Context) -> Iterator[Problem]:
    """No two arguments have one name."""
    first: dict[str, Argument] = {}
    for argument in operator.arguments:
        if argument.name in first:
            earlier = Related(place_of(first[argument.name], operator), "first given here")
            message = f"{operator.name}: argument '{argument.name}' is given twice"
            where = place_of(argument, operator)
            yield Problem(where, message, None, (earlier,), len(str(argument)))
        first.setdefault(argument.name, argument)


@operator_rule("E205")
def defaults_come_last(operator: Operator, context: Context) -> Iterator[Problem]:
    """No positional argument without a default follows one with a default."""
    before: Argument | None = None
    for argument in operator.arguments:
        if argument.is_keyword_only:
            return
        if argument.default is not None:
            before = argument
        elif before is not None:
            message = (
                f"{operator.name}: '{argument.name}' has no default, but '{before.name}' before "
                "it has one"
            )
            where = place_of(argument, operator)
            hint = f"give '{argument.name}' a default, or put it behind '*'"
            yield Problem(where, message, hint, width=len(str(argument)))


@operator_rule("E206")
def defaults_fit_their_types(operator: Operator, context: Context) -> Iterator[Problem]:
    """A default is a value of its argument's type."""
    for argument in operator.arguments:
        default = argument.default
        if default is not None and not default_fits(argument.type, default):
            message = (
                f"{operator.name}: the default {default} of '{argument.name}' is no value of its "
                f"type {argument.type}"
            )
            hint = _fitting(argument.type, default)
            yield Problem(place_of(argument, operator), message, hint, width=len(str(argument)))


def _fitting(type_: Type, default: Default) -> str | None:
    """What to write instead of a default that does not fit."""
    value, base = default.value, type_.element.base
    if value is None:
        return f"only a type that ends in ? accepts None: {type_}?"
    if type_.names == ("Tensor",):
        return "a tensor has no default but None: Tensor?, or Tensor|Scalar for a number"
    if isinstance(value, tuple) and type_.is_list and type_.list_size is not None:
        return f"{type_} is a list of {type_.list_size}; int[] may have any length"
    if isinstance(value, Symbol) and base == "str":
        return f'a string has quotes: "{value.name}"'
    if base == "bool":
        return "a bool is True or False"
    if base in _PLAIN_DEFAULTS:
        if isinstance(value, float):
            return "write a whole number, or make the type float"
        return "a number has no quotes" if isinstance(value, str) else None
    return f"one of {', '.join(sorted(_SYMBOLS[base]))}" if base in _SYMBOLS else None


def default_fits(type_: Type, default: Default) -> bool:
    """Whether a value is of a type; one element may stand for a list of given size.

    `int[1]` says only that: PyTorch has `int[1] dim=[-2,-1]`.
    """
    value = default.value
    if value is None:
        return type_.is_optional
    if not type_.is_list:
        return any(_is_a(name, value) for name in type_.names)
    if not isinstance(value, tuple):
        return type_.list_size is not None and any(_is_a(name, value) for name in type_.names)
    element = type_.element
    if type_.list_size not in (None, 1) and len(value) not in (0, 1, type_.list_size):
        return False
    return all(default_fits(element, Default(item, "")) for item in value)


def _is_a(name: str, value: Literal) -> bool:
    if isinstance(value, Symbol):
        return value.name in _SYMBOLS.get(name, ())
    if isinstance(value, bool):
        return bool in _PLAIN_DEFAULTS.get(name, ())
    return isinstance(value, _PLAIN_DEFAULTS.get(name, ()))


@operator_rule("E207")
def inplace_entry_writes_self(operator: Operator, context: Context) -> Iterator[Problem]:
    """An operator whose name ends in `_` takes `Tensor(a!) self` and returns `Tensor(a!)`."""
    if not operator.is_inplace:
        return
    self = operator.schema.argument("self")
    if self is None or not self.type.is_written:
        where = place_of(self, operator) if self else operator.where
        message = f"{operator.name}: an in-place operator needs 'Tensor(a!) self'"
        yield Problem(where, message, width=len(str(self)) if self else len(operator.name))
        return
    for result in operator.schema.returns:
        if result.type.alias != self.type.alias:
            message = f"{operator.name}: an in-place operator returns {self.type}"
            yield Problem(operator.where, message, width=len(operator.name))


@operator_rule("E208")
def view_shares_memory(operator: Operator, context: Context) -> Iterator[Problem]:
    """A view says so: an argument and every result carry an alias annotation without `!`."""
    if not isinstance(operator.kind, View):
        return
    shared = {s for a in operator.arguments if a.type.alias for s in a.type.alias.before}
    if not shared:
        self = next(iter(operator.tensor_arguments), None)
        where = place_of(self, operator) if self else operator.where
        message = f"{operator.name}: a view needs an alias annotation"
        yield Problem(where, message, "write Tensor(a) self ... -> Tensor(a)")
    elif not all(r.type.alias for r in operator.schema.returns):
        message = f"{operator.name}: the result of a view needs an alias annotation"
        yield Problem(operator.where, message, "write -> Tensor(a)", width=len(operator.name))


@operator_rule("E211")
def results_alias_arguments(operator: Operator, context: Context) -> Iterator[Problem]:
    """An alias set of a result is one of an argument."""
    sets = {s for a in operator.arguments if a.type.alias for s in a.type.alias.before}
    for result in operator.schema.returns:
        unknown = [
            s for s in (result.type.alias.before if result.type.alias else ()) if s not in sets
        ]
        if unknown:
            message = f"{operator.name}: no argument is in the alias set '{unknown[0]}'"
            yield Problem(operator.where, message, width=len(operator.name))


@operator_rule("E209")
def names_are_not_reserved(operator: Operator, context: Context) -> Iterator[Problem]:
    """No operator and no argument is called like a Python keyword, nor like a special method."""
    name = operator.base_name
    is_special = name.startswith("__") and name.endswith("__")
    if keyword.iskeyword(name) or is_special:
        message = f"'{name}' is reserved in Python"
        hint = f"the key `operators: {name}`" if is_special else f"call it '{name}_of' or the like"
        yield Problem(operator.where, message, hint, width=len(name))
    for argument in operator.arguments:
        if keyword.iskeyword(argument.name):
            where = place_of(argument, operator)
            message = f"{operator.name}: argument name '{argument.name}' is reserved in Python"
            hint = f"call it '{argument.name}_'"
            yield Problem(where, message, hint, width=len(str(argument)))


@operator_rule("E214")
def names_are_apart(operator: Operator, context: Context) -> Iterator[Problem]:
    """No operator is called as the table of another's calls: `_mul_Tensor` beside `mul.Tensor`."""
    name = operator.base_name
    if not name.startswith("_"):
        return
    tables = {name[1:].removesuffix(ending) for ending in ("", "_inplace", "_out")}
    bases = {table[:at] for table in tables for at in range(len(table) + 1)}
    for other in (each for base in bases for each in context.program.overloads(base)):
        if other.identifier in tables and type(other.kind) is type(operator.kind) is not Composite:
            message = f"'{name}' is what the table of calls of '{other.name}' is called"
            yield Problem(operator.where, message, "call it something else", width=len(name))


@operator_rule("E213")
def deprecated_orders_are_longer(operator: Operator, context: Context) -> Iterator[Problem]:
    """An older order gives every argument that must be given, more of them by position than now.

    What it gives by position and the schema by name only are numbers: so the two are told apart.
    """
    own = {argument.name: argument for argument in operator.arguments}
    for schema in operator.deprecated:
        where = schema.where or operator.where
        names = [argument.name for argument in schema.arguments]
        begin = f"{operator.name}: the older order"
        unknown = [name for name in names if name not in own]
        missing = [name for name, a in own.items() if a.is_required and name not in names]
        moved = [a for a in schema.arguments if a.name in own and own[a.name].is_keyword_only]
        if len(context.program.overloads(operator.base_name)) > 1:
            yield Problem(where, f"{begin} needs a family of one entry")
        elif schema.base_name != operator.base_name:
            yield Problem(where, f"{begin} is of '{schema.base_name}'")
        elif unknown or missing:
            told = f"has no '{missing[0]}'" if missing else f"has an unknown '{unknown[0]}'"
            yield Problem(where, f"{begin} {told}")
        elif len(schema.positional) <= len(operator.schema.positional):
            yield Problem(where, f"{begin} has no more positional arguments than the schema")
        elif not all(a.type.names == ("Scalar",) for a in moved):
            yield Problem(where, f"{begin} gives by position what is no Scalar")


@operator_rule("E212")
def out_variants_are_derived(operator: Operator, context: Context) -> Iterator[Problem]:
    """No entry has out arguments: `variants: out` makes the variant."""
    outs = operator.schema.out_arguments
    if outs:
        message = f"{operator.name}: out= variants are derived, not written"
        hint = f"add 'out' to the variants of '{operator.base_name}' and delete this entry"
        yield Problem(place_of(outs[0], operator), message, hint, width=len(str(outs[0])))
