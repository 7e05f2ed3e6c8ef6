"""Philox4x32-10: the CPU's stream of random words, block by block, for the texts of kernels.

A draw of n numbers that take k words each uses ceil(n * k / 4) blocks, and number i takes its words
from block `i % blocks`, in the order of `i // blocks`: so a thread serves a block, and neighbouring
threads write side by side.

Source: J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_function, device_kernel
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue

WARP = 32
"""Threads of the smallest block."""


class Drawn(NamedTuple):
    """A part of a stream: how many blocks, the first one, the seed.

    origin: None, or while a graph is captured the array in which each replay finds the seed and the
    block from which `start` counts.
    """

    blocks: int
    start: int
    seed: int
    origin: Array | None

    @property
    def numbers(self) -> tuple[int, int, int]:
        """Blocks, start and seed, as kernels take them."""
        return self[:3]

    @property
    def given(self) -> dict[str, bool]:
        """What the text of a kernel must know."""
        return {"CAPTURED": self.origin is not None}


def reserve(queue: Queue, count: int, words_each: int, generator: Any) -> Drawn:
    """Take the blocks for `count` numbers."""
    drawn: Drawn = queue.reserve(-(-count * words_each // 4), generator)
    return drawn


@device_kernel("uint64*", "uint64 uint64")
def write_origin(origin, seed, start):
    """One thread writes where a replay begins: numbers of a launch are copied when it is queued."""
    if cuda.grid(1) == 0:
        origin[0] = seed
        origin[1] = start


@device_function
def words_of_draw(origin, start, seed, block):
    """The four words of a block of a draw."""
    if CAPTURED:
        return words_of_block(np.uint64(origin[1] + start + np.uint64(block)), origin[0])
    return words_of_block(np.uint64(start + np.uint64(block)), seed)


@device_function
def words_of_block(block, seed):
    """The four words of a block, as uint64 with clear upper halves."""
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    c0, c1 = np.uint64(block & low), np.uint64(block >> half)
    c2, c3 = np.uint64(0), np.uint64(0)
    k0, k1 = np.uint64(seed & low), np.uint64(seed >> half)
    for _ in range(10):
        p0 = np.uint64(c0 * np.uint64(0xD2511F53))
        p1 = np.uint64(c2 * np.uint64(0xCD9E8D57))
        c0 = np.uint64((p1 >> half) ^ c1 ^ k0)
        c2 = np.uint64((p0 >> half) ^ c3 ^ k1)
        c1 = np.uint64(p1 & low)
        c3 = np.uint64(p0 & low)
        k0 = np.uint64((k0 + np.uint64(0x9E3779B9)) & low)
        k1 = np.uint64((k1 + np.uint64(0xBB67AE85)) & low)
    return c0, c1, c2, c3
