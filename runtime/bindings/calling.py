"""Unusual calls of operators: by NumPy's words, in an older order, with something missing.

Bindings come here with what they do not understand, and are called again with what it means.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.bindings.arguments import is_number
from torchgen_out._runtime.core.missing import MISSING
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.dispatch import ops, overrides

Function = Callable[..., Any]

synonyms: dict[str, str] = {}
"""NumPy's words, and what parameters are called here; `torchgen_out/registrations.py` fills it."""


def respelled(function: Function, given: dict[str, Any]) -> Any:
    """The call of a function with words, by its own parameters' names.

    given: what the function was given, by parameter, defaults included; the words as `_words`.
    Raises: TypeError for another word, and for one whose parameter was given already.
    """
    defaults, name = _defaults(function), function.__name__.partition("__")[0]
    words, args, rest = given.pop("_words"), given.pop("args", ()), given.pop("_rest", ())
    for word, value in words.items():
        parameter = synonyms.get(word)
        if parameter not in given or given[parameter] is not defaults.get(parameter, MISSING):
            raise errors.unexpected_keyword(name, word)
        given[parameter] = value
    if rest:
        raise errors.too_many_arguments(name, len(given), len(given) + len(rest))
    if args:
        first = next(iter(given))
        if given[first] is not MISSING:
            args = (given.pop(first), *args)
    return function(*args, **{n: v for n, v in given.items() if v is not defaults.get(n, MISSING)})


@cache
def _defaults(function: Function) -> dict[str, Any]:
    """The defaults of a function's parameters by name."""
    code, values = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    by_position = dict(zip(names[len(names) - len(values) :], values, strict=True))
    return {**by_position, **(function.__kwdefaults__ or {})}


def reordered(
    function: Function, orders: Sequence[tuple[str, ...]], args: tuple[Any, ...], **named: Any
) -> Any:
    """The call of a function whose positional arguments stand in an older order.

    orders: the names of the parameters in each. named: the parameters that now are given by name
    only; in the older orders they are numbers.
    Raises: TypeError if no order fits.
    """
    defaults = _defaults(function)
    for order in orders:
        fits = len(order) == len(args) and all(
            (is_number(value) and named[name] is defaults[name])
            if name in named
            else isinstance(value, Tensor) or name == "other"
            for name, value in zip(order, args, strict=True)
        )
        if fits:
            warn(_deprecation(function, order))
            return function(**{**named, **dict(zip(order, args, strict=True))})
    count = len(defaults) - len(named)
    raise errors.too_many_arguments(function.__name__, count, len(args))


def _deprecation(function: Function, order: tuple[str, ...]) -> str:
    schema = " ".join((function.__doc__ or "").partition("\n\n")[0].split())
    name = function.__name__
    return (
        f"This overload of {name} is deprecated:\n\t{name}({', '.join(order)})\n"
        f"Consider using one of the following signatures instead:\n\t{schema}"
    )


def missing_arguments(operator: str, **required: Any) -> TypeError:
    """The error for a call that lacks some of its arguments."""
    return errors.arguments_missing(operator, [n for n, v in required.items() if v is MISSING])


def overridden(function: Function, given: dict[str, Any]) -> Any:
    """What the classes of a composite's arguments answer to its call; NotImplemented if none does.

    given: what the function was given, by parameter, defaults included.
    Raises: TypeError if something is missing.
    """
    args = given.pop("args", ()) if _gathers(function) else ()
    given = {each: v for each, v in given.items() if each not in ("_words", "_rest")}
    code, defaults = function.__code__, _defaults(function)
    name = function.__name__.partition("__")[0] or function.__name__
    if args:  # what was gathered from them is the first parameter behind
        del given[code.co_varnames[code.co_argcount]]
    missing = [each for each, value in given.items() if value is MISSING]
    if missing:
        raise errors.arguments_missing(name, missing)
    positional = list(given)[: code.co_argcount]
    while (
        not args and positional and given[positional[-1]] is defaults.get(positional[-1], MISSING)
    ):
        positional.pop()
    by_name = list(given.items())[code.co_argcount :]
    named = {each: v for each, v in by_name if v is not defaults.get(each, MISSING)}
    public = getattr(ops, name, function)
    return overrides.answer(public, (*(given[each] for each in positional), *args), named)


def _gathers(function: Function) -> bool:
    """Whether a function gathers `*args`; another may have a parameter of that name."""
    return bool(function.__code__.co_flags & inspect.CO_VARARGS)


def holds_others(values: Any, plain: set[type]) -> bool:
    """Whether a list of tensors holds something else than those of plain classes, or is no list."""
    if isinstance(values, (tuple, list)):
        return not plain.issuperset(map(type, values))
    return True
