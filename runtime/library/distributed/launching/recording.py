"""`record`: what a main function is decorated with, so that a launcher sees its errors."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from torchgen_out._runtime.library.distributed.launching import start
from torchgen_out._runtime.library.distributed.launching.agent import ChildFailedError

__all__ = ["ChildFailedError", "record"]

Function = TypeVar("Function", bound=Callable[..., Any])


def record(fn: Function, error_handler: Any = None) -> Function:
    """Let an error of a function be written where the launcher looks, and go on."""

    @functools.wraps(fn)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        try:
            return fn(*args, **kwargs)
        except Exception as error:
            start.note(type(error), error, sys.exc_info()[2])
            raise

    return recorded  # type: ignore[return-value]
