"""What a process has of the system: Linux tells, elsewhere it is taken to be nothing."""

from __future__ import annotations

import os
from pathlib import Path

SELF = Path("/proc/self")


def mapped_memory() -> int:
    """How many pieces of shared memory are mapped."""
    return (SELF / "maps").read_text().count("memfd:torchgen") if SELF.exists() else 0


def open_descriptors() -> int:
    """How many descriptors are open."""
    return len(os.listdir(SELF / "fd")) if SELF.exists() else 0
