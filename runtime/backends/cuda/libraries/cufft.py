"""Fourier transforms by cuFFT. This module alone knows the library.

A plan is made once per `Transform` and kept, the most recent of them, without memory: a transform
works in memory of the allocator.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from runtime.backends.cuda import driver, streams
from runtime.backends.cuda.libraries import loading
from runtime.core import dtype as dtypes
from runtime.kernels.cuda.fourier.transforms import Transform
from runtime.kernels.cuda.queue import Queue

FORWARD, INVERSE = -1, 1
PLANS_KEPT = 1024


class Fourier:
    """The transforms of one device."""

    def __init__(self, index: int) -> None:
        self.index = index
        self._library = loading.module("cufft")
        self._plans: OrderedDict[Transform, tuple[int, int]] = OrderedDict()
        self._lock = threading.Lock()

    def run(self, queue: Queue, what: Transform, source: int, target: int, forward: bool) -> None:
        """Transform memory at one address into memory at another, in the current stream."""
        driver.current().enter(self.index)
        with self._lock:  # a plan has one stream and one work area
            plan, size = self._plan(what)
            work = queue.empty((max(size, 1),), dtypes.uint8)
            self._library.set_stream(plan, streams.current_handle(self.index))
            self._library.set_work_area(plan, work.address)
            self._library.xt_exec(plan, source, target, FORWARD if forward else INVERSE)

    def _plan(self, what: Transform) -> tuple[int, int]:
        """(a plan, the bytes it works in)."""
        found = self._plans.get(what)
        if found is None:
            found = self._plans[what] = self._make(what)
            if len(self._plans) > PLANS_KEPT:
                self._library.destroy(self._plans.popitem(last=False)[1][0])
        self._plans.move_to_end(what)
        return found

    def _make(self, what: Transform) -> tuple[int, int]:
        """Contiguous memory on both sides: no embedding, and so no strides."""
        library: Any = self._library
        source, result = (loading.data_type(each, "fft") for each in (what.source, what.result))
        computed = loading.data_type(what.source.to_complex(), "fft")
        with loading.making(self.index):
            plan = library.create()
            library.set_auto_allocation(plan, 0)
            size = library.xt_make_plan_many(
                plan, len(what.sizes), what.sizes, 0, 1, 0, source, 0, 1, 0, result, what.batch,
                computed,
            )  # fmt: skip
        return int(plan), int(size)
