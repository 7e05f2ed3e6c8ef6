"""Of processes that need the same kernel at once, one compiles it; the others load what it made."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

if sys.platform != "win32":
    import fcntl


def guard(module: ModuleType, path: Path, forking: threading.RLock) -> None:
    """Let the kernels of a module's file be compiled by one process at a time.

    forking: held meanwhile, so that no child is forked that would hold the file's lock, too.
    """
    for value in vars(module).values():
        if hasattr(value, "overloads") and value.__module__ == module.__name__:
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
    """Hold the lock of a file; none where the file system has no locks.

    What is compiled for another kernel is compiled under its lock: of two, processes could each
    hold one and wait for the other.
    """
    if _held:
        yield
        return
    with open(path, "rb") as file:
        with contextlib.suppress(OSError, NameError):
            fcntl.flock(file, fcntl.LOCK_EX)
        _held.append(path)
        try:
            yield
        finally:
            _held.pop()
