"""Facts of Intel MKL, which this library does not use: matrix products are OpenBLAS's."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Return False: there is no MKL."""
    return False
