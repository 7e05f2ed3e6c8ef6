"""What modes see besides operators: hand-written functions, methods and properties of tensors.

Operators ask modes by themselves, and so do classes about these functions; for modes alone nobody
could look without every call paying for it. So the functions themselves change, in place, when
the first mode of the process is entered: each stays the object that programs hold in their tables,
compare with `is` and have imported by name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.dispatch import overrides
from torchgen_out._runtime.tensor_api import subclassing

CREATORS = ("as_tensor", "asarray", "tensor")
"""Functions of the package that make tensors, and are no operators."""
NAMESPACES = ("nn.functional", "nn.init")


def let_modes_see() -> None:
    """Have operators and hand-written functions ask modes from here on, in all threads."""
    if overrides.InUse.modes:
        return
    overrides.use_modes()
    seen: set[int] = set()
    for function, public in _functions():
        if isinstance(function, FunctionType) and id(function) not in seen:
            seen.add(id(function))
            _ask_first(function, public)


def _functions() -> Iterator[tuple[Any, Callable[..., Any]]]:
    """The functions, and what a mode is told was called."""
    for _, member in subclassing.own_attributes():
        if isinstance(member, property):
            yield member.fget, member.__get__
            yield member.fset, member.__set__
            yield member.fdel, member.__delete__
        else:
            yield member, member
    for name in CREATORS:
        yield getattr(torch, name), getattr(torch, name)
    for path in NAMESPACES:
        place = getattr(torch.nn, path.partition(".")[2])
        for name, function in vars(place).items():
            if not name.startswith("_") and _is_hand_written(function):
                yield function, function


def _is_hand_written(function: Any) -> bool:
    return isinstance(function, FunctionType) and function.__module__.startswith(
        "torchgen_out._runtime.library.nn."
    )


def _ask_first(function: FunctionType, public: Callable[..., Any]) -> None:
    """Let a function ask modes, and compute what it did where none answers."""
    if function.__code__.co_freevars:
        return
    body = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    body.__kwdefaults__ = function.__kwdefaults__

    def asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if overrides.state.modes:
            found = overrides.answer(public, args, kwargs)
            if found is not NotImplemented:
                return found
        return body(*args, **kwargs)

    shown: Any = function
    shown.__signature__ = inspect.signature(body)
    function.__code__ = _asking.__code__
    function.__defaults__ = None
    function.__kwdefaults__ = {"_asked": asked}


def _asking(*args: Any, _asked: Callable[..., Any], **kwargs: Any) -> Any:
    """What stands in each of the functions."""
    return _asked(args, kwargs)
