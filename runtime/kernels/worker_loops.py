"""The compiled side of worker threads: waiting for a task, laying tasks out, doing them together.

A worker and its callers share a block of memory, words of 8 bytes: the worker's state, and one
call of a kernel. All that happens between the interpreter's call and its return is compiled, for
after an operator on large arrays the interpreter's own code is no longer in the caches, and a
microsecond of Python takes ten.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.native import Kind, word_count

AWAKE, READY, ASLEEP, STOPPED = range(4)
"""States of a worker. Whether a task is done is another word: it may sleep before anyone looks."""

FAILED, DENIED, CROWDED, SLEEPING = 1, 2, 4, 8
"""What may be said of a task, added together: a part raised an error; a part answered False; a
worker was last seen on the processor of its caller; nothing was done, as a worker sleeps."""

STATE, TASK, STATUS, DONE, PROCESSOR, RESULT, ERROR, WORDS = 0, 8, 16, 24, 32, 64, 72, 128
"""Places in a block, in bytes. WORDS: a kernel's address and its arguments."""

MOST_WORDS = 240
BLOCK = WORDS // 8 + MOST_WORDS
"""Words of 8 bytes in a block."""

CAN_MOVE = hasattr(os, "sched_setaffinity")
"""Whether this system says where threads run, and lets them be moved."""

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

WHERE = """\
processor = types.ExternalFunction("sched_getcpu", types.int32())
"""

NOWHERE = """\
@inner
def processor():
    return -1
"""

WAITING = '''\
@entry
def work(block, spins):
    """Do tasks as they come, until the block says to stop or nothing has come for long.

    Return why it ended: ASLEEP or STOPPED.
    """
    left = spins
    exchange(block + PROCESSOR, processor())
    while True:
        state = read(block)
        if state == READY:
            if not replace(block, READY, AWAKE):
                continue  # taken back
            do(block)
            exchange(block + DONE, 1)
            left = spins
        elif state == STOPPED:
            return STOPPED
        elif left > 0:
            left -= 1
            if left % 64 == 0:
                yield_now()
                exchange(block + PROCESSOR, processor())
        elif replace(block, state, ASLEEP):
            return ASLEEP


@entry
def rouse(block):
    """Say that the worker is awake; whether it slept, so that somebody must see to it."""
    return replace(block, ASLEEP, AWAKE)


@entry
def stop(block):
    """Say that the worker is to end; whether it sleeps."""
    return exchange(block, STOPPED) == ASLEEP


@entry
def here():
    """The processor that runs the calling thread."""
    return processor()
'''

DOING = '''\
@inner
def do(block):
    """Make the call that a block holds."""
    exchange(block + STATUS, call(read(block + TASK), block + WORDS))


@entry
def go(blocks, parts, answers):
    """Make the calls of some blocks: the first here, the others by the blocks' workers.

    What a worker has not begun when the first is done - other programs have its core - is done
    here, too: on a busy machine nobody waits for a thread that does not run.
    """
    said = 0
    for part in range(1, parts):
        if read(blocks[part]) == ASLEEP:
            return SLEEPING
    for part in range(1, parts):
        block = blocks[part]
        if read(block + PROCESSOR) == processor():
            said |= CROWDED
        exchange(block + DONE, 0)
        if not replace(block, AWAKE, READY):
            exchange(block + DONE, -1)  # it has just fallen asleep
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
    for part in range(parts):
        if read(blocks[part] + STATUS) != 0:
            said |= FAILED
        if answers and read(blocks[part] + RESULT) & 0xFF == 0:
            said |= DENIED
    return said
'''

LAYING = '''\
@intrinsic
def unpacked(typingctx, head, split, shared):
    """The address of a function that calls a kernel with the words of arguments of such types."""

    def emit(context, builder, signature, args):
        kinds = [kind for group in signature.args for kind in group.types]
        forms = [I64] * 3
        for kind in kinds:
            is_array = isinstance(kind, types.Array)
            own = [I64] * (5 + 2 * kind.ndim) if is_array else [context.get_argument_type(kind)]
            forms += own
        name = "unpacked_" + "_".join(str(form) for form in forms)
        found = builder.module.globals.get(name)
        if found is None:
            found = ir.Function(builder.module, ir.FunctionType(I64, [I64]), name)
            found.linkage = "internal"
            inside = ir.IRBuilder(found.append_basic_block())
            words = place(inside, found.args[0])
            values = []
            for i, form in enumerate(forms):
                word = inside.gep(words, [ir.Constant(I64, i)])
                values.append(inside.load(inside.bitcast(word, form.as_pointer())))
            kernel = ir.FunctionType(ir.IntType(32), forms[1:]).as_pointer()
            status = inside.call(inside.inttoptr(values[0], kernel), values[1:])
            inside.ret(inside.sext(status, I64))
        return builder.ptrtoint(found, I64)

    return types.int64(head, split, shared), emit


def words_of(context, builder, kind, value, count=None, start=None, stop=None):
    """The words of an argument: of an array that is split, of items start to stop of a count.

    An item is as many rows as there are for each; one row alone is for all items.
    """
    if not isinstance(kind, types.Array):
        return [context.get_value_as_argument(builder, kind, value)]
    array = context.make_array(kind)(context, builder, value)
    zero, one = ir.Constant(I64, 0), ir.Constant(I64, 1)
    shape = [builder.extract_value(array.shape, i) for i in range(kind.ndim)]
    strides = [builder.extract_value(array.strides, i) for i in range(kind.ndim)]
    data, items = builder.ptrtoint(array.data, I64), array.nitems
    if start is not None:
        is_for_all = builder.icmp_signed("==", shape[0], one)
        each = builder.sdiv(shape[0], count)
        first = builder.select(is_for_all, zero, builder.mul(start, each))
        rows = builder.select(is_for_all, one, builder.mul(builder.sub(stop, start), each))
        data = builder.add(data, builder.mul(first, strides[0]))
        there = builder.select(builder.icmp_signed("==", shape[0], zero), one, shape[0])
        items = builder.mul(builder.sdiv(items, there), rows)
        shape[0] = rows
    return [zero, zero, items, array.itemsize, data, *shape, *strides]


@intrinsic
def lay(typingctx, block, address, head, split, shared, count, start, stop):
    """Lay a kernel's call out in a block: numbers, a part of the arrays `split`, and the rest."""

    def emit(context, builder, signature, args):
        block, address, *groups, count, start, stop = args
        constant = [builder.add(block, ir.Constant(I64, at)) for at in (RESULT, ERROR)]
        values = [address, *constant]
        for group, kinds in zip(groups, signature.args[2:5]):
            part = (count, start, stop) if group is groups[1] else ()
            for i, kind in enumerate(kinds.types):
                value = builder.extract_value(group, i)
                values += words_of(context, builder, kind, value, *part)
        words = place(builder, builder.add(block, ir.Constant(I64, WORDS)))
        for i, value in enumerate(values):
            word = builder.gep(words, [ir.Constant(I64, i)])
            builder.store(value, builder.bitcast(word, value.type.as_pointer()))
        return context.get_dummy_value()

    return types.void(block, address, head, split, shared, count, start, stop), emit


@entry
def lay_call(block, address, args):
    """Lay out one call."""
    lay(block, address, (), (), args, 1, 0, 1)
    exchange(block + TASK, unpacked((), (), args))


@inner
def edge(count, part, parts, unit):
    """Where a part of a range begins: at a multiple of unit."""
    return min(count, (count * part // parts + unit - 1) // unit * unit)


@entry
def split_rows(blocks, parts, answers, address, count, unit, split, shared):
    """kernel(*split, *shared), each part with its share of the arrays `split`."""
    for part in range(parts):
        start, stop = edge(count, part, parts, unit), edge(count, part + 1, parts, unit)
        lay(blocks[part], address, (), split, shared, count, start, stop)
        exchange(blocks[part] + TASK, unpacked((), split, shared))
    return go(blocks, parts, answers)


@entry
def split_range(blocks, parts, answers, address, count, unit, split, shared):
    """kernel(start, stop, *shared), each part with its piece of range(count)."""
    for part in range(parts):
        head = edge(count, part, parts, unit), edge(count, part + 1, parts, unit)
        lay(blocks[part], address, head, (), shared, 1, 0, 1)
        exchange(blocks[part] + TASK, unpacked(head, (), shared))
    return go(blocks, parts, answers)


@entry
def split_numbered(blocks, parts, answers, address, count, unit, split, shared):
    """kernel(part, start, stop, *shared), each part with its number and its piece."""
    for part in range(parts):
        head = part, edge(count, part, parts, unit), edge(count, part + 1, parts, unit)
        lay(blocks[part], address, head, (), shared, 1, 0, 1)
        exchange(blocks[part] + TASK, unpacked(head, (), shared))
    return go(blocks, parts, answers)
'''


def _text(*parts: str) -> str:
    here = globals()
    names = "AWAKE READY ASLEEP STOPPED FAILED DENIED CROWDED SLEEPING TASK STATUS DONE PROCESSOR "
    names += "RESULT ERROR WORDS"
    constants = "\n".join(f"{name} = {here[name]}" for name in names.split())
    head = build.HEADER.format(title="Worker threads.")
    where = WHERE if CAN_MOVE else NOWHERE
    return "\n\n".join([head, constants + "\n", ATOMICS, where, DOING, *parts])


class Loops:
    """What workers do, and what is done to them: `work`, `rouse`, `stop` and `here`."""

    def __init__(self) -> None:
        build.import_numba()
        from numba import types

        self.work = self._entry("work", types.int64, types.int64)
        self.rouse = self._entry("rouse", types.int64)
        self.stop = self._entry("stop", types.int64)
        self.here = self._entry("here")

    @staticmethod
    def _entry(function: str, *arguments: Any) -> Any:
        return build.entry_for("waiting", _text(WAITING), function, arguments)


@cache
def waiting() -> Loops:
    """What workers do."""
    return Loops()


@cache
def go() -> Any:
    """`go`, which makes the calls that blocks hold."""
    build.import_numba()
    from numba import types

    return _laying("go", types.int64[::1], types.int64, types.boolean)


def _laying(function: str, *arguments: Any) -> Any:
    """One of the functions of the callers' side."""
    return build.entry_for("laying", _text(LAYING), function, arguments)


def caller(function: str, split: tuple[Kind, ...], shared: tuple[Kind, ...]) -> Any:
    """One of the callers' functions, for arguments of such kinds; None if a block is too small."""
    if sum(map(word_count, split + shared)) > MOST_WORDS - 8:
        return None
    from numba import types

    groups = [types.Tuple([_numba_type(kind) for kind in group]) for group in (split, shared)]
    numbers = (types.int64, types.boolean, *[types.int64] * 3)
    return _laying(function, types.int64[::1], *numbers, *groups)


@cache
def layer(kinds: tuple[Kind, ...]) -> Any:
    """`lay_call` for arguments of such kinds; None if a block is too small."""
    if sum(map(word_count, kinds)) > MOST_WORDS - 8:
        return None
    from numba import types

    group = types.Tuple([_numba_type(kind) for kind in kinds])
    return _laying("lay_call", types.int64, types.int64, group)


def _numba_type(kind: Kind) -> Any:
    """A type to take an argument apart with: what the elements of an array are does not matter."""
    from numba import types

    if not isinstance(kind, tuple):
        return kind
    size, ndim = kind
    element = types.complex128 if size == 16 else getattr(types, f"uint{8 * size}")
    return types.Array(element, ndim, "A")
