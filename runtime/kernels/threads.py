"""Running one serial kernel over parts of flat arrays on several threads.

The kernels release the interpreter lock, so plain Python threads do: no OpenMP, no trouble with
fork or with callers on several threads. `GRAIN` keeps work serial that is not worth a thread.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

from runtime import config
from runtime.kernels import build, openblas, workers

GRAIN = 1 << 16
"""Elements of element-wise work below which one thread is as fast."""

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
    return max(int(first), 1) if first.isdigit() else len(os.sched_getaffinity(0))


_threads = _initial_count()


def get_num_threads() -> int:
    """How many threads an operator may use."""
    return _threads


def set_num_threads(count: int) -> None:
    """Let operators use up to `count` threads, those of the BLAS library included.

    Raises: RuntimeError if count is not positive.
    """
    global _threads, _pool
    if count < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    _threads, _pool = int(count), None
    openblas.set_num_threads(_threads)


def _forget_pool() -> None:
    """A forked child has none of its parent's threads."""
    global _pool
    _pool = None


os.register_at_fork(after_in_child=_forget_pool)


def run_flat(kernel: Any, arrays: tuple[Any, ...], scalars: tuple[Any, ...] = ()) -> None:
    """kernel(*arrays, *scalars) over arrays of one length, split among the threads.

    The first is an output. An array of one element is one that is used for all.
    """
    numel = arrays[0].size
    parts = min(_threads, numel // GRAIN)
    if parts <= 1:
        kernel(*arrays, *scalars)
        return
    # Whole cache lines per thread, whatever the element size.
    step = (numel // parts + 64) // 64 * 64
    first, *rest = (
        [array[start : min(start + step, numel)] if array.size > 1 else array for array in arrays]
        for start in range(0, numel, step)
    )
    run_calls(kernel, [(*part, *scalars) for part in (first, *rest)])


def pool() -> ThreadPoolExecutor:
    """The worker threads, started when first needed."""
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(max(_threads - 1, 1), thread_name_prefix="torchgen")
    return _pool


def part_count(count: int, work: int) -> int:
    """Into how many parts `run_ranges` splits `count` items that take `work` elements of work."""
    return max(1, min(_threads, count, work // GRAIN))


def run_ranges(kernel: Any, count: int, work: int, *args: Any, numbered: bool = False) -> None:
    """kernel(start, stop, *args) over parts of range(count); numbered: kernel(part, start, ...)."""
    parts = part_count(count, work)
    edges = [count * part // parts for part in range(parts + 1)]
    calls = [
        ((part,) if numbered else ()) + (edges[part], edges[part + 1], *args)
        for part in range(parts)
    ]
    run_calls(kernel, calls)


def run_calls(kernel: Any, calls: Sequence[tuple[Any, ...]]) -> None:
    """kernel(*call) for each of some calls, each on a thread of its own.

    Kernels known by their entry points go to the workers, which take 5 us; others to Python's
    threads.
    """
    if len(calls) == 1:
        kernel(*calls[0])
        return
    function = build.native_function(kernel)
    if function is not None and workers.run(kernel, function, calls):
        return
    futures = [pool().submit(kernel, *call) for call in calls[1:]]
    kernel(*calls[0])
    for future in futures:
        future.result()


def run_rows(kernel: Any, arrays: tuple[Any, ...], *args: Any, work: int = 1) -> None:
    """kernel(*arrays, *args) over arrays of equally many rows, split among the threads.

    work: how much more an element costs than in element-wise work.
    """
    rows = arrays[0].shape[0]
    parts = min(_threads, rows, arrays[0].size * work // GRAIN)
    if parts <= 1:
        kernel(*arrays, *args)
        return
    edges = [rows * part // parts for part in range(parts + 1)]
    pieces = [[array[start:stop] for array in arrays] for start, stop in pairwise(edges)]
    futures = [pool().submit(kernel, *piece, *args) for piece in pieces[1:]]
    kernel(*pieces[0], *args)
    for future in futures:
        future.result()
