"""Packs that came with installed distributions, or that TORCHGEN_PACKS names."""

from __future__ import annotations


def find(key: str) -> bytes | None:
    """The encoded entry of a kernel in a pack for this system and processor, if one has it."""
    return None
