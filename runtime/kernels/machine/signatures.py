"""How the types of a kernel's arguments are spelled, and what a caller must know of each.

A number is spelled by its type ("int64", "float32"); an array by the type of its elements, its
dims, and how it lies ("float32[1C]": C dense, A any strides, U at any address); whole numbers in a
tuple as "(int64*3)".
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.kernels.machine import call_text

NUMBERS = {float: "float64", int: "int64", complex: "complex128", bool: "bool"}
NAMES = frozenset(call_text.CODES)
CODES = {"C": 1, "A": 2, "U": 3}
ALIGNED, C_DENSE = 0x100, 0x1  # flags of an array


class Kind(NamedTuple):
    """An argument's type. form: "number", "array" or "tuple". items: dims, or items of a tuple."""

    form: str
    name: str
    items: int = 0
    layout: str = ""

    @property
    def words(self) -> int:
        """How many words of 8 bytes it takes in a call."""
        if self.form == "array":
            return 5 + 2 * self.items
        own = 2 if self.name.startswith("complex") else 1
        return own * self.items if self.form == "tuple" else own


@cache
def kind_of(spelled: str) -> Kind:
    """The kind that a text spells."""
    found = re.fullmatch(r"(\w+)\[(\d+)([CAU])\]", spelled)
    if found:
        return Kind("array", found[1], int(found[2]), found[3])
    found = re.fullmatch(r"\((\w+)\*(\d+)\)", spelled)
    if found:
        return Kind("tuple", found[1], int(found[2]))
    assert spelled in NAMES, spelled
    return Kind("number", spelled)


@cache
def spell(argument: Any) -> str:
    """A type that a caller declares: a NumPy dtype for a dense vector, a class for a number."""
    if isinstance(argument, str):
        return argument
    number = NUMBERS.get(argument)
    if number is not None:
        return number
    dtype = np.dtype(argument)
    is_scalar = isinstance(argument, type)
    return dtype.name if is_scalar else f"{dtype.name}[1C]"


def spell_values(values: tuple[Any, ...]) -> tuple[str, ...] | None:
    """The types of arguments of a call; None if one of them is nothing that a kernel takes."""
    found = [_spell_value(value) for value in values]
    return None if None in found else tuple(filter(None, found))


def _spell_value(value: Any) -> str | None:
    if isinstance(value, np.ndarray):
        dtype, flags = value.dtype, value.flags.num
        if dtype.name not in NAMES or not dtype.isnative:
            return None
        layout = "U" if not flags & ALIGNED else "C" if flags & C_DENSE else "A"
        return f"{dtype.name}[{value.ndim}{layout}]"
    number = NUMBERS.get(value.__class__)
    if number is not None:
        return number
    if isinstance(value, np.generic):
        return value.dtype.name if value.dtype.name in NAMES else None
    if value.__class__ is tuple:
        kinds = {each.__class__ for each in value} or {int}
        name = NUMBERS.get(kinds.pop())
        return f"({name}*{len(value)})" if name and not kinds else None
    return None
