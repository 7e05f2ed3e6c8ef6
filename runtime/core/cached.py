"""Caches of functions' results."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from torchgen_out._runtime.core.size import Size

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def cached(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """`functools.cache`, whose type forgets parameters and takes no class for an argument."""
    kept: Callable[..., _Result] = functools.cache(function)
    return kept


KEPT = 1024
"""Results that a function of numbers remembers before it begins anew."""


def cached_by_numbers(function: Callable[..., _Result]) -> Callable[..., _Result]:
    """The function of positional arguments, asked once for plain ones: numbers, words, None, sizes,
    and tuples or lists of numbers.

    For what calls say of geometry. A number of another type is another argument, and what is no
    plain one, a tensor that stands for a number say, is looked at in each call.
    """
    kept: dict[Any, _Result] = {}

    @functools.wraps(function)
    def find(*given: Any) -> _Result:
        key = _key_of(given)
        if key is None:
            return function(*given)
        try:
            return kept[key]
        except KeyError:
            pass
        found = function(*given)
        if len(kept) >= KEPT:
            kept.clear()
        kept[key] = found
        return found

    return find


_NUMBERS = frozenset({int, float, bool, type(None)})
_PLAIN = _NUMBERS | {str, Size}
_LISTED = _PLAIN | {tuple, list}


def _key_of(given: Sequence[Any]) -> Any:
    """Values and their types; None if some are not plain."""
    kinds = tuple(map(type, given))
    if _PLAIN.issuperset(kinds):
        return given, kinds
    if not _LISTED.issuperset(kinds):
        return None
    values: list[Any] = []
    for each in given:
        if each.__class__ is tuple or each.__class__ is list:
            items = tuple(map(type, each))
            if not _NUMBERS.issuperset(items):
                return None
            values += tuple(each), items
        else:
            values.append(each)
    return tuple(values), kinds
