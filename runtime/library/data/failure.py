"""An exception on its way from a worker to the loader: its class, and its traceback as text."""

from __future__ import annotations

import traceback
from typing import Any


class _Message(str):
    """Text that KeyError, which shows the repr of its argument, leaves as it is."""

    def __repr__(self) -> str:
        return str(self)


class Failure:
    """What went wrong, and where. Neither frames nor values travel: they may not be picklable."""

    def __init__(self, error: BaseException, where: str) -> None:
        self.kind = type(error)
        self.text = "".join(traceback.format_exception(error))
        self.where = where

    def reraise(self) -> None:
        """**Raises** the exception's class with the traceback as its message.

        RuntimeError takes the place of a class that cannot be made from a message alone.
        """
        message = f"Caught {self.kind.__name__} {self.where}.\nOriginal {self.text}"
        if self.kind is KeyError:
            message = _Message(message)
        kind: Any = self.kind
        try:
            error = kind(message=message) if getattr(kind, "message", None) else kind(message)
        except Exception:  # whatever a class of the user's makes of one argument
            error = RuntimeError(message)
        raise error
