"""`torch.compile` and `torch.compiler` without a compiler: what is given runs as it is."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.library.programs import absent

__all__ = [
    "allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable",
    "is_compiling", "is_dynamo_compiling", "is_exporting", "list_backends", "reset", "set_stance",
    "substitute_in_graph", "wrap_numpy",
]  # fmt: skip


@functools.cache
def _warn_once() -> None:
    warn(
        "torch.compile: there is no compiler; what is given runs as it is, operator by operator",
    )


def compile(model: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Return what is given, with a warning the first time; without a model, a decorator."""
    _warn_once()
    return (lambda given: given) if model is None else model


allow_in_graph = absent.mark("torch.compiler.allow_in_graph")
assume_constant_result = absent.mark("torch.compiler.assume_constant_result")
wrap_numpy = absent.mark("torch.compiler.wrap_numpy")


def disable(fn: Any = None, recursive: bool = True, **options: Any) -> Any:
    """Return the function: it is never compiled."""
    return (lambda given: given) if fn is None else fn


def substitute_in_graph(original_fn: Any, **options: Any) -> Callable[[Any], Any]:
    """Return a decorator that gives back what would replace a function in compiled code."""
    return lambda replacement: replacement


def is_compiling() -> bool:
    """Return False: nothing is compiled."""
    return False


def is_dynamo_compiling() -> bool:
    """Return False: nothing is compiled."""
    return False


def is_exporting() -> bool:
    """Return False: nothing is exported."""
    return False


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """Return the compilers that there are: none."""
    return []


def reset() -> None:
    """Do nothing: no compiled code is kept."""


def cudagraph_mark_step_begin() -> None:
    """Do nothing: no compiled code is kept."""


@contextlib.contextmanager
def set_stance(stance: str = "default", **options: Any) -> Iterator[None]:
    """Run a block of code as it is."""
    yield
