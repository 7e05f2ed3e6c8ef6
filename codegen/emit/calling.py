"""How else a binding may be called: by NumPy's words, in an older order, with something missing.

All of it costs an ordinary call one look at an empty dictionary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from ..model.operator import Composite, Operator
from ..model.vocabulary import SYNONYMS
from ..record import record
from . import argument_checks, translate

COMBINATIONS = tuple(
    names for count in range(1, len(SYNONYMS) + 1) for names in combinations(SYNONYMS, count)
)
"""The parameters that have other words, as functions may have them together."""


NAMES = ("Unpack", *("".join(map(str.capitalize, names)) for names in COMBINATIONS))
"""What bindings import from `synonyms.py`: `InputDim` has the words for `input` and `dim`."""


@record
class Forms:
    """What a binding does with unusual calls; empty texts where there is nothing to do."""

    synonyms: str
    """Whether it takes NumPy's words: their class."""
    orders: tuple[str, ...]
    """Older orders: the names, as Python."""
    positional: str
    """The parameters before those that are left over."""
    named: str
    """The parameters that are given by name only."""
    unseen: str
    """When an argument is missing that neither a table nor a look at integers would notice."""
    required: str
    """The parameters that must be given."""
    asked: str
    """When a composite must ask the classes of its operands, or one is missing."""


def takes_synonyms(operator: Operator) -> bool:
    """Whether PyTorch parses the call; what is in nn.functional is mostly Python there."""
    return not operator.is_internal and operator.python_module != "nn.functional"


def synonyms(operator: Operator, names: dict[str, str], has_out: bool | None = None) -> str:
    """The class of the words for some of the parameters, or the empty string.

    Python calls a function faster whose parameters may all be given by position; of these, only
    those with dims have words.
    """
    own = set(names.values())
    is_taken = any(word in own for words in SYNONYMS.values() for word in words)
    has_named = operator.schema.keyword_only or (operator.has_out if has_out is None else has_out)
    is_worth_it = has_named or operator.has_tag("factory") or own & {"dim", "keepdim"}
    return class_of(own) if is_worth_it and not is_taken and takes_synonyms(operator) else ""


def itself(name: str, names: dict[str, str]) -> str:
    """A function as its own body names it: `pad` has a parameter `pad`."""
    return f'globals()["{name}"]' if name in names.values() else name


def class_of(parameters: Iterable[str]) -> str:
    """`InputDim`: the class of the words for these parameters, as far as they have some."""
    own = set(parameters)
    return "".join(name.capitalize() for name in SYNONYMS if name in own)


def forms(
    operator: Operator, names: dict[str, str], varargs: str, has_out: bool, is_inplace: bool = False
) -> Forms:
    """The unusual calls of one binding."""
    words = synonyms(operator, names, has_out)
    positional = [names[a.name] for a in operator.schema.positional]
    named = [names[a.name] for a in operator.schema.keyword_only] + (["out"] if has_out else [])
    required = [names[a.name] for a in operator.schema.positional if a.is_required]
    return Forms(
        words,
        tuple(_order(names, [a.name for a in schema.arguments]) for schema in operator.deprecated),
        ", ".join(positional),
        ", ".join(f"{name}={name}" for name in named),
        " or ".join(f"{name} is MISSING" for name in _unseen(operator, names, varargs, is_inplace))
        if words
        else "",
        ", ".join(f"{name}={name}" for name in required),
        " or ".join(_asked(operator, names)),
    )


def _order(names: dict[str, str], order: list[str]) -> str:
    return translate.literal(tuple(names[name] for name in order))


def _unseen(
    operator: Operator, names: dict[str, str], varargs: str, is_inplace: bool
) -> Iterator[str]:
    """The required parameters at which nothing looks before they are used.

    A table looks at operands; so do composites, but for those in place.
    """
    looks = not (is_inplace and isinstance(operator.kind, Composite))
    checks = argument_checks.checks(operator, names)
    looked_at = {check.parameter for check in checks if check.unusual} | {varargs}
    for argument in operator.schema.positional:
        name = names[argument.name]
        if not argument.is_required or name in looked_at:
            continue
        if not (looks and operator.role(argument).is_operand):
            yield name


def _asked(operator: Operator, names: dict[str, str]) -> Iterator[str]:
    """The tests for operands that are no plain tensors; tables have the same in their keys.

    A factory has no operands: no class is plain where a mode is to see every call.
    """
    if not isinstance(operator.kind, Composite):
        return
    if not any(argument.type.holds_tensors for argument in operator.arguments):
        yield "not PLAIN and state.modes"
    for argument in operator.arguments:
        name = names[argument.name]
        if argument.type.is_tensor_list:
            plain = _PLAIN_CLASSES[translate.only_tensors(argument.type.element)]
            yield f"holds_others({name}, {plain})"
        elif argument.type.holds_tensors:
            yield f"{name}.__class__ not in {_PLAIN_CLASSES[translate.only_tensors(argument.type)]}"


_PLAIN_CLASSES = {"": "PLAIN", "tensor": "TENSORS", "tensor?": "OPTIONAL_TENSORS"}
"""The set of classes that nobody has to ask, by kind of the argument."""
