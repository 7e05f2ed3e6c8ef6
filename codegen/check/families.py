"""Rules that span entries: nothing is defined twice, every overload can be reached."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import Related
from ..model.operator import METHOD, Operator
from ..model.schema import Argument, Schema, Type
from .rules import Context, Problem, program_rule

_ACCEPTS: dict[str, tuple[str, ...]] = {
    "int": ("int",),
    "SymInt": ("int",),
    "DeviceIndex": ("int",),
    "float": ("int", "float"),
    "SymFloat": ("int", "float"),
    "complex": ("int", "float", "complex"),
    "Scalar": ("int", "float", "complex", "bool"),
    "bool": ("bool",),
    "SymBool": ("bool",),
}
"""What a Python value may be for a schema type; other types accept values of their own."""


def _first(operator: Operator, message: str = "first defined here") -> tuple[Related, ...]:
    return (Related(operator.where, message),)


@program_rule("E501")
def names_are_unique(context: Context) -> Iterator[Problem]:
    """No two entries define one operator."""
    first: dict[str, Operator] = {}
    for operator in context.program.operators:
        earlier = first.setdefault(operator.name, operator)
        if earlier is not operator:
            message = f"operator '{operator.name}' is defined twice"
            hint = "another overload needs another name after the dot"
            width = len(operator.name)
            yield Problem(operator.where, message, hint, _first(earlier), width)


@program_rule("E502")
def overloads_are_reachable(context: Context) -> Iterator[Problem]:
    """No call of an overload is always taken by an earlier one."""
    for family in context.program.families.values():
        for i, later in enumerate(family):
            for earlier in family[:i]:
                if earlier.name != later.name and _hides(earlier, later):
                    message = (
                        f"{later.name} is never reached: {earlier.name} accepts the same calls"
                    )
                    related = _first(earlier, "the earlier overload")
                    hint = "put the more specific overload first, or unite the two"
                    yield Problem(later.where, message, hint, related, len(later.name))


def _hides(earlier: Operator, later: Operator) -> bool:
    ways = [later.has_function and not earlier.has_function]
    ways.append(later.has_method and not earlier.has_method)
    if any(ways) or later.python_module != earlier.python_module:
        return False
    return accepts_all_calls(earlier.schema, later.schema)


def accepts_all_calls(wide: Schema, narrow: Schema) -> bool:
    """Whether every call that fits `narrow` fits `wide`, too."""
    positional = narrow.positional
    if len(positional) > len(wide.positional):
        return False
    pairs = list(zip(wide.positional, positional, strict=False))
    by_name = {argument.name: argument for argument in wide.arguments}
    for argument in narrow.keyword_only:
        if argument.name not in by_name:
            return False
        pairs.append((by_name[argument.name], argument))
    given = {w.name for w, n in pairs if n.is_required}
    if any(a.is_required and not a.is_out and a.name not in given for a in wide.arguments):
        return False
    return all(_accepts(w.type, n.type) for w, n in pairs) and _same_names(pairs)


def _same_names(pairs: list[tuple[Argument, Argument]]) -> bool:
    """Whether optional arguments agree in name: else keywords tell the overloads apart."""
    return all(wide.name == narrow.name for wide, narrow in pairs if not narrow.is_required)


def _accepts(wide: Type, narrow: Type) -> bool:
    return _values(wide) >= _values(narrow)


def _values(type_: Type) -> set[str]:
    """Return the kinds of Python value that a type accepts."""
    elements = {value for name in type_.names for value in _ACCEPTS.get(name, (name,))}
    values = set(elements)
    if type_.is_list:
        values = {f"{value}[]" for value in elements}
        values |= elements if type_.list_size is not None else set()
    return values | {"None"} if type_.is_optional else values


@program_rule("E503")
def public_names_are_unique(context: Context) -> Iterator[Problem]:
    """An alias, or a derived in-place name, is no other operator's name.

    A method may be called as functions are that are no methods.
    """
    owners = _base_names(context)
    for operator in context.program.operators:
        owners.setdefault(operator.base_name, operator)
    for operator in context.program.operators:
        for name, key, word in _derived_names(operator):
            owner = owners.setdefault(name, operator)
            if owner.base_name != operator.base_name and not _are_apart(operator, owner, context):
                message = f"{operator.name}: the name '{name}' is taken by '{owner.name}'"
                where = operator.places.word(word, key)
                yield Problem(where, message, None, _first(owner, "taken here"), len(word))


def _are_apart(method: Operator, owner: Operator, context: Context) -> bool:
    """Whether one offers nothing but a method, and the other's family none."""
    family = context.program.families.get(owner.base_name, (owner,))
    return method.variants == (METHOD,) and not any(each.has_method for each in family)


def _base_names(context: Context) -> dict[str, Operator]:
    """Who of the base package has each name."""
    base = context.program.base
    owners: dict[str, Operator] = {}
    for operator in base.operators if base else ():
        owners.setdefault(operator.base_name, operator)
        for name, _, _ in _derived_names(operator):
            owners.setdefault(name, operator)
    return owners


def _derived_names(operator: Operator) -> Iterator[tuple[str, str, str]]:
    """Yield (name, key that makes it, word of that key)."""
    for alias in operator.aliases:
        for name in operator.flat_names[1:]:
            if name.endswith(alias.rpartition(".")[2]):
                yield name, "aliases", alias
    if operator.has_inplace:
        yield f"{operator.base_name}_", "variants", "inplace"


@program_rule("E504")
def identifiers_are_unique(context: Context) -> Iterator[Problem]:
    """`a.b_c` and `a_b.c` would be one name in generated code."""
    first: dict[str, Operator] = {}
    for operator in context.program.operators:
        earlier = first.setdefault(operator.identifier, operator)
        if earlier.name != operator.name:
            message = f"'{operator.name}' and '{earlier.name}' are one name in generated code"
            yield Problem(operator.where, message, None, _first(earlier), len(operator.name))


@program_rule("E505")
def base_operators_stay(context: Context) -> Iterator[Problem]:
    """A package outside the tree does not define an operator of the base package again."""
    taken = _base_names(context)
    for operator in context.program.operators:
        owner = taken.get(operator.base_name)
        if owner is not None:
            message = f"operator '{operator.base_name}' is the base package's"
            related = _first(owner, "defined here")
            yield Problem(operator.where, message, "choose another name", related,
                          len(operator.base_name))  # fmt: skip


@program_rule("E508")
def families_name_their_results_alike(context: Context) -> Iterator[Problem]:
    """Entries of one family that name several results use the same names: they are one class."""
    first: dict[str, Operator] = {}
    for operator in context.program.operators:
        if not operator.has_named_results:
            continue
        earlier = first.setdefault(operator.base_name, operator)
        if earlier.result_names != operator.result_names:
            message = (
                f"{operator.name}: results are named {', '.join(operator.result_names)}, "
                f"those of '{earlier.name}' {', '.join(earlier.result_names)}"
            )
            yield Problem(operator.where, message, None, _first(earlier), len(operator.name))


@program_rule("E507")
def dunders_are_unique(context: Context) -> Iterator[Problem]:
    """A Python operator belongs to one family."""
    base = context.program.base
    first = {dunder: o for o in (base.operators if base else ()) for dunder in o.dunders}
    for operator in context.program.operators:
        for dunder in operator.dunders:
            earlier = first.setdefault(dunder, operator)
            if earlier.base_name != operator.base_name:
                message = f"{operator.name}: {dunder} is taken by '{earlier.name}'"
                where = operator.places.word(dunder, "operators")
                related = (Related(earlier.places.word(dunder, "operators"), "taken here"),)
                yield Problem(where, message, None, related, len(dunder))


@program_rule("E509")
def lists_are_run_by_one_family(context: Context) -> Iterator[Problem]:
    """A name of the key `foreach` belongs to one family, whose operators take and give a tensor."""
    first: dict[str, Operator] = {}
    for operator in context.program.operators:
        for name in operator.foreach:
            related: tuple[Related, ...] = ()
            earlier = first.setdefault(name, operator)
            if earlier.base_name != operator.base_name:
                message = f"{operator.name}: '_foreach_{name}' is taken by '{earlier.name}'"
                related = (Related(earlier.places.word(name, "foreach"), "taken here"),)
            elif len(operator.schema.returns) != 1 or not operator.tensor_arguments:
                message = f"{operator.name}: 'foreach' needs a tensor, and one result"
            else:
                continue
            where = operator.places.word(name, "foreach")
            yield Problem(where, message, None, related, len(name))


@program_rule("E510")
def frequent_families_have_a_choice(context: Context) -> Iterator[Problem]:
    """The tag `frequent` speaks of the choice between the entries of a family."""
    for operator in context.program.operators:
        if operator.has_tag("frequent") and len(context.program.families[operator.base_name]) == 1:
            message = f"{operator.name}: 'frequent' is for families of several entries"
            where = operator.places.word("frequent", "tags")
            yield Problem(where, message, "leave it out", width=len("frequent"))
