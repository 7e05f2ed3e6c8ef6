"""The garbage collector, at rest while much is made that stays."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def paused(all_stays: bool = False) -> Iterator[None]:
    """Collect nothing inside: importing the package, and compiling a kernel, make a hundred
    thousand objects that are all needed, which the collector would walk over again and again.

    all_stays: what was made inside counts as old from then on, without the walk of 15 ms that finds
    it in use.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if all_stays and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()  # to the oldest generation, not to where it was
        if was_on:
            gc.enable()
