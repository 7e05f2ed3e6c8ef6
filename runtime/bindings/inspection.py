"""What `inspect.signature` shows of functions whose parameters it cannot see by itself.

NumPy's words come as `**_words`, and a function that several entries share gathers all its
arguments. Programs that look before they call, such as the Array API standard's suite, must see
what may be given.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from inspect import Parameter
from typing import Any

from torchgen_out._runtime.bindings.binding import Binder
from torchgen_out._runtime.bindings.calling import synonyms
from torchgen_out._runtime.core.missing import MISSING


def show(functions: Iterable[Any]) -> None:
    """Give functions of operators the `__signature__` by which they can be called."""
    for function in functions:
        code = getattr(function, "__code__", None)
        binder = code and function.__globals__.get(f"_{function.__name__}")
        if isinstance(binder, Binder) and binder.takes_words:
            function.__signature__ = inspect.Signature(_with_words(_of_family(binder)))
        elif code and "_words" in code.co_varnames and not hasattr(function, "__signature__"):
            function.__signature__ = _of_one(function)


def _of_one(function: Callable[..., Any]) -> inspect.Signature:
    own = inspect.signature(function)
    parameters = [each for each in own.parameters.values() if each.name != "_words"]
    return own.replace(parameters=_with_words(parameters))


def _of_family(binder: Binder) -> list[Parameter]:
    """The longest entry's positional parameters, and by name what any other entry has."""
    entries = [signature.parameters for _, signature in binder.entries]
    positional = max(
        ([each for each in parameters if not each.is_keyword_only] for parameters in entries),
        key=len,
    )
    found: dict[str, tuple[Any, Any]] = {}
    for kind, parameters in (
        (Parameter.POSITIONAL_OR_KEYWORD, positional),
        *((Parameter.KEYWORD_ONLY, parameters) for parameters in entries),
    ):
        for each in parameters:
            found.setdefault(each.name, (each, kind))
    # What an entry lacks need not be given, nor what stands behind it.
    missing_somewhere = {n for n in found if not all(n in [p.name for p in e] for e in entries)}
    shown, is_optional = [], False
    for name, (each, kind) in found.items():
        lacks = not each.is_required or name in missing_somewhere
        is_optional = lacks or (is_optional and kind is Parameter.POSITIONAL_OR_KEYWORD)
        shown.append(Parameter(name, kind, default=MISSING if is_optional else Parameter.empty))
    return shown


def _with_words(parameters: list[Parameter]) -> list[Parameter]:
    """The parameters, and by name the words for them that are none of their names."""
    taken = {each.name: each for each in parameters}
    words = [
        Parameter(word, Parameter.KEYWORD_ONLY, default=MISSING)
        for word, name in synonyms.items()
        if name in taken and word not in taken
    ]
    return sorted([*parameters, *words], key=lambda each: each.kind)
