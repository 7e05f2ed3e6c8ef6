"""Of processes that need the same kernel at once, one compiles it; the others load what it made."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

if sys.platform != "win32":
    import fcntl

PATIENCE = 20.0
"""Seconds after which a kernel is compiled although another process seems to be at it."""

BETWEEN = 0.002  # seconds between two looks whether it is done


def guard(module: ModuleType, path: Path, forking: threading.RLock) -> None:
    """Let the kernels of a module's file be compiled by one process at a time.

    forking: held meanwhile, so that no child is forked that would hold the file's lock, too.
    """
    for value in vars(module).values():
        is_own = hasattr(value, "overloads") and value.__module__ == module.__name__
        if is_own and "compile" not in vars(value):  # under another name
            value.compile = _alone(value.compile, path, forking)


def _alone(compile: Callable[..., Any], path: Path, forking: threading.RLock) -> Callable[..., Any]:
    @functools.wraps(compile)
    def alone(signature: Any) -> Any:
        with forking, _locked(path):
            return compile(signature)  # looks into the cache first

    return alone


_held: list[Path] = []
"""The file whose lock this process has."""


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file; none where the file system has none, or whoever has it is stuck.

    What is compiled for another kernel is compiled under its lock: of two, processes could each
    hold one and wait for the other.
    """
    if _held:
        yield
        return
    with open(path, "rb") as file:
        end = time.monotonic() + PATIENCE
        while not _lock(file.fileno()) and time.monotonic() < end:
            time.sleep(BETWEEN)
        _held.append(path)
        try:
            yield
        finally:
            _held.pop()


def _lock(descriptor: int) -> bool:
    """Take the lock of a file, or do without where there is none; False if another has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (OSError, NameError):
        return True
    return True
