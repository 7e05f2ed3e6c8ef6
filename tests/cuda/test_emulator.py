"""The emulator notices what a device would not forgive."""

from __future__ import annotations

import numpy as np
import pytest

from runtime.kernels.cuda.compiling.compiler import Source
from tests.cuda import emulator

THREADS = 64


def _run(body: str) -> np.ndarray:
    text = (
        "def last_lane(value):\n    return cuda.shfl_sync(0xFFFFFFFF, value, 31)\n\n"
        "def kernel(out):\n    shared = cuda.shared.array(64, np.int32)\n"
        f"    t = cuda.threadIdx.x\n{body}\n"
    )
    out = np.zeros(THREADS, np.int32)
    source = Source("probe", text, ("int32*",), THREADS)
    emulator.run(source, (1, 1), (THREADS, 1), [emulator.Pointer(out)])
    return out


def test_barriers_order_shared_memory():
    out = _run("    shared[t] = np.int32(t)\n    cuda.syncthreads()\n    out[t] = shared[63 - t]")
    assert out.tolist() == list(range(63, -1, -1))


def test_a_missing_barrier_is_a_race():
    with pytest.raises(emulator.Race, match="of shared memory"):
        _run("    shared[t] = np.int32(t)\n    out[t] = shared[63 - t]")


def test_a_barrier_of_the_warp_orders_the_warp_alone():
    neighbour = "    shared[t] = np.int32(t)\n    cuda.syncwarp()\n    out[t] = shared[t ^ {}]"
    assert _run(neighbour.format(1))[:4].tolist() == [1, 0, 3, 2]
    with pytest.raises(emulator.Race):
        _run(neighbour.format(32))


def test_a_barrier_that_some_threads_miss():
    with pytest.raises(AssertionError, match="None has ended"):
        _run("    if t < 32:\n        cuda.syncthreads()\n    out[t] = 1")


def test_exchanges_also_in_inner_functions():
    assert _run("    out[t] = last_lane(np.int32(t))").tolist() == [31] * 32 + [63] * 32
    votes = _run("    out[t] = np.int32(cuda.popc(cuda.ballot_sync(0xFFFFFFFF, t % 3 == 0)))")
    assert votes.tolist() == [11] * THREADS
    same = _run("    out[t] = np.int32(cuda.popc(cuda.match_any_sync(0xFFFFFFFF, t // 5)))")
    assert same[:6].tolist() == [5] * 6 and same[31] == 2


def test_shared_memory_has_bounds():
    with pytest.raises(emulator.OutOfBounds):
        _run("    shared[t + 1] = np.int32(t)")
