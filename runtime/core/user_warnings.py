"""Warnings that name the user's line, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings

_LIBRARY = __name__.partition(".")[0]


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside the library."""
    warnings.warn(text, category, stacklevel=_level_of_user())


def _level_of_user() -> int:
    """The stack level, as `warn` counts it, of the first line outside the library."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == _LIBRARY:
        level, frame = level + 1, frame.f_back
    return level
