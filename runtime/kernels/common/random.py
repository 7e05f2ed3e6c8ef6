"""When draws of counts change their method."""

from __future__ import annotations

TRIES = 64
"""Blocks of the stream for a number; fewer than one try in five is in vain."""


FEW = 10.0
"""Expected events up to which they are counted up."""
