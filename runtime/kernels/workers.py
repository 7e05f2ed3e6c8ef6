"""Worker threads that wait for work in compiled code: a task begins within a microsecond.

Waking a sleeping thread takes 40 us, as long as the sum of 10^6 numbers. So a worker spins for a
while after each task before it sleeps. A task is a compiled kernel's own function, called with the
arguments that Numba's wrapper for Python would pass: for an array its seven fields.

The kernels hold no interpreter lock, nor does a worker that waits or works.
"""

from __future__ import annotations

import atexit
import os
import struct
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from runtime.kernels import build

AWAKE, READY, ASLEEP, STOPPED = range(4)
"""States of a worker. Whether a task is done is another word: it may sleep before anyone looks."""

SPINS = 20_000  # pauses of some 10 to 40 ns before a worker sleeps
FIELDS = 7  # of a one-dimensional array: owner, parent, size, item size, data, shape, stride
MOST_VALUES = 128

ATOMICS = '''\
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

I64 = ir.IntType(64)


def place(builder, address):
    """The address as a pointer to int64."""
    return builder.inttoptr(address, I64.as_pointer())


@intrinsic
def read(typingctx, address):
    """The word at an address, with all that was written before it."""

    def emit(context, builder, signature, args):
        return builder.load_atomic(place(builder, args[0]), "acquire", 8)

    return types.int64(types.int64), emit


@intrinsic
def exchange(typingctx, address, value):
    """Put a word in the place of another, after all that was written before; return the other."""

    def emit(context, builder, signature, args):
        return builder.atomic_rmw("xchg", place(builder, args[0]), args[1], "seq_cst")

    return types.int64(types.int64, types.int64), emit


@intrinsic
def replace(typingctx, address, expected, value):
    """Put a word in the place of an expected one; whether that was there."""

    def emit(context, builder, signature, args):
        pair = builder.cmpxchg(place(builder, args[0]), args[1], args[2], "seq_cst", "seq_cst")
        return builder.extract_value(pair, 1)

    return types.boolean(types.int64, types.int64, types.int64), emit


@intrinsic
def call(typingctx, function, argument):
    """Call a function that takes and returns an int64."""

    def emit(context, builder, signature, args):
        kind = ir.FunctionType(I64, [I64])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), [args[1]])

    return types.int64(types.int64, types.int64), emit


yield_now = types.ExternalFunction("sched_yield", types.int32())
'''

LOOPS = '''\
@njit(types.int64(types.int64, types.int64), cache=True, **options)
def work(slot, spins):
    """Do tasks as they come: slot holds state, function, argument, answer, and whether it is done.

    Return why it ended: ASLEEP or STOPPED.
    """
    left = spins
    while True:
        state = read(slot)
        if state == READY:
            if not replace(slot, READY, AWAKE):
                continue  # taken back
            answer = call(read(slot + 8), read(slot + 16))
            exchange(slot + 24, answer)
            exchange(slot + 32, 1)
            left = spins
        elif state == STOPPED:
            return STOPPED
        elif left > 0:
            left -= 1
            if left % 64 == 0:
                yield_now()
        elif replace(slot, state, ASLEEP):
            return ASLEEP


@njit(types.int64(types.int64, types.int64), cache=True, **options)
def publish(slot, state):
    """Set the state, to READY or STOPPED; return the one before."""
    return exchange(slot, state)


@njit(types.boolean(types.int64), cache=True, **options)
def take_back(slot):
    """Withdraw the task if it has not been begun; whether that was so."""
    if not replace(slot, READY, AWAKE):
        return False
    exchange(slot + 24, 0)
    exchange(slot + 32, 1)
    return True


@njit(types.int64(types.int64), cache=True, **options)
def wait(slot):
    """Wait until the task is done; return its answer."""
    count = 0
    while read(slot + 32) == 0:
        count += 1
        if count > 1000:
            yield_now()
    return read(slot + 24)
'''

UNPACK = '''\
@intrinsic
def run(typingctx, argument):
    """Call a kernel: its address, places for its result and error, and its arguments."""

    def emit(context, builder, signature, args):
        words = place(builder, args[0])
        kinds = [ir.DoubleType() if kind == "d" else I64 for kind in PATTERN]
        values = []
        for i, kind in enumerate(kinds):
            word = builder.gep(words, [ir.Constant(I64, i)])
            values.append(builder.load(builder.bitcast(word, kind.as_pointer())))
        function = ir.FunctionType(ir.IntType(32), kinds[1:])
        status = builder.call(builder.inttoptr(values[0], function.as_pointer()), values[1:])
        return builder.sext(status, I64)

    return types.int64(types.int64), emit


@cfunc(types.int64(types.int64), cache=True)
def unpack(argument):
    return run(argument)
'''


def _text(title: str, *parts: str) -> str:
    constants = f"AWAKE, READY, ASLEEP, STOPPED = {AWAKE}, {READY}, {ASLEEP}, {STOPPED}\n"
    return "\n\n".join([build.HEADER.format(title=title), constants, ATOMICS, *parts])


@cache
def _loops() -> Any:
    return build.load_text("workers", _text("Worker threads.", LOOPS))


@cache
def _unpacker(pattern: str) -> int:
    """The address of the function that calls kernels with arguments of one pattern of kinds."""
    constant = f'from numba import cfunc\n\nPATTERN = "{pattern}"\n'
    module = build.load_text(f"unpack_{len(pattern)}", _text("A task.", constant, UNPACK))
    return int(module.unpack.address)


class Worker:
    """One thread, and the place where it finds its task."""

    def __init__(self, number: int) -> None:
        self.slot = np.zeros(5, np.int64)  # state, function, argument, answer, is it done
        self.words = bytearray(8 * MOST_VALUES)
        self.error = np.zeros(2, np.int64)
        self.slot_address = int(self.slot.ctypes.data)
        self.words_address = int(np.frombuffer(self.words, np.uint8).ctypes.data)
        self.error_address = int(self.error.ctypes.data)
        self.wake = threading.Lock()  # held while there is nothing to wake up for
        self.wake.acquire()
        self.loops = _loops()
        self.publish, self.wait_for = self.loops.publish, self.loops.wait
        self.thread = threading.Thread(target=self._live, name=f"torchgen_{number}", daemon=True)
        self.thread.start()

    def _live(self) -> None:
        while self.loops.work(self.slot_address, SPINS) != STOPPED:
            self.wake.acquire()

    def stop(self) -> None:
        """End the thread: compiled code must not run while the interpreter takes it down."""
        if self.publish(self.slot_address, STOPPED) == ASLEEP:
            self.wake.release()
        self.thread.join()

    def start(self, function: int, args: Sequence[Any]) -> None:
        """Begin function(*args), arguments being flat arrays, ints and floats."""
        values: list[Any] = [function, self.error_address, self.error_address + 8]
        pattern = "qqq"
        for arg in args:
            if arg.__class__ is np.ndarray:
                address = arg.__array_interface__["data"][0]
                values += (0, 0, arg.size, arg.itemsize, address, arg.size, arg.itemsize)
                pattern += "q" * FIELDS
            else:
                values.append(arg)
                pattern += "d" if arg.__class__ is float else "q"
        struct.pack_into(pattern, self.words, 0, *values)
        self.slot[1:] = _unpacker(pattern), self.words_address, 0, 0
        if self.publish(self.slot_address, READY) == ASLEEP:
            self.wake.release()

    def take_back(self) -> bool:
        """Withdraw the task if the worker has not begun with it; whether that was so."""
        return self.loops.take_back(self.slot_address)  # type: ignore[no-any-return]

    def wait(self) -> bool:
        """Wait for the task; whether it went well."""
        return self.wait_for(self.slot_address) == 0  # type: ignore[no-any-return]


_workers: list[Worker] = []
_lock = threading.Lock()


def forget() -> None:
    """A forked child has none of its parent's threads."""
    global _lock
    _workers.clear()
    _lock = threading.Lock()


def stop() -> None:
    """End all workers; new ones are started when needed."""
    with _lock:
        for worker in _workers:
            worker.stop()
        _workers.clear()


os.register_at_fork(after_in_child=forget)
atexit.register(stop)


def run(kernel: Callable[..., Any], function: int, calls: Sequence[tuple[Any, ...]]) -> bool:
    """kernel(*call) for each of some calls: the first here, the others by workers.

    What a worker has not begun when the first is done - it sleeps, or other programs have its
    core - is done here, too: on a busy machine nobody waits for a thread that does not run.
    function: the address of the kernel's own function. Returns False, having done nothing, if
    another thread has the workers.
    """
    if not _lock.acquire(blocking=False):
        return False
    try:
        while len(_workers) < len(calls) - 1:
            _workers.append(Worker(len(_workers)))
        started = []
        for worker, call in zip(_workers, calls[1:], strict=False):
            worker.start(function, call)
            started.append((worker, call))
        try:
            kernel(*calls[0])
            for worker, call in started:
                if worker.take_back():
                    kernel(*call)
        finally:
            failed = [call for worker, call in started if not worker.wait()]
        for call in failed:
            kernel(*call)  # raises what the worker could not
    finally:
        _lock.release()
    return True
