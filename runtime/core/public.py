"""Under which module public classes say that they stand: the one in which users find them.

A class of `library.data.dataset` is one of `torchgen_out.utils.data.dataset` for users, for pickles
and for programs that recognise a library by its classes' modules. Where `torchgen_out` goes by the
name `torch`, its classes do, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_package = "torchgen_out"


def module(name: str = "") -> str:
    """Return the full name of a public module; of the package itself if none is given."""
    return f"{_package}.{name}" if name else _package


def place(name: str, *classes: type) -> None:
    """Let classes stand in public module `name`, which re-exports them."""
    for cls in classes:
        cls.__module__ = module(name)


def place_all(name: str, namespace: Mapping[str, Any]) -> None:
    """Let the public classes of a hand-written module stand in public module `name`.

    Called at the module's end with its `globals()`. Public is what `__all__` lists, or without one
    what has no underscore.
    """
    listed = namespace.get("__all__", [each for each in namespace if not each.startswith("_")])
    for each in listed:
        found = namespace[each]
        if isinstance(found, type) and found.__module__ == namespace["__name__"]:
            place(name, found)


def place_package(name: str, namespace: Mapping[str, Any]) -> None:
    """Let what a hand-written package lists stand in public package `name`, by its modules' names.

    Called at the end of the package's `__init__` with its `globals()`.
    """
    package = namespace["__name__"]
    for each in namespace["__all__"]:
        found = namespace[each]
        if isinstance(found, type) and found.__module__.startswith(f"{package}."):
            place(f"{name}.{found.__module__.removeprefix(package).split('.')[1]}", found)


def rename(package: str) -> None:
    """Let the package go by another name: classes say so from now on, those that exist, too."""
    global _package
    before, _package = _package, package
    for cls in _subclasses(object, set()):
        where = cls.__module__
        if isinstance(where, str) and (where == before or where.startswith(f"{before}.")):
            cls.__module__ = package + where.removeprefix(before)


def _subclasses(cls: type, seen: set[type]) -> Iterator[type]:
    found: list[type] = type.__subclasses__(cls)
    for each in found:
        if each not in seen:
            seen.add(each)
            yield each
            yield from _subclasses(each, seen)
