"""Puts one folder in the place of another at once: who looks sees all of the old or of the new.

Linux exchanges two names in one step. Elsewhere two renames follow each other; a run that dies
between them is undone by `recover` of the next one. A lock on the parent folder keeps runs apart.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def staging(folder: Path) -> Path:
    """The sibling in which the new content of `folder` is put together."""
    return folder.with_name(f".{folder.name}.staged")


def _aside(folder: Path) -> Path:
    """The sibling that holds the old content between two renames."""
    return folder.with_name(f".{folder.name}.old")


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Wait for other runs that write `folder`, then keep them waiting.

    The lock is on the parent folder itself: no lock file is left, and death releases it.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl  # not on every system

    handle = os.open(folder.parent, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def recover(folder: Path) -> None:
    """Undo what a run that was killed left behind."""
    aside = _aside(folder)
    if aside.exists() and not folder.exists():
        os.rename(aside, folder)
    for leftover in (staging(folder), aside):
        shutil.rmtree(leftover, ignore_errors=True)


def exchange(folder: Path) -> None:
    """Put the staged content in the place of `folder`, and delete what was there."""
    staged, aside = staging(folder), _aside(folder)
    if not folder.exists():
        os.rename(staged, folder)
        return
    if not _swap(staged, folder):
        os.rename(folder, aside)
        os.rename(staged, folder)
    recover(folder)


def _swap(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where the system cannot."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    paths = os.fsencode(one), os.fsencode(other)
    return bool(rename(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE) == 0)
