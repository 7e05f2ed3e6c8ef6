"""Why one waits: a line on a terminal as soon as compiling has taken a second, else the log."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator

from torchgen_out._runtime.kernels.store import log

PATIENCE = 1.0
"""Seconds of waiting after which one is told, and of none after which it begins anew."""

ERASE = "\r\x1b[K"
_lock = threading.Lock()
_state = {"began": 0.0, "ended": 0.0, "count": 0}


@contextlib.contextmanager
def waiting_for(name: str) -> Iterator[None]:
    """Tell what is compiled, should that take long together with what was just before."""
    now = time.monotonic()
    with _lock:
        if now - _state["ended"] > PATIENCE:
            _state["began"] = now
        _state["count"] += 1
        left, count = _state["began"] + PATIENCE - now, int(_state["count"])
    line = _Line(f"torchgen_out compiles {name} ({count} kernels so far)", left)
    try:
        yield
    finally:
        line.end()
        with _lock:
            _state["ended"] = time.monotonic()
        log.info("compiled %s in %.2f s, %d so far", name, time.monotonic() - now, count)


class _Line:
    """A line on the terminal that appears after a while and goes when all is done."""

    def __init__(self, text: str, after: float) -> None:
        self.text = text
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None
        if _is_shown():
            self._thread = threading.Thread(target=self._show, args=(after,), daemon=True)
            with contextlib.suppress(RuntimeError):  # the interpreter is ending
                self._thread.start()

    def _show(self, after: float) -> None:
        if not self._is_over.wait(max(after, 0)):
            sys.stderr.write(ERASE + self.text)
            sys.stderr.flush()
            self._is_over.wait()
            sys.stderr.write(ERASE)
            sys.stderr.flush()

    def end(self) -> None:
        self._is_over.set()
        if self._thread is not None and self._thread.is_alive():
            self._thread.join()


def _is_shown() -> bool:
    """Whether somebody looks, and wants to see it."""
    is_quiet = os.environ.get("TORCHGEN_QUIET", "") not in ("", "0")
    return not is_quiet and sys.stderr is not None and sys.stderr.isatty()
