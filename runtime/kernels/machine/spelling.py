"""The types of values, and of what callers declare, as `signatures` spells them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.machine.signatures import NAMES

NUMBERS = {float: "float64", int: "int64", complex: "complex128", bool: "bool"}
ALIGNED, C_DENSE = 0x100, 0x1  # flags of an array

DTYPES = {code: np.dtype(code).name for code in np.typecodes["All"] if np.dtype(code).name in NAMES}
"""The names of NumPy's types by their codes: to ask a type for its name takes a microsecond."""


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
        name = DTYPES.get(dtype.char)
        if name is None or not dtype.isnative:
            return None
        layout = "U" if not flags & ALIGNED else "C" if flags & C_DENSE else "A"
        return f"{name}[{value.ndim}{layout}]"
    number = NUMBERS.get(value.__class__)
    if number is not None:
        return number
    if isinstance(value, np.generic):
        return DTYPES.get(value.dtype.char)
    if value.__class__ is tuple:
        kinds = {each.__class__ for each in value} or {int}
        own = NUMBERS.get(kinds.pop())
        return f"({own}*{len(value)})" if own and not kinds else None
    return None
