"""The bindings of NVIDIA's libraries, and what they call the types of elements."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from runtime import errors

DATA_TYPES = {
    "float32": 0, "float64": 1, "float16": 2, "complex64": 4, "complex128": 5, "bfloat16": 14,
}  # fmt: skip
"""cudaDataType."""

_in_place_of: dict[str, Any] = {}


def module(name: str) -> Any:
    """Return the bindings of a library, "cublasLt"."""
    found = _in_place_of.get(name)
    return importlib.import_module(f"nvmath.bindings.{name}") if found is None else found


def optional(name: str, find: Callable[[], Any]) -> Any:
    """Return a library that need not be installed, None if it is not. find: looks for NVIDIA's."""
    return _in_place_of.get(name) if _in_place_of else find()


def use(modules: Mapping[str, Any]) -> dict[str, Any]:
    """Put modules in the place of NVIDIA's bindings; return those that were there before."""
    before = dict(_in_place_of)
    _in_place_of.clear()
    _in_place_of.update(modules)
    return before


def data_type(dtype: Any, operator: str) -> int:
    """Return the number of an element type.

    Raises: NotImplementedError for one that the libraries do not compute in.
    """
    found = DATA_TYPES.get(dtype.name)
    if found is None:
        raise errors.dtype_not_supported(operator, dtype, ", ".join(DATA_TYPES))
    return found
