"""Facts of Apple Metal, for which there is no backend."""

from __future__ import annotations

__all__ = ["is_available", "is_built"]


def is_available() -> bool:
    """Return False: there is no backend for it."""
    return False


def is_built() -> bool:
    """Return False: there is no backend for it."""
    return False
