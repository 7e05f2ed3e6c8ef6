"""Python functions that call kernels, made without Numba: a description each, one code for all."""

from __future__ import annotations

import builtins
import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.machine import (
    call_text,
    digests,
    memory,
    numpy_functions,
    pool_text,
    symbols,
)
from torchgen_out._runtime.kernels.machine.packs import Entry
from torchgen_out._runtime.kernels.machine.signatures import CODES as LAYOUTS
from torchgen_out._runtime.kernels.machine.signatures import Kind, kind_of
from torchgen_out._runtime.kernels.machine.spelling import NUMBERS

CALLS = (
    *("torchgen_call", "torchgen_lay", "torchgen_split", "torchgen_empty"),
    *pool_text.NAMES,
)
FAST_CALL = 0x80  # METH_FASTCALL
_errors: dict[str, list[Any]] = {}
"""The errors that kernels raise, by the hashes that their code has of them."""


class Native:
    """A kernel compiled for arguments of known types, and placed.

    entry: what Python calls, without a look at the arguments' types. answers: whether it returns a
    bool; anything else that it returns is dropped by those who call it on several threads.
    fits_a_block: whether a call's words fit where callers and workers have room for them.
    lay(block, *arguments): lays a call out for a worker; whether the arguments fit.
    split(how, parts, count, unit, arrays, blocks, go, answers, wakes, *arguments): lays out the
    parts of a call and has them done; `worker_text` says more.
    """

    __slots__ = (
        *("address", "answers", "description", "entry", "fits_a_block"),
        *("kinds", "lay", "returns", "split"),
    )

    def __init__(self, kinds: tuple[Kind, ...], returns: Sequence[str], address: int) -> None:
        self.kinds = kinds
        self.returns = tuple(returns)
        self.address = address
        self.answers = self.returns == ("bool",)
        self.fits_a_block = sum(kind.words for kind in kinds) <= call_text.MOST_WORDS - 8
        self.description = describe(self, is_checked=False)
        self.entry = function_of("kernel", "torchgen_call", [_refuse(kinds), self.description])
        own = [None, self.description]
        self.lay: Callable[..., bool] = function_of("lay", "torchgen_lay", own)
        self.split: Callable[..., int] = function_of("split", "torchgen_split", own)


def placed(entry: Entry) -> Native:
    """Bring a kernel into memory and make it callable.

    Raises: symbols.Unknown if it calls what is not there.
    """
    addresses = memory.place(entry.image, symbols.address_of)
    _errors.update(entry.about["errors"])
    kinds = tuple(kind_of(each) for each in entry.about["kinds"])
    return Native(kinds, entry.about["returns"], addresses["torchgen_run"])


def describe(native: Native, is_checked: bool) -> bytes:
    """What the common code must know of a kernel; is_checked: refuses arguments of other types."""
    codes = call_text.CODES
    returned = sum(codes[name] << 8 * i for i, name in enumerate(native.returns))
    words = [native.address, id(raise_error), len(native.kinds)]
    words += [sum(kind.words for kind in native.kinds), len(native.returns), returned]
    words += [_place_of_item_size(), 0]
    for kind in native.kinds:
        words += _described(kind, is_checked)
    return np.array(words, np.uint64).tobytes()


def _described(kind: Kind, is_checked: bool) -> list[int]:
    if kind.form == "array":
        dtype = np.dtype(kind.name)
        check = ord(dtype.kind) | LAYOUTS[kind.layout] << 8 if is_checked else 0
        return [call_text.ARRAY, kind.items, dtype.itemsize, check]
    code = call_text.CODES[kind.name]
    check = id(_class_of(kind)) if is_checked else 0
    if kind.form == "tuple":
        return [call_text.TUPLE, kind.items, code, check]
    return [code, kind.words, 0, check]


@cache
def _class_of(kind: Kind) -> type:
    """The class of a number: Python's own, where it has one."""
    own = {name: number for number, name in NUMBERS.items()}
    return own.get(kind.name) or np.dtype(kind.name).type


def _place_of_item_size() -> int:
    """Where a dtype's header holds its item size: NumPy 2 moved it."""
    return 40 if int(np.__version__.split(".")[0]) >= 2 else 32


@cache
def _refuse(kinds: tuple[Kind, ...]) -> Callable[..., Any]:
    """What is called for arguments that a kernel does not take."""

    def refuse(*args: Any) -> Any:
        wanted = ", ".join(str(kind.name) + "[]" * (kind.form == "array") for kind in kinds)
        given = ", ".join(type(each).__name__ for each in args)
        raise TypeError(f"a kernel for ({wanted}) was called with ({given})")

    return refuse


def raise_error(address: int) -> None:
    """Raise what a kernel raised; address: where its code has the error."""
    size_and_hash = 16
    place = ctypes.c_void_p.from_address(address + size_and_hash).value if address else None
    own = _errors.get(ctypes.string_at(place, digests.SHA1_BYTES).hex()) if place else None
    if own is None:
        raise MemoryError("a kernel found no memory")
    kind, *values = own
    raise getattr(builtins, kind)(*values)


# Functions for Python.


class _Method(ctypes.Structure):
    """CPython's description of a function, which it must find as long as the function lives."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@cache
def _method(name: str, code: str) -> _Method:
    return _Method(name.encode(), symbols.address_of(code), FAST_CALL, None)


@cache
def _make() -> Callable[..., Any]:
    form = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return form(("PyCFunction_NewEx", ctypes.pythonapi))


def function_of(name: str, code: str, owner: list[Any]) -> Callable[..., Any]:
    """A Python function of compiled code, which is given `owner` before its arguments."""
    made: Callable[..., Any] = _make()(ctypes.addressof(_method(name, code)), owner, None)
    return made


def owner_of(function: Callable[..., Any]) -> list[Any]:
    """The list that a function was made with."""
    owner: list[Any] = function.__self__  # type: ignore[attr-defined]
    return owner


@cache
def empty_of(dtype: Any) -> Callable[[int], Any]:
    """empty(count): vectors of a dtype that begin at a cache line."""
    numbers = np.array(numbers_of_empty(dtype), np.uint64).tobytes()
    return function_of("empty", "torchgen_empty", [dtype, numbers])


def numbers_of_empty(dtype: Any) -> list[int]:
    """What `torchgen_empty` must know: the item size, and where two functions of NumPy's are."""
    places = numpy_functions.NEW_FROM_DTYPE, numpy_functions.SET_BASE
    return [dtype.itemsize, *map(numpy_functions.address_of, places)]


def work_here() -> bool:
    """Whether this interpreter's objects have the headers that compiled code reads."""
    return object.__basicsize__ == 16 and "t" not in getattr(sys, "abiflags", "")
