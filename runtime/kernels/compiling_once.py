"""Of processes that need the same kernel at once, one compiles it; the others load what it made."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl

PATIENCE = 60.0
"""Seconds after which a kernel is compiled although another process seems to be at it."""

BETWEEN = 0.002  # seconds between two looks whether it is done


_held: list[Path] = []
"""The file whose lock this process has."""


@contextlib.contextmanager
def locked(path: Path | None) -> Iterator[None]:
    """Hold the lock of a file; none where there is no file, or whoever has its lock is stuck.

    What is compiled for another kernel is compiled under its lock: of two, processes could each
    hold one and wait for the other.
    """
    file = None if path is None or _held else _opened(path)
    if path is None or file is None:
        yield
        return
    with file:
        end = time.monotonic() + PATIENCE
        while not _lock(file.fileno()) and time.monotonic() < end:
            time.sleep(BETWEEN)
        _held.append(path)
        try:
            yield
        finally:
            _held.pop()


def _opened(path: Path) -> BinaryIO | None:
    try:
        return open(path, "rb")
    except OSError:
        return None


def _lock(descriptor: int) -> bool:
    """Take the lock of a file, or do without where there is none; False if another has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (OSError, NameError):
        return True
    return True
