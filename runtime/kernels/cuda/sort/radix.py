"""A stable sort of positions by integer keys: digit by digit, in a fixed number of passes.

Each pass orders positions, and the keys that go along, by one digit of eight bits, the lowest
first: blocks count the digits of their tiles, the counts are summed up over all blocks, and blocks
move their tiles to where these sums say, in order already, so that neighbours are written side by
side. Equal digits keep their order, so the passes add up to a stable sort; the numbers of rows may
be further digits, which sorts rows apart from each other. Of a short row each thread counts what
comes before its own key.

Source: D. Merrill, A. Grimshaw, "High performance and scalable radix sorting" (2011), for the plan.
"""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    NARROW,
    THREADS,
    device_function,
    device_kernel,
    run,
    run_elements,
)
from torchgen_out._runtime.kernels.cuda.programs import run_program
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue
from torchgen_out._runtime.kernels.cuda.rows import WARP, WARPS

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

    row: of how many keys a row consists; rows are sorted each for itself, and positions are those
    in a row. 0: all are one row.
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
    counts, sums = (queue.empty((DIGITS * blocks,), dtypes.int64) for _ in range(2))
    places = dtypes.int32 if n <= NARROW else dtypes.int64
    buffers = [(queue.empty((n,), places), queue.empty((n,), keys.dtype)) for _ in passes[1:3]]
    given = None
    for number, (shift, of_rows) in enumerate(passes):
        is_last = number == len(passes) - 1
        made, made_keys = (order, None) if is_last else buffers[number % 2]
        is_sign = signed and not of_rows and shift + BITS >= bits
        numbers = (n, row, shift, blocks, (DIGITS // 2) * is_sign)
        flags = {"IS_FIRST": number == 0, "OF_ROWS": of_rows}
        run(queue, count_tiles, blocks, given, keys, counts, *numbers, **flags)
        run_program(queue, "cumsum", sums, counts, 0, None)
        operands = (made, made_keys, given, keys, sums)
        run(queue, move_tiles, blocks, *operands, *numbers, IS_LAST=is_last, **flags)
        given, keys = made, keys if is_last else made_keys
    return order


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
        out[base + rank] = np.int64(i - base)
        i = I(i + cuda.gridsize(1))


@device_function
def digit_of(key, position, row, shift, flipped):
    """The digit of a key, or of the number of the row in which it stands."""
    if OF_ROWS:
        return np.int32((divided(position, row) >> shift) & MASK)
    return np.int32(((key >> shift) & MASK) ^ flipped)


@device_function
def digit_at(order, keys, i, n, row, shift, flipped):
    """The digit of the i-th key in the order so far; beyond the end one that no key has."""
    if i >= n:
        return np.int32(DIGITS)
    return digit_of(keys[i], I(i) if IS_FIRST else I(order[i]), row, shift, flipped)


@device_function
def first_of_run():
    """Where the run of this thread's warp begins: a warp owns a run of its block's tile."""
    return I(cuda.blockIdx.x * TILE + cuda.threadIdx.x // 32 * PER_WARP)


@device_function
def turns_of_run(begin, n):
    """How often a warp takes 32 elements of its run, in the order they stand."""
    return I(min(ROUNDS, max(I(0), I((n - begin + 31) // 32))))


@device_function
def lanes_before():
    """The lanes of the warp before this one, as bits."""
    return np.uint32((np.uint32(1) << np.uint32(cuda.threadIdx.x % 32)) - np.uint32(1))


@device_function
def count_digits(counts, order, keys, n, row, shift, flipped):
    """Each warp counts the digits of its run; the return is how many this thread's digit has in
    all warps."""
    thread = np.int32(cuda.threadIdx.x)
    lane = np.int32(thread % 32)
    own = np.int32(thread // 32 * DIGITS)
    begin = first_of_run()
    before = lanes_before()
    for digit in range(lane, DIGITS, 32):
        counts[own + digit] = np.int32(0)
    cuda.syncwarp()
    for turn in range(turns_of_run(begin, n)):
        digit = digit_at(order, keys, I(begin + turn * 32 + lane), n, row, shift, flipped)
        peers = np.uint32(cuda.match_any_sync(0xFFFFFFFF, digit))
        if digit < DIGITS and (peers & before) == 0:
            counts[own + digit] = np.int32(counts[own + digit] + cuda.popc(peers))
        cuda.syncwarp()
    cuda.syncthreads()
    total = np.int32(0)
    for warp in range(WARPS):
        total = np.int32(total + counts[warp * DIGITS + thread])
    return total


@device_kernel("Q* X* int64*", "I I int32 I int32")
def count_tiles(order, keys, sums, n, row, shift, blocks, flipped):
    """A block owns a tile; thread d writes how often digit d comes in it, digit by digit."""
    counts = cuda.shared.array(COUNTERS, np.int32)
    total = count_digits(counts, order, keys, n, row, shift, flipped)
    sums[I(cuda.threadIdx.x * blocks + cuda.blockIdx.x)] = np.int64(total)


@device_kernel("P* X* Q* X* int64*", "I I int32 I int32")
def move_tiles(out, out_keys, order, keys, sums, n, row, shift, blocks, flipped):
    """A block owns a tile, and moves it where `sums`, the counts of `count_tiles` summed up over
    digits and blocks, say that its digits end. IS_LAST: keys are wanted no more, and positions are
    those in rows."""
    counts = cuda.shared.array(COUNTERS, np.int32)
    of_warps = cuda.shared.array(WARPS, np.int32)
    to_place = cuda.shared.array(DIGITS, np.int64)
    tile_keys = cuda.shared.array(TILE, X)
    tile_places = cuda.shared.array(TILE, I)
    thread = np.int32(cuda.threadIdx.x)
    lane = np.int32(thread % 32)
    own = np.int32(thread // 32 * DIGITS)
    # 1. Thread d counts digit d in all warps, and what comes before it in the tile.
    total = count_digits(counts, order, keys, n, row, shift, flipped)
    end = total
    for delta in (1, 2, 4, 8, 16):
        other = np.int32(cuda.shfl_up_sync(0xFFFFFFFF, end, delta))
        if lane >= delta:
            end = np.int32(end + other)
    if lane == 31:
        of_warps[thread // 32] = end
    cuda.syncthreads()
    for warp in range(thread // 32):
        end = np.int32(end + of_warps[warp])
    # 2. It turns the counts into where each warp's begin, and tells how far the tile's go.
    start = np.int32(end - total)
    to_place[thread] = np.int64(sums[I(thread * blocks + cuda.blockIdx.x)] - end)
    for warp in range(WARPS):
        count = counts[warp * DIGITS + thread]
        counts[warp * DIGITS + thread] = start
        start = np.int32(start + count)
    cuda.syncthreads()
    # 3. Each warp puts its run in order; elements of one digit follow each other.
    begin = first_of_run()
    before = lanes_before()
    for turn in range(turns_of_run(begin, n)):
        i = I(begin + turn * 32 + lane)
        digit = digit_at(order, keys, i, n, row, shift, flipped)
        peers = np.uint32(cuda.match_any_sync(0xFFFFFFFF, digit))
        first = counts[own + digit] if digit < DIGITS else np.int32(0)
        cuda.syncwarp()
        if digit < DIGITS:
            rank = np.int32(cuda.popc(peers & before))
            tile_keys[first + rank] = keys[i]
            tile_places[first + rank] = I(i) if IS_FIRST else I(order[i])
            if rank == 0:
                counts[own + digit] = np.int32(first + cuda.popc(peers))
        cuda.syncwarp()
    cuda.syncthreads()
    # 4. The threads write the tile, neighbours mostly side by side.
    count = np.int32(min(I(TILE), I(n - cuda.blockIdx.x * TILE)))
    for i in range(thread, count, THREADS):
        key, position = tile_keys[i], tile_places[i]
        at = to_place[digit_of(key, position, row, shift, flipped)] + i
        if IS_LAST:
            out[at] = P(position - divided(position, row) * row)
        else:
            out[at] = P(position)
            out_keys[at] = key
