"""One call in one library: what it gave, or how it refused, and what it warned of."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

import torchgen_out
from tests.parity.op_db.transfer import Transfer, Unavailable

Function = Callable[..., Any]


@dataclass
class Attempt:
    """A call's outcome."""

    result: Any = None
    error: BaseException | None = None
    warned: tuple[str, ...] = ()
    """What the call warned of."""
    first: Any = None
    """The first argument, as the call left it."""
    out: Any = None
    """The destination, as the call left it."""
    leaves: Sequence[Any] = ()
    """The tensors among the arguments that require a gradient."""

    @property
    def resized(self) -> bool:
        """Whether the call warned that it resized its out= tensor."""
        return any("resized" in text for text in self.warned)


def attempt(library: ModuleType, function: Function, sample: Any, **keywords: Any) -> Attempt:
    """Call a library's function with its own copy of a sample. Unavailable is not caught."""
    given = Transfer(library)
    first, args, kwargs = given(sample.input), given(sample.args), given(sample.kwargs)
    leaves = list(given.leaves)
    kwargs.update(given(keywords))
    out = kwargs.get("out")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = function(first, *args, **kwargs)
        except Unavailable:
            raise
        except Exception as error:  # whatever a library raises is what is compared
            return Attempt(error=error, first=first, out=out)
    texts = tuple(str(each.message) for each in warned)
    return Attempt(result, None, texts, first, out, leaves)


def attempts(
    ours: Function, theirs: Function, sample: Any, **keywords: Any
) -> tuple[Attempt, Attempt]:
    """The same call in both libraries."""
    expected = attempt(torch, theirs, sample, **keywords)
    return attempt(torchgen_out, ours, sample, **keywords), expected


def same_class(ours: BaseException, theirs: BaseException) -> bool:
    """Whether whoever catches PyTorch's error catches ours."""
    names = [each.__name__ for each in type(ours).__mro__]
    return type(theirs).__name__.lstrip("_") in (name.lstrip("_") for name in names)


def told(error: BaseException | None) -> str:
    """An error in a line."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:160] if text else ''}"
