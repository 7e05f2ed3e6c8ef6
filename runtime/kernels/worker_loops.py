"""The compiled side of worker threads: waiting for a task, and doing tasks together.

A worker and its callers share a block of memory, words of 8 bytes: the worker's state, and one
call of a kernel. All that happens between the interpreter's call and its return is compiled, for
after an operator on large arrays the interpreter's own code is no longer in the caches, and a
microsecond of Python takes ten.

A worker that waits lets others have its processor, and learns from the clock whether it did. A
thread that spins for a library of its own - OpenMP's do, for milliseconds - is in nobody's way any
more then: the worker sleeps, and who is woken comes first, while who yields comes last. Being woken
takes 10 to 40 us, so it asks the system every now and then whether anybody waits for a processor
still; until then it stays awake for a moment after a task, and yields to nobody, where the one
before came as soon.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build, native, team_text
from torchgen_out._runtime.kernels.machine import worker_text
from torchgen_out._runtime.kernels.machine.call_text import MOST_WORDS

AWAKE, READY, ASLEEP, STOPPED = range(4)
"""States of a worker. Whether a task is done is another word: it may sleep before anyone looks."""

FAILED, DENIED, CROWDED, SLEEPING, WOKEN = 1, 2, 4, 8, 16
"""What may be said of a task, added together: a part raised an error; a part answered False; a
worker was last seen on the processor of its caller; all was done here, as a worker sleeps; a worker
slept and was woken."""

STATE, STATUS, DONE, PROCESSOR, CLOCK, POSTED, LOAD = 0, 16, 24, 32, 40, 56, 80
"""Places in a block, in bytes, beside those of `worker_text`; POSTED: when a worker that slept was
given its task."""

SPIN = 10_000_000
"""Nanoseconds for which a worker waits awake after a task: one that is woken instead is about 50 us
late, as long as an element-wise operator on 10^6 numbers takes."""
LONG = 100_000
"""Nanoseconds after which a worker that let others go first knows that its processor is wanted."""
HOLD = 10_000
"""Nanoseconds for which it waits awake then, where its last task came within so many."""
CREDIT = 2_000_000
"""The scheduler's slice or less, in nanoseconds. A worker that has taken more of its processor than
it has slept since is not let on it before others again: it stays awake only as long as it may."""
FIRST_LOOK, LAST_LOOK = 1_000_000, 320_000_000
"""Nanoseconds until it asks the system whether that is still so; doubled each time that the system
says no, and its processor is wanted again within SPIN."""

LOAD_FILE = b"/proc/loadavg\0"
"""Where Linux says how many threads run or wait for a processor: 0.5 0.5 0.5 threads/all newest."""
LOAD_BYTES, SLASH, ZERO, SPACE = 48, *b"/0 "
READ_ONLY = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)
HAS_LOAD = os.path.exists(LOAD_FILE[:-1])

WAKE_ONE, WAKE_FOR_MORE = 1, 2
"""How `go` wakes who sleeps: for one task, or as more of them are expected to come soon."""

FUTEX = {"x86_64": 202, "aarch64": 98}.get(platform.machine(), 0) if sys.platform == "linux" else 0
"""The number of Linux's system call by which threads sleep and wake each other; 0 where there is
none that is known here, and the interpreter's locks do it."""
WAIT, WAKE = 128, 129  # what that call is asked for, among the threads of one process

MONOTONIC = time.CLOCK_MONOTONIC if hasattr(time, "CLOCK_MONOTONIC") else 1

BLOCK = worker_text.WORDS // 8 + MOST_WORDS
"""Words of 8 bytes in a block."""

CAN_MOVE = hasattr(os, "sched_setaffinity")
"""Whether this system says where threads run, and lets them be moved."""


def new_block() -> tuple[Any, int]:
    """Memory for a block, and the block's address: in cache lines of its own."""
    memory = np.zeros(BLOCK + 8, np.int64)
    return memory, -(-memory.ctypes.data // 64) * 64


INTRINSICS = '''\
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
    """Call a kernel with the address of its words; its status."""

    def emit(context, builder, signature, args):
        kind = ir.FunctionType(ir.IntType(32), [I64])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), [args[1]])

    return types.int32(types.int64, types.int64), emit
'''
"""Words of memory that threads share, and calls of kernels."""

CLOCKS = '''\
yield_now = types.ExternalFunction("sched_yield", types.int32())
read_clock = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.int64))


@inner
def now(block):
    """Nanoseconds of a clock that never goes back."""
    read_clock(MONOTONIC, block + CLOCK)
    return read(block + CLOCK) * 1_000_000_000 + read(block + CLOCK + 8)
'''

WHERE = """\
processor = types.ExternalFunction("sched_getcpu", types.int32())
"""

NOWHERE = """\
@inner
def processor():
    return -1
"""

SLEEPING_HERE = '''\
system = types.ExternalFunction(
    "syscall", types.int64(*[types.int64] * 7)
)


@inner
def sleep(block):
    """Sleep while the block says so."""
    while read(block) == ASLEEP:
        system(FUTEX, block, WAIT, ASLEEP, 0, 0, 0)
    return True


@inner
def wake(block):
    system(FUTEX, block, WAKE, 1, 0, 0, 0)
    return True
'''

SLEEPING_ELSEWHERE = """\
@inner
def sleep(block):
    return False


@inner
def wake(block):
    return False
"""

LOOKING = '''\
open_file = types.ExternalFunction("open", types.int32(types.int64, types.int32))
read_file = types.ExternalFunction("read", types.int64(types.int32, types.int64, types.int64))
close_file = types.ExternalFunction("close", types.int32(types.int32))


@inner
def somebody_waits(block, load_file, processors):
    """Whether more threads of all programs want to run than there are processors."""
    file = open_file(load_file, READ_ONLY)
    if file < 0:
        return False
    count = read_file(file, block + LOAD, LOAD_BYTES)
    close_file(file)
    number = 0
    for i in range(count):
        letter = read(block + LOAD + i - i % 8) >> 8 * (i % 8) & 0xFF
        if letter == SLASH:
            return number > processors
        number = 10 * number + letter - ZERO if letter != SPACE else 0
    return False
'''

NOT_LOOKING = """\
@inner
def somebody_waits(block, load_file, processors):
    return False
"""

DOING = '''\
@inner
def do(block):
    """Make the call that a block holds."""
    exchange(block + STATUS, call(read(block + TASK), block + WORDS))
'''

WAITING = '''\
@entry
def work(block, load_file, processors):
    """Do tasks as they come, until the block says to stop; sleep when nothing comes for long.

    Return why it ended: STOPPED, or ASLEEP where it cannot sleep here.
    """
    look_at, pace, doubted = 0, FIRST_LOOK, 0
    ended, is_soon, tries = now(block), False, 0
    until, since, credit = ended + SPIN, ended, 0
    exchange(block + PROCESSOR, processor())
    while True:
        state = read(block)
        if state == READY:
            if not replace(block, READY, AWAKE):
                continue  # taken back
            do(block)
            exchange(block + DONE, 1)
            ended = now(block)
            if look_at > 0 and ended >= look_at:
                look_at = ended + pace if somebody_waits(block, load_file, processors) else 0
            if look_at == 0:
                until = ended + SPIN
            else:
                until = ended + HOLD if is_soon and ended - since < credit else 0
        elif state == STOPPED:
            return STOPPED
        elif until > 0:
            tries += 1
            if tries % 64 != 0:
                continue
            before = now(block)
            if look_at > 0:  # who yields would be away for milliseconds
                if before >= until:
                    until = 0
                    if before >= look_at:  # whoever woke it took its task back
                        waits = somebody_waits(block, load_file, processors)
                        look_at, until = (before + pace, 0) if waits else (0, before + SPIN)
                continue
            yield_now()
            after = now(block)
            exchange(block + PROCESSOR, processor())
            if after - before > LONG:
                if somebody_waits(block, load_file, processors):
                    look_at, pace, until = after + FIRST_LOOK, FIRST_LOOK, 0
                    since, credit = after, 0
                elif before - doubted < SPIN:
                    pace = min(2 * pace, LAST_LOOK)
                    look_at, until = after + pace, 0
                else:
                    doubted = after
            elif after > until:
                until = 0
        elif replace(block, state, ASLEEP):
            slept = now(block)
            if not sleep(block):
                return ASLEEP
            woken = now(block)
            credit += (woken - slept) - (slept - since)
            credit, since = max(min(credit, CREDIT), -CREDIT), woken
            is_soon = read(block + POSTED) - ended < HOLD
            until = woken + (HOLD if look_at > 0 else SPIN)


@entry
def rouse(block):
    """Say that the worker is awake; whether it slept, so that somebody must see to it."""
    return replace(block, ASLEEP, AWAKE)


@entry
def stop(block):
    """Say that the worker is to end; whether it sleeps, so that somebody must see to it."""
    return exchange(block, STOPPED) == ASLEEP and not wake(block)


@entry
def here():
    """The processor that runs the calling thread."""
    return processor()
'''

GOING = '''\
@inner
def give(blocks, parts, wakes):
    """Give all calls but the first to workers; what is said of them."""
    said = 0
    for part in range(1, parts):
        block = blocks[part]
        if read(block + PROCESSOR) == processor():
            said |= CROWDED
        exchange(block + DONE, 0)
        if replace(block, AWAKE, READY):
            continue
        exchange(block + POSTED, now(blocks[0]) if wakes == WAKE_ONE else 0)
        if wakes and replace(block, ASLEEP, READY):
            wake(block)
            said |= WOKEN
        else:
            exchange(block + DONE, -1)  # it has just fallen asleep
    return said


@inner
def outcome(blocks, parts, answers):
    """What is said of calls that were made."""
    said = 0
    for part in range(parts):
        if read(blocks[part] + STATUS) != 0:
            said |= FAILED
        if answers and read(blocks[part] + RESULT) & 0xFF == 0:
            said |= DENIED
    return said


@entry
def go(blocks, parts, answers, wakes):
    """Make the calls of some blocks: the first here, the others by the blocks' workers.

    What a worker has not begun when the first is done - other programs have its core - is done
    here, too: on a busy machine nobody waits for a thread that does not run. Where a worker sleeps
    and is not to be woken all is done here.
    """
    for part in range(1, parts):
        if read(blocks[part]) == ASLEEP:
            team = team_for(blocks[0], parts, wakes)
            if team != 0:
                join(team, blocks, parts)
                return outcome(blocks, parts, answers)
            if not wakes:
                for own in range(parts):
                    do(blocks[own])
                return SLEEPING | outcome(blocks, parts, answers)
            break
    said = give(blocks, parts, wakes)
    do(blocks[0])
    for part in range(1, parts):
        block = blocks[part]
        if read(block + DONE) == -1 or replace(block, READY, AWAKE):
            do(block)
            exchange(block + DONE, 1)
    for part in range(1, parts):
        count = 0
        while read(blocks[part] + DONE) == 0:
            count += 1
            if count > 1000:
                yield_now()
    return said | outcome(blocks, parts, answers)
'''


NAMES = """
    AWAKE READY ASLEEP STOPPED FAILED DENIED CROWDED SLEEPING WOKEN WAKE_ONE
    TASK STATUS DONE PROCESSOR CLOCK POSTED LOAD RESULT ERROR WORDS
    SPIN LONG HOLD CREDIT FIRST_LOOK LAST_LOOK FUTEX WAIT WAKE MONOTONIC
    READ_ONLY LOAD_BYTES SLASH ZERO SPACE
"""
"""Of this module and `worker_text`, those that the texts use."""


def _text(*parts: str) -> str:
    here = {**vars(worker_text), **vars(team_text), **globals()}
    names = [*NAMES.split(), *team_text.NAMES.split()]
    constants = "\n".join(f"{name} = {here[name]}" for name in names)
    head = build.HEADER.format(title="Worker threads.")
    where = WHERE if CAN_MOVE else NOWHERE
    sleeping = SLEEPING_HERE if FUTEX else SLEEPING_ELSEWHERE
    common = [INTRINSICS, CLOCKS, where, sleeping, DOING]
    return "\n\n".join([head, constants + "\n", *common, *parts])


def _looking() -> str:
    return LOOKING if HAS_LOAD else NOT_LOOKING


class Loops:
    """What workers do, and what is done to them: `work`, `rouse`, `stop` and `here`."""

    def __init__(self) -> None:
        self.work = self._entry("work", int, int, int)
        self.rouse = self._entry("rouse", int)
        self.stop = self._entry("stop", int)
        self.here = self._entry("here")

    @staticmethod
    def _entry(function: str, *arguments: Any) -> Any:
        return build.entry_point("waiting", _text(_looking(), WAITING), arguments, function)


@cache
def waiting() -> Loops:
    """What workers do."""
    return Loops()


@cache
def go() -> Any:
    """`go`, which makes the calls that blocks hold."""
    return _caller_entry("go", np.dtype(np.int64), int, bool, int)


def go_address() -> int:
    """Where the same is, for compiled code."""
    return _address(go())


def take_address() -> int:
    """Where `take` is, which a team's threads call with the address of a block's words."""
    return _address(_caller_entry("take", int))


def _caller_entry(function: str, *arguments: Any) -> Any:
    parts = _looking(), team_text.INTRINSIC, team_text.TEXT, GOING
    return build.entry_point("going", _text(*parts), arguments, function)


def _address(entry: Any) -> int:
    found = native.native_call(entry)
    assert found is not None
    return found.address
