"""Attributes that modules did not have yet when a file was written: the arguments' defaults."""

from __future__ import annotations

import inspect
from typing import Any

from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.cached import cached

_PLACES = ("device", "dtype")  # of parameters, which the file has


def complete(module: Any) -> None:
    """Give a module from an old file the attributes that its class has gained since.

    An argument that was added later has the default that keeps the old behaviour, and its
    attribute has the argument's name.
    """
    for name, default in _defaults_of(type(module)).items():
        if not hasattr(module, name):
            module.__dict__[name] = default


@cached
def _defaults_of(cls: type) -> dict[str, Any]:
    """The arguments with defaults of the classes of this library, the nearest first."""
    found: dict[str, Any] = {}
    for own in cls.__mro__:
        if own.__module__.startswith(public.module("nn")):
            for each in inspect.signature(own).parameters.values():
                if each.default is not each.empty and each.name not in _PLACES:
                    found.setdefault(each.name, each.default)
    return found
