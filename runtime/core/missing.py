"""`MISSING`: the default of a parameter whose absence is told from every value."""

from __future__ import annotations

from typing import Any


class _Missing:
    """The class of `MISSING`."""

    def __repr__(self) -> str:
        return "..."

    def __bool__(self) -> bool:
        return False


MISSING: Any = _Missing()
