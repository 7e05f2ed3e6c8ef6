"""Records: what `dataclass(frozen=True, slots=True)` makes, in a fifth of the time.

A run of the generator begins by making some 170 classes of them, and that was a quarter of a short
run: dataclasses compiles six methods for each, one by one. Here all records share their methods but
the constructor, which is compiled when the first one is made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import MISSING, FrozenInstanceError
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def record(cls: type[T]) -> type[T]:
    """Make a class one of records: its fields are set once, and two with equal fields are equal.

    Whoever defines `__eq__` has equality, and a hash, of their own. `dataclasses.fields` and
    `replace` know records.
    """
    own = vars(cls)
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    fields = dataclasses.fields(made)
    made.__init__ = _first_constructor(made, fields)
    made.__setattr__, made.__delattr__ = _refuse_to_set, _refuse_to_delete
    made.__repr__ = own.get("__repr__", _representation(fields))
    if "__eq__" not in own:
        made.__eq__, made.__hash__ = _comparison([each.name for each in fields if each.compare])
    made.__getstate__, made.__setstate__ = _state(made, fields)
    return made  # type: ignore[no-any-return]


def _first_constructor(made: Any, fields: Sequence[Any]) -> Callable[..., None]:
    """What compiles the constructor, has it in its own place from then on, and calls it."""

    def __init__(self: Any, *given: Any, **named: Any) -> None:
        made.__init__ = _constructor(made, fields)
        made.__init__(self, *given, **named)

    return __init__


def _constructor(made: Any, fields: Sequence[Any]) -> Callable[..., None]:
    space: dict[str, Any] = {"MISSING": MISSING}
    parameters: list[str] = []
    by_name: list[str] = []
    lines: list[str] = []
    for each in fields:
        name = each.name
        space[f"set_{name}"] = getattr(made, name).__set__
        space[f"default_{name}"] = each.default
        value = name
        if each.default_factory is not MISSING:
            space[f"make_{name}"] = each.default_factory
            value = f"make_{name}() if {name} is MISSING else {name}"
        if not each.init:
            if each.default is not MISSING:
                lines.append(f"set_{name}(self, default_{name})")
            continue
        has_default = each.default is not MISSING or each.default_factory is not MISSING
        (by_name if each.kw_only else parameters).append(
            f"{name}=default_{name}" if has_default else name
        )
        lines.append(f"set_{name}(self, {value})")
    if by_name:
        parameters += ["*", *by_name]
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    body = "".join(f"    {line}\n" for line in lines or ["pass"])
    exec(f"def __init__({', '.join(['self', *parameters])}):\n{body}", space)
    function: Callable[..., None] = space["__init__"]
    function.__qualname__ = f"{made.__qualname__}.__init__"
    return function


def _refuse_to_set(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _representation(fields: Sequence[Any]) -> Callable[[Any], str]:
    names = [each.name for each in fields if each.repr]

    def __repr__(self: Any) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({told})"

    return __repr__


def _comparison(names: Sequence[str]) -> tuple[Callable[..., Any], Callable[[Any], int]]:
    values: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()

    def __eq__(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self is other or values(self) == values(other)

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __eq__, __hash__


def _state(made: Any, fields: Sequence[Any]) -> tuple[Callable[..., Any], Callable[..., None]]:
    """What pickle keeps of a record: the values of its fields, in order."""
    names = [each.name for each in fields]
    setters = [getattr(made, name).__set__ for name in names]

    def __getstate__(self: Any) -> list[Any]:
        return [getattr(self, name) for name in names]

    def __setstate__(self: Any, state: Sequence[Any]) -> None:
        for put, value in zip(setters, state, strict=True):
            put(self, value)

    return __getstate__, __setstate__
