"""What a file may use as a key of a dict or an element of a set."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.library.serialization import errors

_MAX_PARTS = 100
_MAX_BITS = 64
_NESTED = (tuple, frozenset, Size)


def check_key(key: Any) -> None:
    """Check that hashing a key ends soon.

    Tuples that share their parts can be small and yet take 2**n steps to hash, deep ones exhaust
    the C stack, and long ints can be chosen to collide; so the parts are counted first.
    **Raises** LoadError for such keys, and for what cannot be hashed.
    """
    if type(key) is str:
        return
    parts, count = [key], 0
    while parts:
        part = parts.pop()
        count += 1
        if count > _MAX_PARTS:
            raise errors.damaged(f"a key has more than {_MAX_PARTS} parts")
        if type(part) in _NESTED:
            if len(part) > _MAX_PARTS:
                raise errors.damaged(f"a key has more than {_MAX_PARTS} parts")
            parts.extend(part)
        elif type(part) is int and part.bit_length() > _MAX_BITS:
            raise errors.damaged(f"a key is an int of more than {_MAX_BITS} bits")
        elif type(part).__hash__ is None or type(part) is slice:
            raise errors.damaged(f"a key of type {type(part).__name__} cannot be hashed")
