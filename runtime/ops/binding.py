"""Which entry of a family a call means, where names stand at different places in its entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.core.device import device
from runtime.core.dtype import dtype
from runtime.core.layout import layout
from runtime.core.tensor import Tensor
from runtime.ops.arguments import MISSING

Parameter = tuple[str, Callable[[Any], bool], Any, bool, bool]
"""Name, type test, default (MISSING if it must be given), keyword-only, may be None."""

_TOLD_BY_CLASS = frozenset(
    {int, float, complex, bool, str, type(None), dtype, device, layout, type(MISSING)}
)
"""Classes all of whose values pass the same tests."""


class Binder:
    """The entries of a family, told apart once per combination of the arguments' kinds.

    Calling it gives the position of the entry that is meant, with the values of its parameters as
    Python would bind them, or None and no values if there is none.
    """

    __slots__ = ("candidates", "known")

    def __init__(self, *candidates: tuple[Parameter, ...]) -> None:
        self.candidates = candidates
        self.known: dict[tuple[Any, ...], tuple[int, list[Any] | None]] = {}

    def __call__(
        self, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[int | None, list[Any]]:
        kinds = [
            each.__class__ if each.__class__ in _TOLD_BY_CLASS else _kind(each) for each in args
        ]
        names = [name for name, value in keywords.items() if value is not MISSING]
        if names:
            kinds += [_kind_of_named(name, keywords[name]) for name in names]
        known = self.known.get(tuple(kinds))
        if known is not None:
            choice, defaults = known
            if defaults is None:
                return choice, _values(args, keywords, self.candidates[choice])
            return choice, [*args, *defaults]
        for choice, parameters in enumerate(self.candidates):
            if _fits(args, keywords, parameters):
                if None not in kinds:
                    behind = [default for _, _, default, _, _ in parameters[len(args) :]]
                    self.known[tuple(kinds)] = choice, None if names else behind
                return choice, _values(args, keywords, parameters)
        return None, []


def _kind_of_named(name: str, value: Any) -> Any:
    """The name with what the tests can see of its value; None for what is not known."""
    kind = value.__class__ if value.__class__ in _TOLD_BY_CLASS else _kind(value)
    return kind if kind is None else (name, kind)


def _kind(value: Any) -> Any:
    """What the tests can see of a tensor or of a list of ints; None for what is not known."""
    if value.__class__ is Tensor:
        return Tensor, not value._sizes
    if value.__class__ in (tuple, list) and value and value[0].__class__ is int:
        return tuple
    return None


def _fits(args: Sequence[Any], keywords: dict[str, Any], parameters: tuple[Parameter, ...]) -> bool:
    """Whether Python would bind the arguments, and each is of its parameter's type."""
    used = set()
    for position, (name, test, default, is_keyword_only, may_be_none) in enumerate(parameters):
        value = keywords[name]
        if not is_keyword_only and position < len(args):
            if value is not MISSING:
                return False
            value = args[position]
        elif value is MISSING:
            if default is MISSING:
                return False
            continue
        if not (test(value) or (may_be_none and value is None)):
            return False
        used.add(name)
    positional = sum(not parameter[3] for parameter in parameters)
    given = {name for name, value in keywords.items() if value is not MISSING}
    return len(args) <= positional and given <= used


def _values(
    args: Sequence[Any], keywords: dict[str, Any], parameters: tuple[Parameter, ...]
) -> list[Any]:
    """The values of parameters that fit: positional ones, named ones, defaults."""
    values = [*args]
    for name, _, default, _, _ in parameters[len(args) :]:
        value = keywords[name]
        values.append(default if value is MISSING else value)
    return values
