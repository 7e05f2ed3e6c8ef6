"""The CUDA backend, as the dispatcher sees it."""

from __future__ import annotations

from typing import Any

from runtime import errors
from runtime.backends.cuda import availability


def open_backend() -> Any:
    """Return the backend.

    Raises: RuntimeError saying what is missing where CUDA cannot be used.
    """
    availability.require()
    raise errors.no_backend("cuda")
