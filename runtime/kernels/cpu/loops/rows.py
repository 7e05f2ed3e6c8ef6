"""The texts of the loops over dense rows, which `runtime.kernels.cpu.loops.reduction` fills in."""

from __future__ import annotations

FOLD_WITH_IDENTITY = '''\
BLOCK = 1024
LANES = 16
SHORT = LANES  # elements of rows that are folded side by side


@inner
def fold_block(run{scalars}):
    """Folds a run, which is no longer than a block."""
{fold_block}


@inner
def fold(x, start, stop{scalars}):
    """Folds x[start:stop] in blocks, and the blocks, in a wider type, in blocks of blocks."""
    total = {wide}(identity())
    for outer in range(start, stop, BLOCK * BLOCK):
        middle = {wide}(identity())
        for first in range(outer, lesser(outer + BLOCK * BLOCK, stop), BLOCK):
            run = x[first : lesser(first + BLOCK, stop)]
            middle = combine(middle, fold_block(run{scalars}))
        total = combine(total, middle)
    return total


@inner
def fold_short(run, step, n, lanes{scalars}):
    """lanes[lane] = the fold of run[lane * step : lane * step + n]."""
    for lane in range(LANES):
        lanes[lane] = identity()
    for k in range(n):
        for lane in range(LANES):
            i = np.uint64(lane * step + k)
            lanes[lane] = reduce(lanes[lane], {element}{scalars})
'''

ONE_BY_ONE = """\
    acc = {first}
    for i in range(run.size):
        acc = reduce(acc, {element}{scalars})
    return {wide}(acc)"""

IN_TURNS = """\
    a, b, c, d = {first}, {first}, {first}, {first}
    turns = run.size // 4
    for k in range(turns):
        i = np.uint64(4 * k)
        a = reduce(a, {element}{scalars})
        i += np.uint64(1)
        b = reduce(b, {element}{scalars})
        i += np.uint64(1)
        c = reduce(c, {element}{scalars})
        i += np.uint64(1)
        d = reduce(d, {element}{scalars})
    for k in range(4 * turns, run.size):
        i = np.uint64(k)
        a = reduce(a, {element}{scalars})
    return {wide}(combine(combine(a, b), combine(c, d)))"""
"""The same of complex numbers, whose products LLVM leaves in their order: four of them do not wait
for each other."""

FOLD_FEW = '''\
LANES = 16
LONG = 4 * LANES
SHORT = {short}  # elements of rows that are folded side by side
in_lanes = range  # with a hint for LLVM


@inner
def fold_four(run, at, step{scalars}):
    """Four elements as one."""
    i = at
    first = {element}
    i += step
    first = reduce(first, {element}{scalars})
    i += step
    second = {element}
    i += step
    return combine(first, reduce(second, {element}{scalars}))


@inner
def join_four(lanes, at):
    """Four lanes as one."""
    first = combine(lanes[at], lanes[at + 1])
    return combine(first, combine(lanes[at + 2], lanes[at + 3]))


@inner
def join(lanes):
    """All lanes as one."""
    half = combine(join_four(lanes, 0), join_four(lanes, 4))
    return combine(half, combine(join_four(lanes, 8), join_four(lanes, 12)))


@inner
def fold_few(run{scalars}):
    """Folds a run one by one, starting from the first."""
    i = 0
    acc = {element}
    for i in range(1, run.size):
        acc = reduce(acc, {element}{scalars})
    return acc
'''

IN_LANES_ONCE = '''\
@inner
def fold_many(run, lanes{scalars}):
    """Folds at least LONG elements in lanes.

    What LLVM does by itself for a sum, it may not do where the order could matter. Lanes are
    memory, so four elements go into one at once. Loops over them alone would be unrolled, and not
    vectorise.
    """
    for k in range(run.size // LONG):
        base = np.uint64(k * LONG)
        for lane in range(LANES):
            four = fold_four(run, base + np.uint64(lane), np.uint64(LANES){scalars})
            lanes[lane] = combine(lanes[lane], four) if k else four
    for k in range(run.size // LONG * 4, run.size // LANES):
        base = np.uint64(k * LANES)
        for lane in range(LANES):
            i = base + np.uint64(lane)
            lanes[lane] = reduce(lanes[lane], {element}{scalars})
    acc = join(lanes)
    for i in range(run.size // LANES * LANES, run.size):
        acc = reduce(acc, {element}{scalars})
    return acc
'''

IN_LANES_REPEATED = '''\
@inner
def put_in_lanes(run, lanes{scalars}):
    """Folds at least LANES elements to as many; the last ones are folded together, whatever of them
    was before."""
    for lane in in_lanes(LANES):
        i = np.uint64(lane)
        lanes[i] = {element}
    k = LANES
    while k + LONG <= run.size:
        for lane in in_lanes(LANES):
            four = fold_four(run, np.uint64(k + lane), np.uint64(LANES){scalars})
            lanes[lane] = combine(lanes[lane], four)
        k += LONG
    for k in range(k, run.size, LANES):
        base = np.uint64(lesser(k, run.size - LANES))
        for lane in in_lanes(LANES):
            i = base + np.uint64(lane)
            lanes[lane] = reduce(lanes[lane], {element}{scalars})


@inner
def fold_many(run, lanes{scalars}):
    """Folds at least LANES elements in lanes."""
    put_in_lanes(run, lanes{scalars})
    return join(lanes)


@inner
def join_pairs(joined, lanes, count):
    """joined[i] = lanes[2 * i] and lanes[2 * i + 1] as one; i < count."""
    for i in range(np.uint64(count)):
        joined[i] = combine(lanes[np.uint64(2) * i], lanes[np.uint64(2) * i + np.uint64(1)])


@inner
def fold_aside(run, step, n, lanes, tile{scalars}):
    """lanes[lane] = the fold of run[lane * step : lane * step + n], of at least LANES elements.

    Each row is folded in lanes, which are then joined in pairs, those of all rows in vectors.
    """
    for row in range(LANES):
        part = run[row * step : row * step + n]
        put_in_lanes(part, tile[row * LANES : (row + 1) * LANES]{scalars})
    join_pairs(lanes, tile, LANES * LANES // 2)
    join_pairs(tile, lanes, LANES * LANES // 4)
    join_pairs(lanes, tile, LANES * LANES // 8)
    join_pairs(tile, lanes, LANES)
    for lane in in_lanes(LANES):
        lanes[lane] = tile[lane]
'''
"""The same where elements may be folded twice, as of a maximum that keeps NaN: what is left over is
not taken one by one. Of rows of 100 that was most of the time, of rows of 33 it was to join lanes.
"""

IN_ORDER = '''\
@inner
def fold_many(run, lanes{scalars}):
    """The same of many: LLVM takes whole numbers, whose order does not matter, in vectors."""
    return fold_few(run{scalars})
'''

FOLDS_FROM_FIRST = '''\
@inner
def fold(x, start, stop, lanes{scalars}):
    """Folds x[start:stop], which holds at least one element."""
    run = x[start:stop]
    return fold_few(run{scalars}) if run.size < {many} else fold_many(run, lanes{scalars})


@inner
def fold_short(run, step, n, lanes{scalars}):
    """lanes[lane] = the fold of run[lane * step : lane * step + n].

    An element waits for the one before it in its row; the rows do not wait for each other.
    """
    for lane in range(LANES):
        i = np.uint64(lane * step)
        lanes[lane] = {element}
    k = 1
    while k + 4 <= n:
        for lane in range(LANES):
            four = fold_four(run, np.uint64(lane * step + k), np.uint64(1){scalars})
            lanes[lane] = combine(lanes[lane], four)
        k += 4
    for k in range(k, n):
        for lane in range(LANES):
            i = np.uint64(lane * step + k)
            lanes[lane] = reduce(lanes[lane], {element}{scalars})
'''

SHORT_ROWS = '''\
@inner
def fold_short_rows(start, stop, out, x, rows, n, step, outer, lanes{tile}{scalars}):
    """`strided` of rows of few elements, LANES of them at once. With the last of a matrix, some
    before them are folded again: so all are folded in one order."""
    for o in range(start // rows, (stop + rows - 1) // rows):
        k, end = greater(start - o * rows, 0), lesser(stop - o * rows, rows)
        while k < end:
            first = lesser(k, rows - LANES)
            begin = o * outer + first * step
            run = x[begin : begin + (LANES - 1) * step + n]
{fold_lanes}
            count = lesser(first + LANES, end) - k
            results = out[o * rows + k : o * rows + k + count]
            if count == LANES:
                for lane in range(LANES):
                    acc = lanes[lane]
                    results[lane] = {project}
            else:
                for i in range(count):
                    acc = lanes[k - first + i]
                    results[i] = {project}
            k += count
'''

FOLD_LANES = "            fold_short(run, step, n, lanes{scalars})"
FOLD_LANES_ASIDE = """\
            if n < LANES:
                fold_short(run, step, n, lanes{scalars})
            else:
                fold_aside(run, step, n, lanes, tile{scalars})"""
"""The folds of LANES rows."""

ROW = "fold(x, begin, begin + n, lanes{scalars})"
ROW_WITH_IDENTITY = """\
fold_block(x[begin : begin + n]{scalars}) if n <= BLOCK else fold(x, begin, begin + n{scalars})"""
"""One row's fold."""

ROWS = '''\
GATHERED = 4096  # elements with gaps between them that are copied side by side at a time


@entry
def kernel(out, x, n{scalars}):
    """out[row] = the fold of x[row * n : (row + 1) * n]."""
{setup}    if (n <= SHORT) & (out.size >= LANES):
        fold_short_rows(0, out.size, out, x, out.size, n, n, 0, lanes{tile}{scalars})
    else:
        for row in range(out.size):
            begin = row * n
            acc = {fold_row}
            out[row] = {project}


@inner
def copy_run(run, x, begin, count, along):
    """run[i] = x[begin + i * along] for i < count. Every other element is what LLVM takes out of
    vectors, if it knows that."""
    if along == 2:
        source = x[begin : begin + 2 * count - 1]
        for i in range(count):
            run[i] = source[np.uint64(2 * i)]
    else:
        for i in range(count):
            run[i] = x[np.uint64(begin + i * along)]


@inner
def fold_apart(x, begin, n, along, run{passed}{scalars}):
    """As `fold`, of elements that lie `along` apart: some at a time are copied side by side."""
    copy_run(run, x, begin, lesser(n, run.size), along)
    acc = fold(run, 0, lesser(n, run.size){passed}{scalars})
    for first in range(run.size, n, run.size):
        count = lesser(n - first, run.size)
        copy_run(run, x, begin + first * along, count, along)
        acc = combine(acc, fold(run, 0, count{passed}{scalars}))
    return acc


@entry
def strided(start, stop, out, x, rows, n, step, outer, along{scalars}):
    """out[i, k] = the fold of n elements from x[i * outer + k * step] on, `along` apart; k < rows.

    start, stop: which results, counted through.
    """
{setup}    if (along == 1) & (n <= SHORT) & (rows >= LANES):
        fold_short_rows(start, stop, out, x, rows, n, step, outer, lanes{tile}{scalars})
        return
    run = np.empty(GATHERED if along != 1 else 1, x.dtype)
    k = start % rows
    begin = start // rows * outer + k * step
    for row in range(start, stop):
        if along == 1:
            acc = {fold_row}
        else:
            acc = fold_apart(x, begin, n, along, run{passed}{scalars})
        out[row] = {project}
        k += 1
        begin += step
        if k == rows:
            k = 0
            begin += outer - rows * step


@entry
def partial(part, start, stop, parts, x{scalars}):
    """One thread's share of a full reduction."""
{partial_setup}    parts[part] = fold(x, start, stop{passed}{scalars})


@entry
def finish(out, parts, n):
    """The partial results combined and projected."""
    acc = parts[0]
    for part in range(1, parts.size):
        acc = combine(acc, parts[part])
    out[0] = {project}
'''
