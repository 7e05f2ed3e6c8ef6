"""Fourier transforms by cuFFT. This module alone knows the library.

A plan is made once per `Transform` and kept, the most recent of them, without memory: a transform
works in the stream's workspace or, if it needs more, in memory of the allocator.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda import driver, streams
from torchgen_out._runtime.backends.cuda.libraries import loading, workspace
from torchgen_out._runtime.backends.cuda.libraries.kept import Kept
from torchgen_out._runtime.kernels.cuda.fft.transforms import Transform

FORWARD, INVERSE = -1, 1
PLANS_KEPT = 1024


class Fourier:
    """The transforms of one device."""

    def __init__(self, index: int) -> None:
        self.index = index
        self._library = loading.module("cufft")
        self._plans = Kept(PLANS_KEPT, lambda made: self._library.destroy(made[0]))
        self._lock = threading.Lock()

    def run(self, what: Transform, source: int, target: int, forward: bool) -> None:
        """Transform memory at one address into memory at another, in the current stream."""
        driver.current().enter(self.index)
        with self._lock:  # a plan has one stream and one work area
            plan, size = self._plans.find(what, partial(self._make, what))
            work = workspace.of(self.index, size)
            self._library.set_stream(plan, streams.current_handle(self.index))
            self._library.set_work_area(plan, work.address)
            self._library.xt_exec(plan, source, target, FORWARD if forward else INVERSE)

    def _make(self, what: Transform) -> tuple[int, int]:
        """(a plan for contiguous memory on both sides, the bytes it works in)."""
        library: Any = self._library
        source, result = (loading.data_type(each, "fft") for each in (what.source, what.result))
        computed = loading.data_type(what.source.to_complex(), "fft")
        with loading.making(self.index):
            plan = int(library.create())
            try:
                library.set_auto_allocation(plan, 0)
                size = library.xt_make_plan_many(
                    plan, len(what.sizes), what.sizes, 0, 1, 0, source, 0, 1, 0, result,
                    what.batch, computed,
                )  # fmt: skip
            except errors.LibraryError:
                library.destroy(plan)
                raise
        return plan, int(size)
