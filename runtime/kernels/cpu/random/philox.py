"""Philox4x32-10: random words as a function of (seed, block), the same on every device.

A draw of n numbers that take k words each uses ceil(n * k / 4) blocks, and number i takes its
words from block `i % blocks`, in the order of `i // blocks`. So four (or two) runs of neighbouring
numbers come from neighbouring blocks: loops vectorise, and threads of a GPU write side by side.

Source: J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
"""

from __future__ import annotations

import numpy as np

from torchgen_out._runtime.kernels.build import kernel

CHUNK = 1024  # blocks drawn at a time: their words stay in the first-level cache


@kernel
def fill_words(words, count, start, seed):
    """words[w, b] = word w of block start + b, for b below count. words: uint32, (4, count).

    The state is kept in uint64 with clear upper halves, and the rounds are in the loop's body:
    LLVM turns that into vectors of 32-bit products (0.22 ns a word with AVX-512), but not a
    function that returns a tuple (1.9 ns).
    """
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    for b in range(count):
        block = start + np.uint64(b)
        c0, c1 = block & low, block >> half
        c2, c3 = np.uint64(0), np.uint64(0)
        k0, k1 = seed & low, seed >> half
        for _ in range(10):
            p0 = c0 * np.uint64(0xD2511F53)
            p1 = c2 * np.uint64(0xCD9E8D57)
            c0 = (p1 >> half) ^ c1 ^ k0
            c2 = (p0 >> half) ^ c3 ^ k1
            c1 = p1 & low
            c3 = p0 & low
            k0 = (k0 + np.uint64(0x9E3779B9)) & low
            k1 = (k1 + np.uint64(0xBB67AE85)) & low
        words[0, b] = c0
        words[1, b] = c1
        words[2, b] = c2
        words[3, b] = c3


def blocks_of(count: int, words_each: int) -> int:
    """How many blocks a draw takes."""
    return -(-count * words_each // 4)
