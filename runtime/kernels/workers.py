"""Worker threads that wait for work in compiled code: a task begins within a microsecond.

Waking a sleeping thread takes 40 us, as long as the sum of 10^6 numbers. So a worker spins for a
while after each task before it sleeps. A task is a compiled kernel's own function, called with the
arguments that Numba's wrapper for Python would pass.

The kernels hold no interpreter lock, nor does a worker that waits or works.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from torchgen_out._runtime.forks import at_fork
from torchgen_out._runtime.kernels import openmp, worker_loops
from torchgen_out._runtime.kernels.machine import worker_text
from torchgen_out._runtime.kernels.machine.callers import Native
from torchgen_out._runtime.kernels.worker_loops import (
    CAN_MOVE,
    CROWDED,
    DENIED,
    FAILED,
    FUTEX,
    LOAD_FILE,
    SLEEPING,
    STOPPED,
    WAKE_FOR_MORE,
    WAKE_ONE,
    WOKEN,
)

_OWN: tuple[tuple[int, ...], ...] = ((), (0, 0), (0, 0, 0))
"""The arguments that each part has its own values of, by how a call is split."""

ALLOWED = os.sched_getaffinity(0) if CAN_MOVE else set()
"""The processors of the process when it began."""

PATIENCE = 8
"""Short calls in a row that are made here alone while a worker sleeps: after so many, more will
come, and it is woken."""

_LOAD_FILE = ctypes.create_string_buffer(LOAD_FILE)

_short_calls = 0


class Worker:
    """One thread, and the block where it finds its task."""

    def __init__(self, number: int) -> None:
        self.memory, self.block = worker_loops.new_block()
        self.wake = threading.Lock()  # held while there is nothing to wake up for
        self.wake.acquire()
        self.loops = worker_loops.waiting()
        self.thread = threading.Thread(target=self._live, name=f"torchgen_{number}", daemon=True)
        self.thread.start()
        self.move_away()

    def _live(self) -> None:
        about = self.block, ctypes.addressof(_LOAD_FILE), os.cpu_count() or 1
        while self.loops.work(*about) != STOPPED:
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
_own = worker_loops.new_block()
_blocks = np.array([_own[1]], np.int64)
"""The addresses of the blocks of the caller and of the workers."""
_blocks_at = _blocks.ctypes.data
_teams = openmp.Teams(_own[1], ctypes.addressof(_LOAD_FILE))
_go_at = 0
"""Where `go` is, for compiled code."""
_lock = threading.Lock()


def forget() -> None:
    """A forked child has none of its parent's threads."""
    global _lock
    _workers.clear()
    _have_blocks(_blocks[:1])
    _lock = threading.Lock()
    _teams.have_owner()


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


at_fork(before=_teams.end_threads, after_in_child=forget)
atexit.register(stop)


def run_split(
    native: Native,
    how: int,
    parts: int,
    count: int,
    unit: int,
    is_long: bool,
    split: Sequence[Any],
    shared: Any,
) -> bool | None:
    """Call a kernel in parts, the first here, the others by workers.

    how: ROWS, RANGE or NUMBERED of `worker_text`. is_long: whether that is worth waking a worker
    for.
    Returns whether no part answered False; None, having done nothing, if another thread has the
    workers or the arguments are too many.
    """
    if not native.fits_a_block or not _lock.acquire(blocking=False):
        return None
    try:
        if len(_workers) < parts - 1:
            _start(parts - 1)
        wakes = _wakes(is_long)
        said = native.split(
            *(how, parts, count, unit, len(split), _blocks_at, _go_at, native.answers, wakes),
            *(*_OWN[how], *split, *shared),
        )
        if said:
            _see_to(said, parts, is_long)
        if said & FAILED:
            calls = [(*each, *split, *shared) for each in _ranges(how, parts, count)]
            return _call_again(native, calls)
        return not said & DENIED
    finally:
        _lock.release()


def _ranges(how: int, parts: int, count: int) -> list[tuple[int, ...]]:
    """What the calls begin with that do here what was split.

    One does it all, unless each part has a number, and memory of its own.
    """
    if how == worker_text.NUMBERED:
        edges = pairwise(count * part // parts for part in range(parts + 1))
        return [(part, *edge) for part, edge in enumerate(edges)]
    return [(0, count) if how == worker_text.RANGE else ()]


def run_calls(native: Native, is_long: bool, calls: Sequence[Sequence[Any]]) -> bool | None:
    """As run_split, for calls with arguments of their own."""
    if not native.fits_a_block or not _lock.acquire(blocking=False):
        return None
    try:
        parts = len(calls)
        if len(_workers) < parts - 1:
            _start(parts - 1)
        for block, call in zip(_blocks.tolist(), calls, strict=False):
            native.lay(block, *call)
        said = worker_loops.go()(_blocks, parts, native.answers, _wakes(is_long))
        if said:
            _see_to(said, parts, is_long)
        return _call_again(native, calls) if said & FAILED else not said & DENIED
    finally:
        _lock.release()


def _wakes(is_long: bool) -> int:
    """What is to happen where a worker sleeps: 0, WAKE_ONE or WAKE_FOR_MORE of `worker_loops`."""
    if not FUTEX:
        return 0
    return WAKE_FOR_MORE if _short_calls >= PATIENCE else WAKE_ONE if is_long else 0


def _call_again(native: Native, calls: Sequence[Sequence[Any]]) -> bool:
    """Make calls of which one failed here, so that it raises its error; whether none is False."""
    answers = [native.entry(*call) is not False for call in calls]
    return all(answers)


def _see_to(said: int, parts: int, is_long: bool) -> None:
    """Do what is to be done about the workers after a call of which something was said."""
    global _short_calls
    if said < 0:
        raise TypeError("a kernel was called with arguments of other types than it is for")
    if said & (SLEEPING | WOKEN):
        _teams.look()
    used = _workers[: parts - 1]
    if said & CROWDED:
        for worker in used:
            worker.move_away()
    if said & SLEEPING and (is_long or _short_calls >= PATIENCE):
        for worker in used:
            worker.rouse()
        _short_calls = 0
    elif said & (SLEEPING | WOKEN):
        _short_calls = _short_calls + 1 if said & SLEEPING else 0


def _start(count: int) -> None:
    """Have so many workers."""
    global _go_at
    _go_at = worker_loops.go_address()
    while len(_workers) < count:
        _workers.append(Worker(len(_workers)))
        _have_blocks(np.append(_blocks, _workers[-1].block))
