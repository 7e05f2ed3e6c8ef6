"""The bindings of NVIDIA's libraries, their errors, and what they call the types of elements."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda import driver

DATA_TYPES = {
    "float32": 0, "float64": 1, "float16": 2, "complex64": 4, "complex128": 5, "bfloat16": 14,
}  # fmt: skip
"""cudaDataType."""

FAILURES = {
    "cublas": ("cublas", "cuBLASError"),
    "cublasLt": ("cublasLt", "cuBLASLtError"),
    "cufft": ("cufft", "cuFFTError"),
    "cusolverDn": ("cusolver", "cuSOLVERError"),
}
"""The module and the name of the exception that the bindings of a library raise."""

_in_place_of: dict[str, Any] = {}


class Library:
    """The bindings of a library, whose errors are RuntimeErrors, as the driver's are.

    name: of the library, as errors call it. failure: the exception of the bindings.
    """

    def __init__(self, name: str, bindings: Any, failure: type[Exception]) -> None:
        self._name, self._bindings, self._failure = name, bindings, failure

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._bindings, name)
        if not callable(found) or isinstance(found, type):
            return found
        checked = self._checked(name, found)
        setattr(self, name, checked)  # found at once from now on
        return checked

    def _checked(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        failure = self._failure

        def call(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except failure as error:
                status = getattr(error, "status", 0)
                raise errors.library_call_failed(self._name, name, str(error), status) from error

        return call


def module(name: str) -> Any:
    """Return the bindings of a library, "cublasLt"."""
    home, failure = FAILURES[name]
    called = failure.removesuffix("Error")
    found = _in_place_of.get(name)
    if found is not None:
        return Library(called, found, found.Failure)
    bindings, owner = (importlib.import_module(f"nvmath.bindings.{each}") for each in (name, home))
    return Library(called, bindings, getattr(owner, failure))


@contextmanager
def making(index: int) -> Iterator[None]:
    """A block that makes handles or plans for a device.

    They take memory and load code, which a capture of work forbids unless its thread says that the
    graph has no part in it: as here.
    """
    opened = driver.current()
    opened.enter(index)
    with opened.relaxed():
        yield


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
