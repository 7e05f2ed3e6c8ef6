"""A stable sort of positions by integer keys: digit by digit, in a fixed number of passes.

Keys stay where they are; each pass orders the positions by one digit of eight bits, the lowest
first: blocks count the digits of their tiles, the counts are summed up over all blocks, and blocks
move their positions to where these sums say. Equal digits keep their order, so the passes add up
to a stable sort; the numbers of rows may be further digits, which sorts rows apart from each
other. Of a short row each thread counts what comes before its own key.

Source: D. Merrill, A. Grimshaw, "High performance and scalable radix sorting" (2011), for the plan.
"""

# ruff: noqa: F821 - T, I and the like are names of the compiled text.

from __future__ import annotations

from runtime.core import dtype as dtypes
from runtime.kernels.cuda.compiling.typed import (
    THREADS,
    device_function,
    device_kernel,
    run,
    run_elements,
)
from runtime.kernels.cuda.queue import Array, Folded, Queue
from runtime.kernels.cuda.reductions.scan import plus, scan, zero
from runtime.kernels.cuda.rows import WARP, WARPS

BITS = 8
DIGITS = 1 << BITS
MASK = DIGITS - 1
ROUNDS = 8
"""Elements of a tile per thread."""
PER_WARP = WARP * ROUNDS
TILE = THREADS * ROUNDS
COUNTERS = WARPS * DIGITS
SHORT_ROW = 256
"""Keys of a row up to which all are compared with all: one pass over memory instead of many."""

assert THREADS == DIGITS, "each thread sums up the counts of one digit"


def sort_positions(
    queue: Queue, keys: Array, bits: int, row: int = 0, signed: bool = False
) -> Array:
    """The positions of int32 or int64 keys in the order of their lowest `bits` bits.

    row: of how many keys a row consists; rows are sorted each for itself. 0: all are one row.
    signed: whether the highest of the bits is a sign; keys are between the bounds this gives.
    Shape: keys (n) -> int64 (n).
    """
    n = keys.numel
    row = row or max(n, 1)
    order = queue.empty((n,), dtypes.int64)
    if row <= SHORT_ROW:
        run_elements(queue, rank_keys, n, order, keys, n, row)
        return order
    passes = [(shift, False) for shift in range(0, bits, BITS)]
    passes += [(shift, True) for shift in range(0, (n // row - 1).bit_length(), BITS)]
    blocks = -(-n // TILE)
    made, given = order, queue.empty((n,), dtypes.int64)
    counts = queue.empty((DIGITS, blocks), dtypes.int64)
    for number, (shift, of_rows) in enumerate(passes):
        is_sign = signed and not of_rows and shift + BITS >= bits
        numbers = (n, row, shift, blocks, (DIGITS // 2) * is_sign)
        flags = {"IS_FIRST": number == 0, "OF_ROWS": of_rows}
        operands = (made, given, keys, counts)
        run(queue, order_tiles, blocks, *operands, *numbers, MOVES=False, **flags)
        scan(queue, counts, counts, Folded(1, counts.numel, 1), zero, plus)
        run(queue, order_tiles, blocks, *operands, *numbers, MOVES=True, **flags)
        made, given = given, made
    return given


@device_kernel("int64* X*", "I I")
def rank_keys(out, keys, n, row):
    """A thread owns keys at the distance of the grid, and counts those of the row before each."""
    i = I(cuda.grid(1))
    while i < n:
        base = I(divided(i, row) * row)
        own = keys[i]
        rank = I(0)
        for k in range(base, base + row):
            other = keys[k]
            if (other < own) | ((other == own) & (k < i)):
                rank = I(rank + 1)
        out[base + rank] = np.int64(i)
        i = I(i + cuda.gridsize(1))


@device_function
def digit_at(order, keys, i, n, row, shift, flipped):
    """The digit of the i-th position in the order so far; beyond the end one that no key has."""
    if i >= n:
        return np.int32(DIGITS)
    position = I(i) if IS_FIRST else I(order[i])
    if OF_ROWS:
        return np.int32((divided(position, row) >> shift) & MASK)
    return np.int32(((keys[position] >> shift) & MASK) ^ flipped)


@device_kernel("int64* int64* X* int64*", "I I int32 I int32")
def order_tiles(out, order, keys, sums, n, row, shift, blocks, flipped):
    """A block owns a tile, a warp a run of it, 32 elements at a time in the order they stand.

    Without MOVES the tile's digits are counted, otherwise positions are written where `sums`, the
    counts summed up over digits and blocks, say that the tile's ends.
    """
    counts = cuda.shared.array(COUNTERS, np.int32)
    starts = cuda.shared.array(COUNTERS, np.int64)
    thread = np.int32(cuda.threadIdx.x)
    lane = np.int32(thread % 32)
    own = np.int32(thread // 32 * DIGITS)
    begin = I(cuda.blockIdx.x * TILE + thread // 32 * PER_WARP)
    before = np.uint32((np.uint32(1) << np.uint32(lane)) - np.uint32(1))
    turns = I(min(ROUNDS, max(I(0), (n - begin + 31) // 32)))
    # 1. Each warp counts the digits of its run.
    for digit in range(lane, DIGITS, 32):
        counts[own + digit] = np.int32(0)
    cuda.syncwarp()
    for turn in range(turns):
        digit = digit_at(order, keys, I(begin + turn * 32 + lane), n, row, shift, flipped)
        peers = np.uint32(cuda.match_any_sync(0xFFFFFFFF, digit))
        if digit < DIGITS and (peers & before) == 0:
            counts[own + digit] = np.int32(counts[own + digit] + cuda.popc(peers))
        cuda.syncwarp()
    cuda.syncthreads()
    # 2. Thread d sums up the counts of digit d over the warps.
    total = np.int64(0)
    for warp in range(WARPS):
        total += counts[warp * DIGITS + thread]
    place = I(thread * blocks + cuda.blockIdx.x)
    if not MOVES:
        sums[place] = total
    else:
        start = np.int64(sums[place] - total)
        for warp in range(WARPS):
            starts[warp * DIGITS + thread] = start
            start += counts[warp * DIGITS + thread]
        cuda.syncthreads()
        # 3. Each warp moves its run; elements of one digit follow each other.
        for turn in range(turns):
            i = I(begin + turn * 32 + lane)
            digit = digit_at(order, keys, i, n, row, shift, flipped)
            peers = np.uint32(cuda.match_any_sync(0xFFFFFFFF, digit))
            first = starts[own + digit] if digit < DIGITS else np.int64(0)
            cuda.syncwarp()
            if digit < DIGITS:
                rank = cuda.popc(peers & before)
                out[first + rank] = np.int64(i) if IS_FIRST else order[i]
                if rank == 0:
                    starts[own + digit] = np.int64(first + cuda.popc(peers))
            cuda.syncwarp()
