"""The garbage collector, at rest while much is made that stays."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Collect nothing inside: importing the package, and compiling a kernel, make a hundred
    thousand objects that are all needed, which the collector would walk over again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
