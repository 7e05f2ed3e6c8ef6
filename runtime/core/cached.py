"""A cache of a function's results that keeps the function's types."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def cached(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """`functools.cache`, whose type forgets parameters and takes no class for an argument."""
    kept: Callable[..., _Result] = functools.cache(function)
    return kept
