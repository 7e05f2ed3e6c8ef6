"""Marks and ranges on the timeline of NVIDIA's profilers, by the package `nvtx`.

Without a profiler they do nothing and cost next to nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

_depth = 0


def _library() -> Any:
    """The package. **Raises** RuntimeError if it is not installed."""
    try:
        return importlib.import_module("nvtx")
    except ModuleNotFoundError as missing:
        raise RuntimeError(
            "NVTX functions not installed: they need the package 'nvtx'"
        ) from missing


def range_push(msg: str) -> int:
    """Begin a range inside those that are open; return how many were."""
    global _depth
    _library().push_range(msg)
    _depth += 1
    return _depth - 1


def range_pop() -> int:
    """End the range begun last; return how many are open around it."""
    global _depth
    _library().pop_range()
    _depth -= 1
    return _depth


def range_start(msg: str) -> Any:
    """Begin a range that may end in any order, by the handle returned."""
    return _library().start_range(msg)


def range_end(range_id: Any) -> None:
    """End the range of a handle."""
    _library().end_range(range_id)


def mark(msg: str) -> None:
    """Mark a moment."""
    _library().mark(msg)


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A range around what is done inside; `msg` is formatted with the further arguments."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
