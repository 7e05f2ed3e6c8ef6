"""What an expression of a kernel is while it is compiled: a number, an array, a tuple, or known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Kind = Any
"""The type of a value (`kinds.py`); of a tuple a Python tuple of its elements' types."""


class Unsupported(Exception):
    """A text has something that only Numba compiles."""


class Number:
    """A scalar in a register.

    literal: what it is, if that is known. is_natural: whether it is known to be whole and not
    negative, so that an index need not be tried for being counted from the end.
    """

    __slots__ = ("ir", "is_natural", "kind", "literal")

    def __init__(self, kind: Kind, ir: Any, literal: Any = None, is_natural: bool = False) -> None:
        self.kind = kind
        self.ir = ir
        self.literal = literal
        self.is_natural = is_natural or (type(literal) is int and literal >= 0)


class Array:
    """An array taken apart.

    strides: in bytes; None of a contiguous array, whose shape says them.
    """

    __slots__ = ("data", "kind", "shape", "strides")

    def __init__(
        self, kind: Kind, data: Any, shape: Sequence[Any], strides: Sequence[Any] | None
    ) -> None:
        self.kind = kind
        self.data = data
        self.shape = tuple(shape)
        self.strides = None if strides is None else tuple(strides)


class Tuple:
    """Several values."""

    __slots__ = ("items",)

    def __init__(self, items: Sequence[Value]) -> None:
        self.items = tuple(items)

    @property
    def kind(self) -> Kind:
        return tuple(item.kind for item in self.items)


class Static:
    """What is known while compiling and is no number: a function, a type, a module, None."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def kind(self) -> Kind:
        return None


class Method:
    """A function that belongs to a value."""

    __slots__ = ("name", "owner")
    kind = None

    def __init__(self, owner: Value, name: str) -> None:
        self.owner = owner
        self.name = name


class Slice:
    """start:stop:step in an index; None where one is left out."""

    __slots__ = ("start", "step", "stop")
    kind = None

    def __init__(self, start: Number | None, stop: Number | None, step: Number | None) -> None:
        self.start = start
        self.stop = stop
        self.step = step


class Unset:
    """A variable that a round of a loop may have set before; nothing until somebody reads it.

    loop: which loop that is. kind: what the rounds set it to, once that is known.
    """

    __slots__ = ("kind", "loop")

    def __init__(self, loop: Any, kind: Kind = None) -> None:
        self.loop = loop
        self.kind = kind


Value = Number | Array | Tuple | Static | Method | Slice | Unset


def numbers_of(values: Sequence[Value], what: str) -> list[Number]:
    """Values that are all numbers. Raises: Unsupported, with what these are, if one is not."""
    found = [each for each in values if isinstance(each, Number)]
    if len(found) != len(values):
        raise Unsupported(f"{what} of other things than numbers")
    return found


def parts(value: Value) -> list[Any]:
    """The registers of a value, in an order that `rebuilt` knows."""
    if isinstance(value, Number):
        return [value.ir]
    if isinstance(value, Array):
        return [value.data, *value.shape, *(value.strides or ())]
    if isinstance(value, Tuple):
        return [part for item in value.items for part in parts(item)]
    return []


def rebuilt(value: Value, registers: Any) -> Value:
    """The value of the same form in other registers, which an iterator gives."""
    if isinstance(value, Number):
        return Number(value.kind, next(registers))
    if isinstance(value, Array):
        data = next(registers)
        shape = [next(registers) for _ in value.shape]
        strides = None if value.strides is None else [next(registers) for _ in value.strides]
        return Array(value.kind, data, shape, strides)
    if isinstance(value, Tuple):
        return Tuple([rebuilt(item, registers) for item in value.items])
    return value
