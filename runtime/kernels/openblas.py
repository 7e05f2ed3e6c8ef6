"""The OpenBLAS libraries that come with NumPy and SciPy: their functions, and their threads."""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any


@cache
def find_symbol(name: str) -> str | None:
    """What compiled code calls a function of NumPy's OpenBLAS (with 64-bit integers); or None."""
    return None if function(name) is None else f"torchgen_{name}"


@cache
def function(name: str) -> Any:
    """A function of NumPy's OpenBLAS; None if there is none of that name."""
    library = numpy_library()
    for spelling in (f"scipy_{name}64_", f"{name}64_"):
        found = getattr(library, spelling, None)
        if found is not None:
            return found
    return None


def set_num_threads(count: int) -> None:
    """Let the products of NumPy, and of SciPy if it is imported, use some threads."""
    for library in _loaded():
        _thread_function(library, "set")(ctypes.c_int(count))


def get_num_threads() -> list[int]:
    """How many threads each of the libraries uses."""
    return [int(_thread_function(library, "get")()) for library in _loaded()]


def import_scipy_linalg(count: int) -> Any:
    """SciPy's linear algebra, its library using `count` threads as NumPy's does."""
    is_new = "scipy.linalg" not in sys.modules
    import scipy.linalg

    if is_new:
        set_num_threads(count)
    return scipy.linalg


@contextmanager
def on_one_thread(library: Any) -> Iterator[None]:
    """Meanwhile a library uses one thread: its others would go on spinning for 30 ms and more."""
    change, ask = (_thread_function(library, verb) for verb in ("set", "get"))
    count = 1 if change is None else int(ask())
    if count == 1:
        yield
        return
    change(ctypes.c_int(1))
    try:
        yield
    finally:
        change(ctypes.c_int(count))


def _loaded() -> Iterator[Any]:
    """The libraries that are there and can tell their threads."""
    libraries = [numpy_library()]
    if "scipy.linalg" in sys.modules:
        libraries.append(scipy_library())
    return (library for library in libraries if _thread_function(library, "set") is not None)


def _thread_function(library: Any, verb: str) -> Any:
    name = f"openblas_{verb}_num_threads"
    spellings = (f"scipy_{name}64_", f"scipy_{name}", f"{name}64_", name)
    return next((found for s in spellings if (found := getattr(library, s, None))), None)


@cache
def numpy_library() -> Any:
    """The OpenBLAS that NumPy brought along; None if it has another BLAS."""
    return _library_of("numpy")


@cache
def scipy_library() -> Any:
    """The OpenBLAS that SciPy brought along; None without SciPy or with another BLAS."""
    return _library_of("scipy")


def _library_of(name: str) -> Any:
    """The first OpenBLAS among the libraries that a wheel keeps beside its package, which need not
    be imported for that."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return None
    package = Path(spec.origin).parent
    beside = package.parent / f"{package.name}.libs"
    for path in sorted([*beside.glob("*openblas*"), *package.glob(".dylibs/*openblas*")]):
        try:
            return ctypes.CDLL(str(path))
        except OSError:
            continue
    return None
