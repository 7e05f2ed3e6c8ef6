"""Large results past the caches: stored by instructions that do not read the memory first.

An ordinary store to a line that no cache holds reads it, and pushes out another: a result larger
than the caches takes three ways through memory, and two if it is *streamed* by non-temporal stores.
No kernel is compiled again for that: it writes block after block into memory that stays in the
first cache, and each block is streamed from there. On an Intel Xeon with 2 MB of second cache
10^6 float32 are negated in 355 us instead of 497, 1.6 * 10^7 in 6.0 ms instead of 8.5.

Who reads the result next finds it in memory, where the last cache might have held it: that of some
servers holds hundreds of megabytes, and 16 MB gain nothing there. So for each size below ALWAYS
both ways are timed, with a reader.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build, native, threads, worker_loops
from torchgen_out._runtime.kernels.machine import library, worker_text
from torchgen_out._runtime.kernels.machine.callers import Native, empty_of

LEAST, ALWAYS = 1 << 21, 1 << 26
"""Bytes of a result from which on it may be streamed, and is without a trial."""
BLOCK = 1 << 13
"""Bytes of a result that are made at once: with its operands they stay in the first cache."""
LIGHT = 1
"""Work of a formula, in moves of an element, up to which memory takes the time: exp, which is worth
2, gains a tenth of 256 MB, and loses as much of 64 and half of 16."""
VECTOR_WORDS = 7
"""Words that describe a dense vector to a kernel; see `machine.call_text`."""
ROUNDS = 3
TRIALS, APART, LOST = 3, 0.1, -1
"""Trials that a size has to win before it is streamed for good, and seconds between two: whatever
else fills the last cache for a moment, a size that gains loses 6 to 20 % if it is stored as usual
then, and one that does not takes twice as long if it is streamed ever after. LOST: it has lost one.
"""

_STORES = '''\
@intrinsic
def stream_line(typingctx, target, source):
    """Copy 64 bytes to where a cache line begins, which no cache keeps."""

    def emit(context, builder, signature, args):
        line = ir.VectorType(I64, 8).as_pointer()
        value = builder.load(builder.inttoptr(args[1], line), align=64)
        store = builder.store(value, builder.inttoptr(args[0], line), align=64)
        one = ir.Constant(ir.IntType(32), 1)
        store.set_metadata("nontemporal", builder.module.add_metadata([one]))
        return args[0]

    return types.int64(types.int64, types.int64), emit


@intrinsic
def fetch_line(typingctx, address):
    """Ask for a cache line that is read soon."""

    def emit(context, builder, signature, args):
        numbers = [ir.IntType(32)] * 3
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, *numbers])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        how = [ir.Constant(each, value) for each, value in zip(numbers, (0, 3, 1))]
        builder.call(function, [builder.inttoptr(args[0], pointer), *how])
        return args[0]

    return types.int64(types.int64), emit


@intrinsic
def wait_for_stores(typingctx):
    """See that other threads find what was streamed: such stores keep no order by themselves."""

    def emit(context, builder, signature, args):
        builder.fence("seq_cst")
        return ir.Constant(I64, 0)

    return types.int64(), emit
'''

_LOOP = '''\
@entry
def kernel(start, stop, call_at, words, arrays, outputs, step, numel):
    """Blocks start to stop of a call over flat arrays of numel elements, of which outputs come
    first, as `lay` laid it out at call_at; step: the elements of a block.

    Return whether it was done: the outputs begin with cache lines, and nothing failed.
    """
    own = np.empty(words + 4, np.int64)  # the call's words, those of its result, of its error
    own_at = own.ctypes.data
    own[0], own[1] = own_at + 8 * words, own_at + 8 * words + 16
    for i in range(2, words):
        own[i] = read(call_at + CALL + 8 * i)
    memory = np.empty(outputs * BLOCK // 8 + 8, np.int64)
    room = memory.ctypes.data
    room += -room % 64
    data, sizes = np.empty(arrays, np.int64), np.empty(arrays, np.int64)
    ahead, paces = np.empty(arrays, np.int64), np.empty(arrays, np.int64)
    for k in range(arrays):
        place = 2 + VECTOR * k
        data[k] = own[place + DATA]
        sizes[k] = own[place + STRIDE] if own[place + LENGTH] != 1 else 0
        ahead[k], paces[k] = data[k], 64 * sizes[k] // sizes[0]
        if k < outputs and data[k] % 64 != 0:
            return False
    for number in range(start, stop):
        first = number * step
        count = min(step, numel - first)
        is_whole = count == step
        for k in range(arrays):
            if sizes[k] > 0:
                place = 2 + VECTOR * k
                begin = data[k] + first * sizes[k]
                own[place + NUMEL] = own[place + LENGTH] = count
                own[place + DATA] = room + k * BLOCK if k < outputs and is_whole else begin
                ahead[k] = begin + step * sizes[k]
        if call(read(call_at + TASK), own_at) != 0:
            return False
        if not is_whole:
            continue
        for k in range(outputs):
            begin, source = data[k] + first * sizes[k], room + k * BLOCK
            for i in range(0, step * sizes[k], 64):
                stream_line(begin + i, source + i)
                if k == 0 and number + 1 < stop:
                    for j in range(outputs, arrays):
                        fetch_line(ahead[j])
                        ahead[j] += paces[j]
    wait_for_stores()
    memory[0] = own[0]  # both are used until here, though by their addresses
    return True
'''
"""While a block is streamed, its inputs' next lines are fetched: memory does both at once."""


_trials: dict[tuple[int, int], tuple[int, float]] = {}
"""Trials that were won, by the size and the number of threads, and when the next may be."""


@cache
def _entry() -> Any:
    constants = f"CALL, TASK = {worker_text.WORDS}, {worker_text.TASK}\n"
    constants += f"BLOCK, VECTOR = {BLOCK}, {VECTOR_WORDS}\n"
    constants += "NUMEL, DATA, LENGTH, STRIDE = 2, 4, 5, 6  # a vector's words\n"
    parts = [build.HEADER.format(title="Results past the caches."), constants]
    text = "\n\n".join([*parts, worker_loops.INTRINSICS, _STORES, _LOOP])
    return build.entry_point("streaming", text, (int,) * 8)


def run_flat(
    kernel: Any,
    arrays: tuple[Any, ...],
    scalars: tuple[Any, ...] = (),
    *,
    work: float = 1,
    outputs: int = 1,
) -> None:
    """As `threads.run_flat`, of light formulas; what the first `outputs` arrays held before is not
    read."""
    nbytes = arrays[0].nbytes
    if nbytes >= LEAST and pays(nbytes):
        call = native.native_call(kernel, (*arrays, *scalars))
        if call is not None and stream(call, arrays, scalars, work, outputs):
            return
    threads.run_flat(kernel, arrays, scalars, work=work)


def stream(
    call: Native, arrays: tuple[Any, ...], scalars: tuple[Any, ...], work: float, outputs: int
) -> bool:
    """Make a call block by block; whether it could be made so."""
    are_flat = all(kind.words == VECTOR_WORDS for kind in call.kinds[: len(arrays)])
    if not (are_flat and call.fits_a_block):
        return False
    memory, call_at = _room_for_a_call()
    if not call.lay(call_at, *arrays, *scalars):
        return False
    words = 2 + sum(kind.words for kind in call.kinds)
    numel = arrays[0].size
    step = BLOCK // max(array.itemsize for array in arrays[:outputs])
    numbers = call_at, words, len(arrays), outputs, step, numel
    done = threads.run_ranges(_entry(), -(-numel // step), int(numel * work), *numbers)
    del memory
    return done


def _room_for_a_call() -> tuple[Any, int]:
    """Memory of a call's words, and where it is."""
    memory = np.empty(worker_loops.BLOCK, np.int64)
    return memory, memory.ctypes.data


def pays(nbytes: int) -> bool:
    """Whether a result of so many bytes is made and read sooner when it is streamed."""
    if nbytes >= ALWAYS:
        return True
    size = nbytes.bit_length() - 1, threads.get_num_threads()
    won, until = _trials.get(size, (0, 0.0))
    if 0 <= won < TRIALS and time.perf_counter() >= until:
        won = won + 1 if _wins(*size) else LOST
        _trials[size] = won, time.perf_counter() + APART
    return won > 0


def _wins(power: int, count: int) -> bool:
    """A trial on so many threads: 2**power bytes are written, and read for a result that is
    written there again.
    """
    library.prepare()
    first, second = (empty_of(np.dtype(np.float32))(1 << power - 2) for _ in range(2))
    first[:], second[:] = 1, 1
    call = native.native_call(_negated, (second, first))
    if call is None:
        return False

    def plain(out: Any, a: Any) -> None:
        threads.run_flat(_negated, (out, a))

    def streamed(out: Any, a: Any) -> None:
        stream(call, (out, a), (), 1, 1)

    best = dict.fromkeys((plain, streamed), float("inf"))
    for _ in range(ROUNDS):
        for way in best:
            best[way] = min(best[way], _seconds(way, first, second))
    return best[streamed] < best[plain]


def _seconds(way: Callable[[Any, Any], None], first: Any, second: Any) -> float:
    begun = time.perf_counter()
    way(second, first)
    way(first, second)
    return time.perf_counter() - begun


@build.kernel
def _negated(out, a):
    for i in range(out.size):
        out[i] = -a[i]
