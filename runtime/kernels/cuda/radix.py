"""A stable sort of positions by integer keys, digit by digit, in a fixed number of passes.

Keys stay where they are; each pass orders the positions by one digit of eight bits, the lowest
first: blocks count the digits of their tiles, the counts are summed up over all blocks, and blocks
move their positions to where these sums say. Equal digits keep their order, so the passes add up
to a stable sort; the numbers of rows may be further digits, which sorts rows apart from each other.

Source: D. Merrill, A. Grimshaw, "High performance and scalable radix sorting" (2011), for the plan.
"""

# ruff: noqa: F821 - T, I and the like are names of the compiled text.

from __future__ import annotations

from runtime.core import dtype as dtypes
from runtime.kernels.cuda.queue import Array, Folded, Queue
from runtime.kernels.cuda.rows import WARP, WARPS
from runtime.kernels.cuda.scan import plus, scan, zero
from runtime.kernels.cuda.typed import THREADS, device_function, device_kernel, run

BITS = 8
DIGITS = 1 << BITS
MASK = DIGITS - 1
ROUNDS = 8
"""Elements of a tile per thread."""
PER_WARP = WARP * ROUNDS
TILE = THREADS * ROUNDS
COUNTERS = WARPS * DIGITS

assert THREADS == DIGITS, "each thread sums up the counts of one digit"


def sort_positions(queue: Queue, keys: Array, bits: int, row: int = 0) -> Array:
    """The positions of int32 or int64 keys in the order of their lowest `bits` bits, unsigned.

    row: of how many keys a row consists; rows are sorted each for itself. 0: all are one row.
    Shape: keys (n) -> int64 (n).
    """
    n = keys.numel
    rows = n // row if row else 1
    passes = [(shift, False) for shift in range(0, bits, BITS)]
    passes += [(shift, True) for shift in range(0, (rows - 1).bit_length(), BITS)]
    blocks = -(-n // TILE)
    given, made = queue.empty((n,), dtypes.int64), queue.empty((n,), dtypes.int64)
    counts = queue.empty((DIGITS, blocks), dtypes.int64)
    is_first = True
    for shift, of_rows in passes:
        numbers = (n, max(row, 1), shift, blocks)
        flags = {"IS_FIRST": is_first, "OF_ROWS": of_rows}
        run(queue, order_tiles, blocks, None, given, keys, counts, *numbers, MOVES=False, **flags)
        scan(queue, counts, counts, Folded(1, counts.numel, 1), zero, plus)
        run(queue, order_tiles, blocks, made, given, keys, counts, *numbers, MOVES=True, **flags)
        given, made = made, given
        is_first = False
    if is_first:  # a single key without bits
        run(queue, count_up, 1, given, n)
    return given


@device_kernel("int64*", "I")
def count_up(out, n):
    """One block writes 0 ... n - 1."""
    i = I(cuda.threadIdx.x)
    while i < n:
        out[i] = np.int64(i)
        i = I(i + THREADS)


@device_function
def digit_at(order, keys, i, n, row, shift):
    """The digit of the i-th position in the order so far; beyond the end one that no key has."""
    if i >= n:
        return np.int32(DIGITS)
    position = I(i) if IS_FIRST else I(order[i])
    if OF_ROWS:
        return np.int32((divided(position, row) >> shift) & MASK)
    return np.int32((keys[position] >> shift) & MASK)


@device_kernel("int64* int64* X* int64*", "I I int32 I")
def order_tiles(out, order, keys, sums, n, row, shift, blocks):
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
    # 1. Each warp counts the digits of its run.
    for digit in range(lane, DIGITS, 32):
        counts[own + digit] = np.int32(0)
    cuda.syncwarp()
    for turn in range(ROUNDS):
        digit = digit_at(order, keys, I(begin + turn * 32 + lane), n, row, shift)
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
        for turn in range(ROUNDS):
            i = I(begin + turn * 32 + lane)
            digit = digit_at(order, keys, i, n, row, shift)
            peers = np.uint32(cuda.match_any_sync(0xFFFFFFFF, digit))
            first = starts[own + digit] if digit < DIGITS else np.int64(0)
            cuda.syncwarp()
            if digit < DIGITS:
                rank = cuda.popc(peers & before)
                out[first + rank] = np.int64(i) if IS_FIRST else order[i]
                if rank == 0:
                    starts[own + digit] = np.int64(first + cuda.popc(peers))
            cuda.syncwarp()
