"""Running one serial kernel over parts of flat arrays on several threads.

The kernels release the interpreter lock, so plain Python threads do: no OpenMP, no trouble with
fork or with callers on several threads. `GRAIN` keeps work serial that is not worth a thread.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from torchgen_out._runtime import config
from torchgen_out._runtime.dispatch.launch_cache import forget_launches
from torchgen_out._runtime.forks import at_fork
from torchgen_out._runtime.kernels import native, openblas, workers
from torchgen_out._runtime.kernels.machine.worker_text import NUMBERED, RANGE, ROWS
from torchgen_out._runtime.kernels.worker_loops import CAN_MOVE

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor  # loads `logging` and `queue`, too

GRAIN = 1 << 15
"""Elements of element-wise work below which one thread is as fast."""

WAKING = 8
"""Grains of work from which on a thread that sleeps is woken: that costs about as much as two."""

LEAST_RUN = 256
"""Elements side by side in each of many rows that are worth a thread of their own: where they are
fewer, threads write to the same lines of the cache, and each walks all rows."""

CACHE_LINE = 64
"""Parts of flat arrays begin at multiples of so many elements: whatever their size, threads write
to lines of their own."""

_pool: ThreadPoolExecutor | None = None


def _initial_count() -> int:
    """What the environment says, or one thread for each processor that this process may use.

    OpenBLAS reads OMP_NUM_THREADS by itself.
    """
    count = config.env_int("TORCHGEN_NUM_THREADS", 0)
    if count > 0:
        openblas.set_num_threads(count)
        return count
    first = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if first.isdigit():
        return max(int(first), 1)
    return len(os.sched_getaffinity(0)) if CAN_MOVE else os.cpu_count() or 1


_threads = _initial_count()


def get_num_threads() -> int:
    """How many threads an operator may use."""
    return _threads


def set_num_threads(count: int) -> None:
    """Let operators use up to `count` threads, those of the BLAS library included.

    Raises: RuntimeError if count is no int, or not positive; ValueError beyond 31 bits.
    """
    global _threads, _pool
    if not isinstance(count, int) or isinstance(count, bool):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(count).__name__}")
    if count < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    if count >= 2**31:
        raise ValueError(f"set_num_threads: {count} does not fit into 32 bits")
    if count != _threads:
        forget_launches()  # some are cut into as many parts as there are threads
    _threads, _pool = int(count), None
    openblas.set_num_threads(_threads)


def _forget_pool() -> None:
    """A forked child has none of its parent's threads."""
    global _pool
    _pool = None


at_fork(after_in_child=_forget_pool)


def run_flat(
    kernel: Any, arrays: tuple[Any, ...], scalars: tuple[Any, ...] = (), *, work: float = 1
) -> None:
    """kernel(*arrays, *scalars) over arrays of one length, split among the threads.

    The first is an output. An array of one element is one that is used for all. work: how much
    more an element costs than moving it.
    """
    size = arrays[0].size
    grains = int(size * work) // GRAIN
    parts = min(_threads, grains)
    if parts <= 1:
        kernel(*arrays, *scalars)
        return
    call = native.entries.get(kernel)
    if call is not None:  # the usual kernel, in as few steps as there can be
        is_long = grains >= WAKING
        done = workers.run_split(call, ROWS, parts, size, CACHE_LINE, is_long, arrays, scalars)
        if done is not None:
            return
    _split(kernel, parts, size, CACHE_LINE, grains, arrays, scalars)


def run_rows(kernel: Any, arrays: tuple[Any, ...], *args: Any, work: int = 1) -> bool:
    """kernel(*arrays, *args) over arrays of equally many rows, split among the threads.

    work: how much more an element costs than in element-wise work. An array of one row is one that
    is used for all. Returns whether no part answered False.
    """
    first = arrays[0]
    parts = part_count(len(first), first.size * work)
    if parts == 1:
        return kernel(*arrays, *args) is not False
    return _split(kernel, parts, len(first), 1, first.size * work // GRAIN, arrays, args)


def run_items(kernel: Any, arrays: tuple[Any, ...], count: int, *args: Any, work: int) -> bool:
    """kernel(*arrays, *args) over arrays that hold equally many rows for each of count items.

    work: of all items together. An array of one row is one that is used for all.
    """
    parts = part_count(count, work)
    if parts == 1:
        return kernel(*arrays, *args) is not False
    return _split(kernel, parts, count, 1, work // GRAIN, arrays, args)


def _split(
    kernel: Any,
    parts: int,
    count: int,
    unit: int,
    grains: int,
    arrays: tuple[Any, ...],
    args: tuple[Any, ...],
) -> bool:
    """Give each part a number of items that is a multiple of unit."""
    call = native.native_call(kernel, (*arrays, *args))
    if call is not None:
        fine = workers.run_split(call, ROWS, parts, count, unit, grains >= WAKING, arrays, args)
        if fine is not None:
            return fine
    edges = [-(-count * part // parts // unit) * unit for part in range(parts)]
    return _run_in_pool(
        kernel,
        [
            (*[_share(each, count, start, stop) for each in arrays], *args)
            for start, stop in pairwise([*edges, count])
        ],
    )


def _share(array: Any, count: int, start: int, stop: int) -> Any:
    """The rows of some of count items, or the one that is for all."""
    each = len(array) // count
    return array if len(array) == 1 else array[start * each : stop * each]


def part_count(count: int, work: int) -> int:
    """Into how many parts `count` items are split that take `work` elements of work."""
    return max(1, min(_threads, count, work // GRAIN))


def run_ranges(kernel: Any, count: int, work: int, *args: Any, parts: int = 0) -> bool:
    """kernel(start, stop, *args) over parts of range(count).

    parts: into how many, as the caller found by `part_count` and has memory for; then the kernel
    is told the number of its part first. Asked again, the count may have changed.
    """
    numbered = parts > 0
    parts = parts or part_count(count, work)
    head = (0, 0, count) if numbered else (0, count)
    if parts == 1:
        return kernel(*head, *args) is not False
    call = native.native_call(kernel, (*head, *args))
    if call is not None:
        how = NUMBERED if numbered else RANGE
        fine = workers.run_split(call, how, parts, count, 1, work >= WAKING * GRAIN, (), args)
        if fine is not None:
            return fine
    edges = pairwise(count * part // parts for part in range(parts + 1))
    calls = [(part, *edge, *args) for part, edge in enumerate(edges)]
    return _run_in_pool(kernel, calls if numbered else [call[1:] for call in calls])


def run_calls(kernel: Any, calls: Sequence[tuple[Any, ...]], work: int) -> bool:
    """kernel(*call) for each of some calls that take so much work, each on a thread of its own.

    Returns whether no call answered False.
    """
    if len(calls) == 1:
        return kernel(*calls[0]) is not False
    call = native.native_call(kernel, *calls)
    if call is not None:
        fine = workers.run_calls(call, work >= WAKING * GRAIN, calls)
        if fine is not None:
            return fine
    return _run_in_pool(kernel, calls)


def pool() -> ThreadPoolExecutor:
    """The worker threads, started when first needed."""
    global _pool
    if _pool is None:
        from concurrent.futures import ThreadPoolExecutor

        _pool = ThreadPoolExecutor(max(_threads - 1, 1), thread_name_prefix="torchgen")
    return _pool


def _run_in_pool(kernel: Any, calls: Sequence[tuple[Any, ...]]) -> bool:
    """What no worker can do goes to Python's threads."""
    futures = [pool().submit(kernel, *call) for call in calls[1:]]
    answers = [kernel(*calls[0]), *[future.result() for future in futures]]
    return all(answer is not False for answer in answers)
