"""Which entry of a family a call means, where names stand at different places in its entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime.bindings.arguments import is_number, no_overload
from torchgen_out._runtime.core.device import device
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.layout import layout
from torchgen_out._runtime.core.missing import MISSING
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops, overrides

Parameter = tuple[str, Callable[[Any], bool], bool, bool, bool]
"""Name, type test, whether it must be given, whether by name only, whether it may be None."""

_TOLD_BY_CLASS = frozenset({int, float, complex, bool, str, type(None), dtype, device, layout})
"""Classes all of whose values pass the same tests."""


class Entry:
    """One entry of a family: what is called, and its parameters."""

    __slots__ = ("function", "parameters")

    def __init__(self, function: Callable[..., Any], *parameters: Parameter) -> None:
        self.function = function
        self.parameters = parameters

    @property
    def schema(self) -> str:
        """The schema, with which the function's documentation begins."""
        return " ".join((self.function.__doc__ or "").partition("\n\n")[0].split())

    def fits(self, args: Sequence[Any], keywords: dict[str, Any]) -> bool:
        """Whether Python would bind the arguments, and each is of its parameter's type."""
        taken = 0
        for name, test, must_be_given, is_keyword_only, may_be_none in self.parameters:
            if not is_keyword_only and taken < len(args):
                if name in keywords:
                    return False
                value = args[taken]
                taken += 1
            elif name in keywords:
                value = keywords[name]
            elif must_be_given:
                return False
            else:
                continue
            if not (test(value) or (may_be_none and value is None)):
                return False
        names = {parameter[0] for parameter in self.parameters}
        return taken == len(args) and keywords.keys() <= names


class Binder:
    """The entries of a family, told apart once per combination of the arguments' kinds.

    Calling it calls the entry that is meant.
    Raises: TypeError if none fits.
    """

    __slots__ = ("entries", "known", "name", "told")

    def __init__(self, name: str, *entries: Entry) -> None:
        self.name = name
        self.entries = entries
        self.known: dict[tuple[Any, ...], Callable[..., Any]] = {}
        parameters = [parameter for entry in entries for parameter in entry.parameters]
        has_numbers = any(test is is_number for _, test, _, by_name, _ in parameters if not by_name)
        self.told = _TOLD_BY_CLASS if has_numbers else _TOLD_BY_CLASS | {Tensor}

    def __call__(self, args: tuple[Any, ...]) -> Any:
        told = self.told
        kinds = tuple([a.__class__ if a.__class__ in told else _kind(a) for a in args])
        function = self.known.get(kinds) or self._find(kinds, args, {})
        return function(*args)

    def named(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call with arguments of which some, those that are not MISSING, were given by name."""
        told = self.told
        kinds = [a.__class__ if a.__class__ in told else _kind(a) for a in args]
        given = {}
        for name, value in keywords.items():
            if value is not MISSING:
                given[name] = value
                kinds.append(name)
                kinds.append(value.__class__ if value.__class__ in _TOLD_BY_CLASS else _kind(value))
        function = self.known.get(tuple(kinds)) or self._find(tuple(kinds), args, given)
        return function(*args, **given)

    def _find(
        self, kinds: tuple[Any, ...], args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Callable[..., Any]:
        for entry in self.entries:
            if entry.fits(args, keywords):
                if None not in kinds:
                    self.known[kinds] = entry.function
                return entry.function
        if overrides.state.modes or overrides.overriding((*args, *keywords.values())):
            return self._answered
        schemas = tuple(entry.schema for entry in self.entries)
        raise no_overload(self.name, schemas, (*args, *keywords.values()))

    def _answered(self, /, *args: Any, **keywords: Any) -> Any:
        """What the arguments' classes answer to a call that fits no entry."""
        return overrides.answer(getattr(ops, self.name), args, keywords)


def _kind(value: Any) -> Any:
    """What the tests can see of a tensor or of a list of ints; None for what is not known."""
    if value.__class__ is Tensor:
        return Tensor, not value._sizes
    if value.__class__ in (tuple, list) and value and value[0].__class__ is int:
        return tuple
    return None
