"""Whole numbers among a call's arguments: kernels count in 64 bits, Python's ints have no end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def take_int64(meta: Callable[..., Any], places: Sequence[int]) -> Callable[..., Any]:
    """A shape function that refuses ints, in lists too, of more than 64 bits.

    places: which arguments are looked at; numbers that become elements are promotion's.
    Shape functions are asked before any kernel, and by plans for new geometries only.
    """

    @wraps(meta)
    def checked(*args: Any) -> Any:
        for place in places:
            arg: Any = args[place] if place < len(args) else None
            kind = arg.__class__
            if kind is int:
                check(arg)
            elif kind is list or kind is tuple:
                for each in arg:
                    if each.__class__ is int:
                        check(each)
        return meta(*args)

    return checked


def check(number: int) -> None:
    """Raise RuntimeError if a number has more than 64 bits."""
    if not _LEAST <= number <= _MOST:
        raise errors.number_overflows(dtypes.int64)
