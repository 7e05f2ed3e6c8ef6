"""Where NumPy has the functions that compiled code calls: in its table for extensions."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

ABI_VERSION, FEATURE_VERSION = 0, 211
NEW_FROM_DTYPE, SET_BASE = 94, 282
GET_HANDLER, DEFAULT_HANDLER = 305, 306
"""Places in the table; the last two since feature version 15, NumPy 1.22."""


def address_of(place: int) -> int:
    """What the table has at a place."""
    return ctypes.c_void_p.from_address(_table() + 8 * place).value or 0


@cache
def _table() -> int:
    names = ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath")
    numpy_core: Any = next(sys.modules[name] for name in names if name in sys.modules)
    return content_of(numpy_core._ARRAY_API, None)


def content_of(capsule: Any, name: bytes | None) -> int:
    """The address that a capsule of a name holds.

    Raises: ValueError if it has another name.
    """
    form = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    return form(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, name) or 0
