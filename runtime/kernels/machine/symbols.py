"""Where the functions are that machine code calls, by their names: of C, Python, BLAS, and ours."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from torchgen_out._runtime.kernels import openblas

OURS = "torchgen_"
"""How names begin that are this library's, or what it calls functions of NumPy's OpenBLAS."""

SAME = {"numba_nextafter": "nextafter", "numba_nextafterf": "nextafterf"}
NDARRAY = "torchgen_ndarray"
"""NumPy's class of arrays, which a process that only compiles does not import."""
own: dict[str, int] = {}
"""Addresses of this library's own functions, which `callers` adds to."""


class Unknown(Exception):
    """Nothing of a name is there."""


@cache
def address_of(name: str) -> int:
    """Return the address of a function or object.

    Raises: Unknown if there is none.
    """
    if name == NDARRAY:
        from numpy import ndarray

        return id(ndarray)
    found = own.get(name)
    if found is None and name.startswith(OURS):
        function = openblas.function(name.removeprefix(OURS))
        found = None if function is None else _address(function)
    elif found is None:
        found = _in_libraries(SAME.get(name, name))
    if not found:
        raise Unknown(name)
    return found


def _in_libraries(name: str) -> int | None:
    for library in _libraries():
        try:
            return _address(getattr(library, name))
        except AttributeError:
            continue
    return None


def _address(function: Callable[..., Any]) -> int:
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)  # type: ignore[arg-type]


@cache
def _libraries() -> tuple[Any, ...]:
    """Python's, and C's with its mathematics."""
    if hasattr(ctypes, "WinDLL"):
        return ctypes.pythonapi, ctypes.CDLL("ucrtbase"), ctypes.CDLL("ntdll")
    mathematics = "libm.so.6" if sys.platform == "linux" else None
    found = [ctypes.pythonapi, ctypes.CDLL(None)]
    with contextlib.suppress(OSError):  # another C library may have all in one
        found.insert(1, ctypes.CDLL(mathematics))
    return tuple(found)
