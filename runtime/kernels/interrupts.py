"""Control-C while kernels are made: whoever waits is interrupted, and what is half done is not.

Numba, left in the middle of an import or a compilation, does not work again in the process: modules
register themselves twice, or never. Python hears signals in the main thread alone.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any


def apart(work: Callable[[], Any]) -> Any:
    """Do long work in a thread of its own and wait for it, so that a signal ends only the waiting.

    The work then goes on, and what it makes is found by the next who needs it. The caller must not
    hold a lock that the work takes. Threads other than the main one work themselves.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    done: list[Any] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="torchgen_compiler")
    try:
        thread.start()
    except RuntimeError:  # no more threads, or the interpreter is ending
        return work()
    thread.join()
    if failed:
        raise failed.pop()
    return done.pop()


@contextlib.contextmanager
def postponed() -> Iterator[None]:
    """Hear Control-C at the end of a short piece of work, and not inside it."""
    handler: Any = signal.getsignal(signal.SIGINT)
    is_heard = threading.current_thread() is threading.main_thread() and callable(handler)
    if not is_heard:
        yield
        return
    heard: list[Any] = []
    signal.signal(signal.SIGINT, lambda *details: heard.append(details))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if heard:
        handler(*heard[-1])
