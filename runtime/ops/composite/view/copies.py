"""What views show, in memory of its own: the view's call and the copy's, from their tables."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core.memory_format import contiguous_format
from torchgen_out._runtime.dispatch import calls
from torchgen_out._runtime.dispatch.operator import operators


def copied(view: str, self: Any, *args: Any) -> Any:
    """What the operator `view` shows, contiguous."""
    part = operators[view].calls[self._key](self, *args)
    return calls.clone[part._key](part, contiguous_format)


def copied_each(view: str, self: Any, *args: Any) -> tuple[Any, ...]:
    """The same of all parts that it shows."""
    parts = operators[view].calls[self._key](self, *args)
    clone = calls.clone
    return tuple([clone[part._key](part, contiguous_format) for part in parts])


def narrow_copy(self: Any, dim: int, start: int, length: int) -> Any:
    """The elements of `narrow`, whose dims keep their order in memory."""
    part = calls.narrow[self._key](self, dim, start, length)
    return calls.clone[part._key](part, None)
