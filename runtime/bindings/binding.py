"""Which entry of a family a call means: told from its arguments, once for each of their kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.bindings.arguments import (
    is_int_or_ints,
    is_ints,
    is_number,
    is_numbers,
    is_tensors,
)
from torchgen_out._runtime.bindings.calling import synonyms
from torchgen_out._runtime.bindings.signatures import Bound, Signature
from torchgen_out._runtime.core.device import device
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.layout import layout
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops, overrides

Function = Callable[..., Any]

OPERANDS = frozenset((Tensor, int, float))
"""Classes of what is a tensor or a number at first sight."""

LISTS = frozenset((tuple, list, Size))
"""Classes of what is a list at first sight."""

_TOLD = frozenset({int, float, complex, bool, str, type(None), dtype, device, layout})
"""Classes all of whose values pass the same tests."""

_LISTS: frozenset[Any] = frozenset({is_tensors, is_numbers, is_ints, is_int_or_ints})
"""Tests that look into lists."""


Check = tuple[Any, Callable[[Any], bool], tuple[Callable[[Any], bool], ...]]
"""Of an argument, by place or name: a test that its value passes, and those that it does not."""

Key = tuple[Any, ...]
"""The classes of positional arguments, the names of others, and their classes if these matter."""


class Binder(dict[Key, Function]):
    """The entries of a family by what is given.

    `binder[classes]` is the function of the entry that is meant, where the classes of arguments
    that are all positional tell it; the method that looks at their values, where they do not.
    """

    __slots__ = ("_names", "entries", "name", "takes_words")

    def __init__(self, name: str, *entries: tuple[Function, str], takes_words: bool = True) -> None:
        """entries: each a function and its signature, in the order in which they are tried."""
        self.name = name
        self.entries = [(function, Signature(text)) for function, text in entries]
        self.takes_words = takes_words
        self._names: frozenset[str] | None = None

    def __missing__(self, key: Key) -> Function:
        return self.positional

    def positional(self, *args: Any) -> Any:
        """Call with arguments that are all given by position.

        Raises: TypeError if no entry is meant.
        """
        return self._function(args, {})(*args)

    def named(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call with arguments of which some are given by name.

        Raises: TypeError if no entry is meant.
        """
        names = (*map(type, args), *keywords)
        function = self.get(names) or self.get((*names, *map(type, keywords.values())))
        if function is None:
            if self.takes_words and not self.names.issuperset(keywords):
                keywords = self._respelled(keywords)
            function = self._function(args, keywords)
        return function(*args, **keywords)

    @property
    def names(self) -> frozenset[str]:
        """The names of all entries' parameters."""
        if self._names is None:
            self._names = frozenset(each.name for _, s in self.entries for each in s.parameters)
        return self._names

    def _respelled(self, keywords: dict[str, Any]) -> dict[str, Any]:
        """Arguments with NumPy's words for them replaced by the names of our parameters."""
        found: dict[str, Any] = {}
        for word, value in keywords.items():
            name = word if word in self.names else synonyms.get(word, word)
            if name is not word and (name in keywords or name in found):
                raise errors.unexpected_keyword(self.name, word)
            found[name] = value
        return found

    def _function(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Function:
        """The function of the entry that is meant, from now on known by the shortest key."""
        bounds = [signature.bind(args, keywords) for _, signature in self.entries]
        for place, bound in enumerate(bounds):
            if bound is not None and not bound.missing and bound.accepts():
                function = self.entries[place][0]
                key: Key = (*map(type, args), *keywords)
                if keywords and _has_rivals(bounds, place):
                    key = (*key, *map(type, keywords.values()))
                checks = _checks(bounds, place, len(key) > len(args) + len(keywords))
                if checks is not None:
                    self[key] = self._checking(function, checks) if checks else function
                return function
        if overrides.state.modes or overrides.overriding((*args, *keywords.values())):
            return self._answered
        for name in keywords:
            if name not in self.names:
                raise errors.unexpected_keyword(self.name, name)
        raise self._no_overload(bounds, args, keywords)

    def _checking(self, function: Function, checks: Sequence[Check]) -> Function:
        """The function of an entry that is meant as long as these values pass the same tests."""

        def call(*args: Any, **keywords: Any) -> Any:
            for slot, own, rivals in checks:
                value = keywords[slot] if slot.__class__ is str else args[slot]
                if not own(value) or any(test(value) for test in rivals):
                    return self._function(args, keywords)(*args, **keywords)
            return function(*args, **keywords)

        return call

    def _answered(self, /, *args: Any, **keywords: Any) -> Any:
        """What the arguments' classes answer to a call that fits no entry."""
        return overrides.answer(getattr(ops, self.name), args, keywords)

    def _no_overload(
        self, bounds: Sequence[Bound | None], args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> TypeError:
        """The error for a call that fits no entry; it says of each whether only something lacks."""
        got = [type(arg).__name__ for arg in args]
        got += [f"{word}={type(value).__name__}" for word, value in keywords.items()]
        lines = []
        for (_, signature), bound in zip(self.entries, bounds, strict=True):
            lines.append(f"\n * ({signature.text})")
            if bound is not None and bound.missing and bound.accepts():
                names = ", ".join(f'"{name}"' for name in bound.missing)
                lines.append(f"\n      missing {len(bound.missing)} required arguments: {names}")
        return TypeError(
            f"{self.name}() received an invalid combination of arguments - "
            f"got ({', '.join(got)}), but expected one of:{''.join(lines)}"
        )


def _has_rivals(bounds: Sequence[Bound | None], place: int) -> bool:
    """Whether, but for the classes of arguments given by name, another entry may be meant."""
    return any(
        bound and not bound.missing and bound.accepts(only_positional=True)
        for at, bound in enumerate(bounds)
        if at != place
    )


def _checks(bounds: Sequence[Bound | None], place: int, by_all: bool) -> list[Check] | None:
    """What tells the entry at `place` beside the arguments' classes; None if that is not known.

    A tensor of no dims passes for a number where an earlier entry wants one, a tensor of one
    integer for that; a list may be what another entry wants. by_all: the classes are those of all
    arguments, not of the positional ones alone.
    """
    found = bounds[place]
    assert found is not None
    checks: list[Check] = []
    for slot, (parameter, value) in found.given.items():
        if slot.__class__ is str and not by_all:
            continue
        tests: set[Any] = {bound.test(slot) for bound in bounds if bound}
        rivals: set[Any] = {bound.test(slot) for bound in bounds[:place] if bound}
        if isinstance(value, Tensor):
            others = rivals.intersection({is_number})
            is_known = parameter.test is not is_number
        elif isinstance(value, (tuple, list)):
            others = tests.intersection(_LISTS) - {parameter.test}
            is_item = parameter.test is not is_tensors and value and isinstance(value[0], Tensor)
            is_known = not is_item and not (others and parameter.gathers)
        else:
            others, is_known = set(), value.__class__ in _TOLD
        if not is_known:
            return None
        if others:
            checks.append((slot, parameter.test, tuple(others.intersection(rivals))))
    return checks


def binder_of(function: Function) -> Binder | None:
    """Where the function of a family looks its entries up, beside which it stands."""
    found = getattr(function, "__globals__", {}).get(f"_{function.__name__}")
    return found if isinstance(found, Binder) else None
