"""Stand-ins for what PyTorch has and this library has not: they can be named, never used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from torchgen_out._runtime import errors


class _RefusesInstances(type):
    """The type of absent classes: they can be derived from and asked for, and have no instances."""

    absent: tuple[str, str]

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise errors.not_provided(*cls.absent)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
        path, remedy = cls.absent
        return function(f"{path}.{name}", remedy)


def kind(path: str, remedy: str) -> type:
    """Make a class that is not there: nothing is an instance of it, and nothing can become one.

    Programs derive from such classes at their top (`class MyTracer(torch.fx.Tracer)`).
    """
    module, _, name = path.rpartition(".")
    return _RefusesInstances(name, (), {"absent": (path, remedy), "__module__": module})


def function(path: str, remedy: str) -> Callable[..., Any]:
    """Make a function that is not there: calling it says so, and what to do instead."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise errors.not_provided(path, remedy)

    refuse.__qualname__ = refuse.__name__ = path.rpartition(".")[2]
    refuse.__module__ = path.rpartition(".")[0]
    refuse.__doc__ = f"Not provided: {remedy}."
    return refuse


def answer(path: str, value: Any) -> Callable[..., Any]:
    """Make a question to which the answer is always `value`, whatever is asked about."""

    def question(*args: Any, **kwargs: Any) -> Any:
        return value

    question.__qualname__ = question.__name__ = path.rpartition(".")[2]
    question.__module__ = path.rpartition(".")[0]
    question.__doc__ = f"Return {value!r}."
    return question


def mark(path: str) -> Callable[..., Any]:
    """Make a decorator that tells a missing compiler something: it gives back what it decorates."""

    def decorate(*args: Any, **kwargs: Any) -> Any:
        if args and callable(args[0]):
            return args[0]
        return lambda decorated: decorated

    decorate.__qualname__ = decorate.__name__ = path.rpartition(".")[2]
    decorate.__module__ = path.rpartition(".")[0]
    decorate.__doc__ = "Return what is decorated: there is no compiler to be told."
    return decorate
