"""Arguments that the schema says are integers, or lists of them, and that are no plain `int`."""

from __future__ import annotations

import operator as operators
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core.tensor import Tensor


def as_int(value: Any, operator: str, argument: str, position: int) -> int:
    """The integer that a NumPy number, a tensor of one, or an object with `__index__` stands for.

    Raises: TypeError for what is none, a bool or a float among them.
    """
    found = _index(value)
    if found is None:
        raise errors.int_expected(operator, argument, position, value)
    return found


def as_ints(value: Any, operator: str, argument: str, position: int) -> Any:
    """A tuple of integers, or one integer where that may stand for all.

    Raises: TypeError for what is none, or holds something else.
    """
    if value.__class__ is int:
        return value
    if value.__class__ is tuple or value.__class__ is list:
        for each in value:
            if each.__class__ is not int:
                break
        else:
            return value
    elif not isinstance(value, (tuple, list)):
        one = _index(value)
        if one is None:
            raise errors.ints_expected(operator, argument, position, value)
        return one
    found = tuple([_index(each, at > 0) for at, each in enumerate(value)])
    if None in found:
        raise errors.ints_expected(operator, argument, position, value, found.index(None))
    return found


def as_ints_or_none(value: Any, operator: str, argument: str, position: int) -> Any:
    """The same where the list is empty unless given, for which None may stand."""
    return () if value is None else as_ints(value, operator, argument, position)


def _index(value: Any, may_be_flag: bool = False) -> int | None:
    """The value as an `int`; None if it is no integer. A flag is none, unless it may be one.

    PyTorch looks closely at the first item of a list only.
    """
    if isinstance(value, bool) and not may_be_flag:
        return None
    if isinstance(value, Tensor) and value.dtype.kind == "b":
        return None
    try:
        return operators.index(value)
    except TypeError:
        return None
