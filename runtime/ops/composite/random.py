"""Composites that draw random numbers."""

from __future__ import annotations

from typing import Any

from runtime import errors
from runtime.dispatch import ops


def dropout(input: Any, p: float, train: bool) -> Any:
    """Drop and scale in training, else nothing. **Raises** RuntimeError unless p is in [0, 1]."""
    if not 0 <= p <= 1:
        raise errors.dropout_probability(p)
    if not train or p == 0 or not input.numel():
        return input
    return ops.native_dropout(input, p, True)[0]


def dropout_(self: Any, p: float, train: bool) -> Any:
    """The same in place."""
    dropped = dropout(self, p, train)
    return self if dropped is self else self.copy_(dropped)
