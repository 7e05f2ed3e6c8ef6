"""Operators whose statements update arguments: new values are made, then put where these lie."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.dispatch import ops


def updated(name: str, written: tuple[int, ...], *args: Any) -> Any:
    """What the operator `name` returns before the new values of the arguments `written`, by number.

    To the graph these are constants, as batch normalisation's statistics are; that they are written
    is a write as any other.

    Raises: RuntimeError for new values that are larger than the argument; nothing is written then.
    """
    found = getattr(ops, name)(*args)
    made = found if found.__class__ is tuple else (found,)
    count = len(made) - len(written)
    pairs = [(args[number], value) for number, value in zip(written, made[count:], strict=True)]
    for argument, value in pairs:
        if argument.shape != value.shape:
            raise errors.inplace_shape(name, argument.shape, value.shape)
    for argument, value in pairs:
        ops.copy_(argument, value)
    if count == 1:
        return made[0]
    return made[:count] if count else None
