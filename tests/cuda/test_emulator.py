"""The emulator notices what a device would not forgive."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cuda import emulator
from tests.cuda.emulated_memory import OutOfBounds, Pointer
from tests.cuda.watching import Race
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source

THREADS = 64


def _run(body: str, blocks: int = 1) -> np.ndarray:
    text = (
        "def last_lane(value):\n    return cuda.shfl_sync(0xFFFFFFFF, value, 31)\n\n"
        "def kernel(out, bytes):\n    shared = cuda.shared.array(64, np.int32)\n"
        f"    t = cuda.threadIdx.x\n    b = cuda.blockIdx.x\n{body}\n"
    )
    out = np.zeros(THREADS, np.int32)
    source = Source("probe", text, ("int32*", "uint8*"), THREADS)
    pointers = [Pointer(out), Pointer(out.view(np.uint8))]
    emulator.run(source, (blocks, 1), (THREADS, 1), pointers)
    return out


def test_barriers_order_shared_memory():
    out = _run("    shared[t] = np.int32(t)\n    cuda.syncthreads()\n    out[t] = shared[63 - t]")
    assert out.tolist() == list(range(63, -1, -1))


def test_a_missing_barrier_is_a_race():
    with pytest.raises(Race, match="of shared memory"):
        _run("    shared[t] = np.int32(t)\n    out[t] = shared[63 - t]")


def test_a_barrier_of_the_warp_orders_the_warp_alone():
    neighbour = "    shared[t] = np.int32(t)\n    cuda.syncwarp()\n    out[t] = shared[t ^ {}]"
    assert _run(neighbour.format(1))[:4].tolist() == [1, 0, 3, 2]
    with pytest.raises(Race):
        _run(neighbour.format(32))


def test_a_thread_that_reads_what_it_wrote_has_still_written_it():
    with pytest.raises(Race):
        _run("    shared[t] = shared[t]\n    out[t] = shared[t] + shared[63 - t]")


def test_exchanges_order_no_memory():
    with pytest.raises(Race):
        _run("    shared[t] = np.int32(t)\n    last_lane(shared[t])\n    out[t] = shared[t ^ 1]")


def test_barriers_order_memory_of_the_device_within_a_block():
    write = "    out[t] = np.int32(t)\n"
    read = "    shared[t] = out[63 - t]\n"
    _run(write + "    cuda.syncthreads()\n" + read)
    with pytest.raises(Race, match="of memory"):
        _run(write + read)
    with pytest.raises(Race, match=r"of block 0 and .* of block 1"):
        _run(
            "    if b == 0:\n    " + write + "    cuda.syncthreads()\n    if b == 1:\n    " + read,
            2,
        )


def test_two_sizes_of_elements_are_one_memory():
    with pytest.raises(Race):
        _run("    out[t] = np.int32(t)\n    bytes[(4 * t + 7) % 256] = np.uint8(0)")


def test_blocks_that_write_to_one_place():
    with pytest.raises(Race):
        _run("    out[t] = np.int32(b)", 2)
    assert _run("    if t == b:\n        out[t] = np.int32(7)", 2)[:3].tolist() == [7, 7, 0]


def test_atomic_additions_meet_each_other_and_nobody_else():
    assert _run("    atomic_add(out, 0, np.int32(1))", 2)[0] == 2 * THREADS
    for other in ("out[0] = np.int32(1)", "shared[t] = out[0]"):
        with pytest.raises(Race):
            _run(f"    atomic_add(out, 0, np.int32(1))\n    if t == 40:\n        {other}")


def test_turns_in_other_orders():
    """What depends on the order of threads shows it: here each one's turn among the atomic ones."""
    body = (
        "    atomic_add(out, 0, np.int32(1))\n    if t == 5:\n        bytes[252] = out.elements[0]"
    )
    turns = {}
    for name in emulator.TURNS:
        with emulator.in_turns(name):
            turns[name] = _run(body.replace("out.elements[0]", "np.uint8(out.elements[0])"))[63]
            ordered = (
                "    shared[t] = np.int32(t)\n    cuda.syncthreads()\n    out[t] = shared[63 - t]"
            )
            assert _run(ordered, 1).tolist() == list(range(63, -1, -1))
    assert (turns["forward"], turns["backward"]) == (6, 59) and len(set(turns.values())) == 3


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
    with pytest.raises(OutOfBounds):
        _run("    shared[t + 1] = np.int32(t)")
