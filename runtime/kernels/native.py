"""Compiled kernels as the plain functions behind Numba's, for callers other than the interpreter.

A kernel's own function takes the address of a place for its result, that of one for its error, and
its arguments taken apart: for an array seven words and more. It returns a status.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Kind = Any
"""What a caller must know of an argument: (item size, ndim) of an array, Numba's type of a number.
"""


class Native:
    """A kernel compiled for arguments of known types.

    entry: what Python calls, without a look at the arguments' types.
    answers: whether it returns a bool; anything else that it returns is dropped.
    callers: what calls it on several threads, for whoever does so to keep.
    """

    __slots__ = ("address", "answers", "callers", "entry", "kinds")

    def __init__(self, entry: Any, address: int, answers: bool, kinds: tuple[Kind, ...]) -> None:
        self.entry = entry
        self.address = address
        self.answers = answers
        self.kinds = kinds
        self.callers: dict[Any, Any] = {}


_of_entries: dict[Any, Native] = {}
_of_calls: dict[tuple[Any, ...], Native | None] = {}


def remember(result: Any) -> None:
    """Know the function of an entry point that Numba has compiled or loaded."""
    found = _native(result)
    if found is not None:
        _of_entries[result.entry_point] = found


def native_call(kernel: Any, *calls: Sequence[Any]) -> Native | None:
    """What makes some calls of a kernel: an entry point, a dispatcher, or anything that has one.

    None for what only the interpreter can call: arguments other than arrays and numbers, and calls
    whose arguments have different types (one row of a strided array is contiguous).
    """
    found = _of_entries.get(kernel)
    if found is not None:
        return found
    find = getattr(kernel, "dispatcher_for", None)
    if find is None and not hasattr(kernel, "overloads"):
        return None
    first, *others = [tuple(map(_type_key, args)) for args in calls]
    if any(other != first for other in others):
        return None
    dispatcher = kernel if find is None else find(calls[0][0])
    key = (dispatcher, first)
    if key not in _of_calls:
        _of_calls[key] = _compiled(dispatcher, calls[0])
    return _of_calls[key]


def _type_key(arg: Any) -> Any:
    """What Numba's type of an argument depends on."""
    if arg.__class__ is np.ndarray:
        return arg.dtype, arg.ndim, arg.flags.num
    return arg.__class__


def _compiled(dispatcher: Any, args: Sequence[Any]) -> Native | None:
    from numba import typeof

    plain = (int, float, bool, np.generic)
    if not all(arg.__class__ is np.ndarray or isinstance(arg, plain) for arg in args):
        return None
    signature = tuple([_splittable(typeof(arg)) for arg in args])
    dispatcher.compile(signature)
    return _native(dispatcher.overloads[signature])


def _splittable(kind: Any) -> Any:
    """The type of an argument, and of its rows: some rows of a column-major array are not dense."""
    return kind.copy(layout="A") if getattr(kind, "layout", "C") == "F" else kind


def _native(result: Any) -> Native | None:
    from numba import types
    from numba.np.numpy_support import as_dtype

    signature = result.signature
    numbers = (types.Integer, types.Float, types.Boolean)
    if not all(isinstance(each, (types.Array, *numbers)) for each in signature.args):
        return None
    returned = signature.return_type
    if not isinstance(returned, (types.NoneType, *numbers)):
        return None
    address = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
    kinds = tuple(
        (as_dtype(each.dtype).itemsize, each.ndim) if isinstance(each, types.Array) else each
        for each in signature.args
    )
    return Native(result.entry_point, address, isinstance(returned, types.Boolean), kinds)


def word_count(kind: Kind) -> int:
    """How many words of 8 bytes an argument takes up."""
    return 5 + 2 * int(kind[1]) if isinstance(kind, tuple) else 1
