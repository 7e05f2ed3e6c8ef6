"""How the types of a kernel's arguments are spelled, and what must be known of each.

A number is spelled by its type ("int64", "float32"); an array by the type of its elements, its
dims, and how it lies ("float32[1C]": C dense, A any strides, U at any address); whole numbers in a
tuple as "(int64*3)".
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from torchgen_out._runtime.kernels.machine import call_text

NAMES = frozenset(call_text.CODES)
CODES = {"C": 1, "A": 2, "U": 3}


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
