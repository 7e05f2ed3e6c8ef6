"""Facts of oneDNN, which this library does not use: convolutions are its own."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Return False: there is no oneDNN."""
    return False
