"""Arguments that the schema says are truth values or texts, and that are of another class.

**Raises** TypeError: neither an integer nor a tensor stands for a truth value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime import errors


def as_bool(value: Any, operator: str, argument: str, position: int) -> bool:
    """The truth value that one of NumPy stands for."""
    if isinstance(value, np.bool_):
        return bool(value)
    raise errors.class_expected(operator, argument, position, "bool", value)


def as_str(value: Any, operator: str, argument: str, position: int) -> str:
    """A text of a class of the user's own."""
    if isinstance(value, str):
        return value
    raise errors.class_expected(operator, argument, position, "str", value)
