"""Worker threads that wait for work in compiled code: a task begins within a microsecond.

Waking a sleeping thread takes 40 us, as long as the sum of 10^6 numbers. So a worker spins for a
while after each task before it sleeps. A task is a compiled kernel's own function, called with the
arguments that Numba's wrapper for Python would pass.

The kernels hold no interpreter lock, nor does a worker that waits or works.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime.forks import at_fork
from torchgen_out._runtime.kernels import worker_loops
from torchgen_out._runtime.kernels.machine import callers, worker_text
from torchgen_out._runtime.kernels.machine.callers import Native
from torchgen_out._runtime.kernels.worker_loops import (
    CAN_MOVE,
    CROWDED,
    DENIED,
    FAILED,
    SLEEPING,
    STOPPED,
)

HEADS = {
    "split_rows": (worker_text.ROWS, ()),
    "split_range": (worker_text.RANGE, (0, 0)),
    "split_numbered": (worker_text.NUMBERED, (0, 0, 0)),
}
"""How calls are split: the code for it, and the arguments that each part has its own values of."""

ALLOWED = os.sched_getaffinity(0) if CAN_MOVE else set()
"""The processors of the process when it began."""

SPINS = 20_000  # pauses of some 10 to 40 ns before a worker sleeps


def _block() -> tuple[Any, int]:
    """Memory for the words that a worker and its callers share, and its address."""
    memory = np.zeros(worker_loops.BLOCK + 8, np.int64)
    return memory, -(-memory.ctypes.data // 64) * 64  # in cache lines of its own


class Worker:
    """One thread, and the block where it finds its task."""

    def __init__(self, number: int) -> None:
        self.memory, self.block = _block()
        self.wake = threading.Lock()  # held while there is nothing to wake up for
        self.wake.acquire()
        self.loops = worker_loops.waiting()
        self.thread = threading.Thread(target=self._live, name=f"torchgen_{number}", daemon=True)
        self.thread.start()
        self.move_away()

    def _live(self) -> None:
        while self.loops.work(self.block, SPINS) != STOPPED:
            self.wake.acquire()

    def rouse(self) -> None:
        """Wake the thread if it sleeps."""
        if self.loops.rouse(self.block):
            self.wake.release()

    def move_away(self) -> None:
        """Keep the thread off the processor that its caller is on.

        Linux wakes a thread beside the one that wakes it, and may leave both there for seconds.
        """
        if not CAN_MOVE:
            return
        own = {self.loops.here()}
        others = os.sched_getaffinity(0) - own or ALLOWED - own  # OpenMP may bind the caller to one
        if others:
            os.sched_setaffinity(self.thread.native_id or 0, others)

    def stop(self) -> None:
        """End the thread: compiled code must not run while the interpreter takes it down."""
        if self.loops.stop(self.block):
            self.wake.release()
        self.thread.join()


_workers: list[Worker] = []
_own = _block()
_blocks = np.array([_own[1]], np.int64)
"""The addresses of the blocks of the caller and of the workers."""
_blocks_at = _blocks.ctypes.data
_lock = threading.Lock()


def forget() -> None:
    """A forked child has none of its parent's threads."""
    global _lock
    _workers.clear()
    _have_blocks(_blocks[:1])
    _lock = threading.Lock()


def stop() -> None:
    """End all workers; new ones are started when needed."""
    with _lock:
        for worker in _workers:
            worker.stop()
        _workers.clear()
        _have_blocks(_blocks[:1])


def _have_blocks(blocks: Any) -> None:
    global _blocks, _blocks_at
    _blocks, _blocks_at = blocks, blocks.ctypes.data


at_fork(after_in_child=forget)
atexit.register(stop)


def run_split(
    native: Native, how: str, parts: int, count: int, unit: int, split: Sequence[Any], shared: Any
) -> bool | None:
    """Call a kernel in parts, the first here, the others by workers.

    how: a function of the callers' side, `split_rows`, `split_range` or `split_numbered`.
    Returns whether no part answered False; None, having done nothing, if another thread has the
    workers or the arguments are too many.
    """
    code, head = HEADS[how]
    if not callers.fits_a_block(native.kinds):
        return None
    go, call = worker_loops.go_address(), native.split
    about = code, parts, count, unit, len(split)
    whole = (*head[1:], count) if head else ()

    def begin() -> int:
        said = call(*about, _blocks_at, go, native.answers, *head, *split, *shared)
        if said < 0:
            raise TypeError("a kernel was called with arguments of other types than it is for")
        return said

    return _run(parts, begin, lambda: native.entry(*whole, *split, *shared))


def run_calls(native: Native, calls: Sequence[Sequence[Any]]) -> bool | None:
    """As run_split, for calls with arguments of their own."""
    if not callers.fits_a_block(native.kinds):
        return None
    go, parts = worker_loops.go(), len(calls)

    def begin() -> int:
        for block, call in zip(_blocks.tolist(), calls, strict=False):
            native.lay(block, *call)
        return int(go(_blocks, parts, native.answers))

    def again() -> None:
        for call in calls:
            native.entry(*call)

    return _run(parts, begin, again)


def _run(parts: int, begin: Callable[[], int], again: Callable[[], Any]) -> bool | None:
    """Begin what needs so many threads until none of them sleeps.

    again: makes all the calls here, to raise what a part of them did elsewhere.
    """
    if not _lock.acquire(blocking=False):
        return None
    try:
        _start(parts - 1)
        while (said := begin()) & SLEEPING:
            for worker in _workers[: parts - 1]:
                worker.rouse()
        if said & CROWDED:
            for worker in _workers[: parts - 1]:
                worker.move_away()
    finally:
        _lock.release()
    if said & FAILED:
        again()
    return not said & DENIED


def _start(count: int) -> None:
    """Have so many workers."""
    while len(_workers) < count:
        _workers.append(Worker(len(_workers)))
        _have_blocks(np.append(_blocks, _workers[-1].block))
