"""Arguments of composites that the schema says are numbers, and that are no plain ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.tensor import Tensor


def as_float(value: Any, operator: str, argument: str, position: int) -> Any:
    """The value, which may be a tensor of one number of which nobody wants the gradient.

    Raises: TypeError for other tensors: a parameter given here would never learn.
    """
    return _checked(value, operator, argument, position, "float")


def as_scalar(value: Any, operator: str, argument: str, position: int) -> Any:
    """The same where complex numbers are taken, too."""
    return _checked(value, operator, argument, position, "Number")


def _checked(value: Any, operator: str, argument: str, position: int, kind: str) -> Any:
    if isinstance(value, Tensor):
        is_number = not (value._sizes or value._key & keys.GRAD)
    else:
        is_number = isinstance(value, _TAKEN[kind])
    if not is_number:
        raise errors.class_expected(operator, argument, position, kind, value)
    return value


_REAL = (int, float, np.floating, np.integer, np.bool_)
_TAKEN = {"float": _REAL, "Number": (*_REAL, complex, np.complexfloating)}
