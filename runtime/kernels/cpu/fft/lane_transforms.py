"""Fourier transforms of sizes without primes beyond 7, in the lanes of vectors.

Columns are one in each lane: steps of 4, 3, 5 and 7 in place, in the first cache, on lines of real
and imaginary parts. An element is a line of LANES real parts and one of imaginary parts. The
results come in another order, which is undone where they are read.

A row is a matrix whose columns are transformed, turned by roots of unity, and turned over: what
were its rows are columns then, whose transforms are the result's (the four-step method: D. H.
Bailey, "FFTs in external or hierarchical memory", 1990). Short rows are several in the lanes. A
real row is seen as a complex one of half the size, whose transform is split by its symmetry
(`benchmarks/cases/linalg.py`).
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import chain
from math import isqrt, sqrt
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.cpu.aligned import empty_of
from torchgen_out._runtime.kernels.cpu.fft.fft_plans import roots_of_unity
from torchgen_out._runtime.kernels.cpu.fft.lane_steps import steps_text
from torchgen_out._runtime.kernels.cpu.matmul import register_tile

Array = Any
FEWEST_LANES = 4
HEAD = 19
"""Numbers of a kernel before its lists."""


@cache
def lanes_of(dtype: Any) -> int:
    """How many numbers a vector holds, but four at least."""
    return max(register_tile.registers()[0] // np.dtype(dtype).itemsize, FEWEST_LANES)


def has_steps(size: int) -> bool:
    """Whether a size has no other factors than the steps'."""
    for radix in (2, 3, 5, 7):
        while size % radix == 0:
            size //= radix
    return size == 1


class Matrix(NamedTuple):
    """How a row of some elements lies as a matrix. width: how many columns are done at once."""

    rows: int
    columns: int
    width: int

    @property
    def cost(self) -> float:
        """What is done for each element, more than once where blocks overlap, in narrow vectors."""
        done = sum(len(starts(n, self.width)) * self.width / n for n in (self.rows, self.columns))
        return done / sqrt(self.width)


@lru_cache(maxsize=256)
def matrix_of(dtype: Any, size: int) -> Matrix:
    """The matrix of the least cost, the squarest of equals."""
    found = []
    for columns in range(isqrt(size), 1, -1):
        if size % columns == 0:
            width = min(lanes_of(dtype), 1 << (columns.bit_length() - 1))
            found.append(Matrix(size // columns, columns, width))
    return min(found, key=lambda each: each.cost)


def starts(count: int, width: int) -> list[int]:
    """Where blocks of a width begin that cover a number of rows, the same from either end."""
    blocks, rest = -(-count // width), count - width
    blocks += blocks % 2 and rest % 2
    first = [b * width for b in range(blocks // 2)]
    return [*first, *[rest // 2] * (blocks % 2), *[rest - start for start in first[::-1]]]


def group_of(dtype: Any, size: int) -> int:
    """How many rows share the lanes of vectors: those whose columns do not fill them."""
    return lanes_of(dtype) // matrix_of(dtype, size).width


def numbers_of_rows(
    dtype: Any,
    kind: str,
    size: int,
    steps: tuple[int, int],
    forward: bool,
    scale: float,
    kept: int = 0,
) -> Array:
    """What a kernel of rows of `size` complex numbers is told.

    steps: the distances of the input's rows and of the output's, in real numbers. kept: how many
    elements a transform of real numbers gives.
    """
    rows, columns, width = matrix_of(dtype, size)
    across, down, line = starts(columns, width), starts(rows, width), 2 * lanes_of(dtype)
    lists: tuple[list[int], ...] = (
        *(across, down, _first_opposites(dtype, size)),
        *(order_of(rows), order_of(columns)),
        *(list(chain(*steps_of(each))) for each in (rows, columns)),
    )
    turning = len(across) * rows * line
    stages = turning + {"c2c": 0, "c2r": turning, "r2c": len(down) * columns * line}[kind]
    tables = turning, stages, stages + _stages(rows).size
    places = HEAD + np.cumsum([0, *[len(each) for each in lists[:-1]]])
    head = rows, columns, *steps, int(forward), _bits(scale), *tables, kept
    return np.array([*head, len(across), len(down), *places, *chain(*lists)], np.int64)


def _first_opposites(dtype: Any, size: int) -> list[int]:
    """For each block of rows where the opposite of its first one stands, by block and lane."""
    rows, columns, width = matrix_of(dtype, size)
    begins, found = starts(rows, width), []
    for start in begins:
        opposite = -start % rows
        block = next(b for b, each in enumerate(begins) if 0 <= opposite - each < width)
        found.append(block * columns * 2 * lanes_of(dtype) + opposite - begins[block])
    return found


def numbers_of_columns(
    size: int, columns: int, step: int, forward: bool, scale: float, blocks: int, between: int
) -> Array:
    """What the kernel of columns is told.

    step: the distance of an element and the next, in real numbers. blocks: of columns, in each
    matrix. between: how many matrices begin before the next element.
    """
    head = size, columns, step, between, int(forward), _bits(scale), blocks
    nothing = [0] * (HEAD - len(head))
    return np.array([*head, *nothing, *order_of(size), *chain(*steps_of(size))], np.int64)


def _bits(number: float) -> int:
    return int(np.float64(number).view(np.int64))


@lru_cache(maxsize=16)
def factors_of_rows(dtype: Any, size: int, kind: str) -> Array:
    """Roots by which a row's lines are turned, those by which it is split, the steps' factors.

    Roots stand in lines of real parts and of imaginary ones. kind: that of `entry_for`.
    """
    (rows, columns, width), group = matrix_of(dtype, size), group_of(dtype, size)
    turning = roots_of_unity(size, True)[np.arange(columns)[:, None] * np.arange(rows)]
    halves = 1j * roots_of_unity(2 * size, False)[:size]
    splitting = {
        "c2c": np.empty((rows, 0)),
        "c2r": halves.reshape(rows, columns).T,
        "r2c": halves.conj().reshape(columns, rows).T,
    }[kind]
    lines = [_in_lines(each, width, group) for each in (turning, splitting)]
    return _rounded(dtype, [*lines, _stages(rows), _stages(columns)])


def _in_lines(numbers: Array, width: int, group: int) -> Array:
    """Complex numbers (n, m) by blocks of some of n, then by m.

    Each block is repeated for the rows of a group: lines of real parts and of imaginary ones.
    """
    places = np.array(starts(len(numbers), width))[:, None] + np.arange(width)
    blocks = np.tile(numbers[places].swapaxes(1, 2), group)
    return np.stack([blocks.real, blocks.imag], -2).reshape(-1)


@lru_cache(maxsize=32)
def factors_of_columns(dtype: Any, size: int) -> Array:
    """The factors of the steps of `transform`."""
    return _rounded(dtype, [_stages(size)])


def _rounded(dtype: Any, parts: list[Array]) -> Array:
    """Numbers of float64 in one vector that begins at a cache line."""
    made = empty_of(dtype)(sum(each.size for each in parts))
    made[:] = np.concatenate(parts)
    return made


def steps_of(size: int) -> list[tuple[int, int]]:
    """The radix of each step and how many numbers are left; 4 and 2 come last."""
    found = []
    while size > 1:
        radix = next((each for each in (3, 5, 7, 4) if size % each == 0), 2)
        size //= radix
        found.append((radix, size))
    return found


def _stages(size: int) -> Array:
    """For each step w^p, w^2p, ... below its radix, w the root of its size: the parts of each."""
    parts = [np.empty(0)]
    for radix, left in steps_of(size):
        powers = np.arange(left)[:, None] * np.arange(1, radix)
        parts.append(roots_of_unity(radix * left, True)[powers].reshape(-1).view(np.float64))
    return np.concatenate(parts)


@lru_cache(maxsize=32)
def order_of(size: int) -> list[int]:
    """Where each element of a transform lies: the digits of its number the other way round."""
    order, numbers = np.zeros(size, np.int64), np.arange(size)
    for radix, left in steps_of(size):
        order += numbers % radix * left
        numbers //= radix
    return [int(place) for place in order]


@cache
def entry_for(dtype: Any, kind: str, group: int = 1) -> Any:
    """A kernel(first, last, factors, out, x, at, numbers) for one element type.

    kind: rows "c2c", "r2c" and "c2r"; "columns"; "mirror". The text is that of all, which share
    their parts.
    """
    function, out, x = {
        "c2c": (complex_rows, "F", "F"),
        "r2c": (real_rows, "F", "f"),
        "c2r": (rows_from_halves, "f", "F"),
        "columns": (complex_columns, "F", "F"),
        "mirror": (mirror_rows, "F", "F"),
    }[kind]
    kinds = {"f": dtype, "F": np.result_type(dtype, np.complex64)}
    inner = new_room, begin_group, join_ends, finish_group, split_rows, mirror_row
    parts = [
        build.HEADER.format(title=f"Fourier transforms: {dtype.name}."),
        steps_text(dtype, lanes_of(dtype), group),
        f"HEAD = {HEAD}",
        *("@inner\n" + build.plain_source(each) for each in inner),
        *("@outer\n" + build.plain_source(each) for each in (step_by_odd, transform)),
        "@entry\n" + build.plain_source(function),
    ]
    table = np.dtype(np.int64) if kind == "mirror" else dtype
    arguments = (int, int, table, kinds[out], kinds[x], int, np.dtype(np.int64))
    name = f"fourier_{dtype.name}_{group}"
    return build.entry_point(name, "\n\n".join(parts), arguments, function.__name__)


# Compiled. Addresses are int64.


def new_room(lines):
    """(array, address of its first cache line) for lines of both parts."""
    room = np.empty(lines * 2 * LANES + 32, T)  # a cache line before, one behind
    start = np.int64(room.ctypes.data)
    return room, start + -start % 64


def transform(work, size, factors, real, plan, at):
    """Transform the elements in place, their order to be found in `order_of`.

    at: where the steps begin in the plan, each a radix and what is left.
    """
    stay_apart()
    line, left = 2 * LANES * SIZE, size
    while left > 2:
        radix, part = plan[at], plan[at + 1]
        if radix == 4:
            for base in range(0, size, left):
                plain_step_of_four(work + base * line, part * 2 * LANES, real)
                for p in range(1, part):
                    place = work + (base + p) * line
                    step_of_four(place, part * 2 * LANES, factors + 6 * p * SIZE, real)
        else:
            step_by_odd(work, size, left, radix, part, factors, real)
        factors += 2 * (radix - 1) * part * SIZE
        left, at = part, at + 2
    if left == 2:
        for base in range(0, size, 2):
            step_of_two(work + base * line)


def step_by_odd(work, size, left, radix, part, factors, real):
    """The steps of 3, 5 or 7 for what is left; apart, the usual steps are compiled better."""
    stay_apart()
    line, more = 2 * LANES * SIZE, 2 * (radix - 1) * SIZE
    for base in range(0, size, left):
        for p in range(part):
            place, given = work + (base + p) * line, factors + p * more
            if radix == 3:
                step_of_three(place, part * 2 * LANES, given, real)
            elif radix == 5:
                step_of_five(place, part * 2 * LANES, given, real)
            else:
                step_of_seven(place, part * 2 * LANES, given, real)


def begin_group(source, step, m, work, table, plan, joining):
    """The first half of transforms of m rows: their columns, turned, become columns of lines.

    joining: the roots by which halves of the transforms of real rows are joined, or 0.
    """
    rows, columns, real = plan[0], plan[1], np.int64(0 if plan[4] else LANES)
    line, turning = 2 * LANES * SIZE, table
    across, down, order, blocks = plan[12], plan[13], plan[15], plan[11]
    lines = work + rows * line
    middle = lines + rows * line
    for a in range(plan[10]):
        c = plan[across + a]
        for j in range(rows):
            place, goal = source + 2 * (j * columns + c) * SIZE, work + j * line
            if joining:
                left = (rows - j) * columns - c - COLUMNS + 1
                join_group(goal, place, source + 2 * left * SIZE, step, m, joining)
                joining += line
            else:
                take_group(goal, place, step, m)
        if joining and a == 0:
            join_ends(work, source, step, m, rows * columns)
        transform(work, rows, table + plan[7] * SIZE, real, plan, plan[17])
        for k in range(rows):
            turn_line(lines + k * line, work + plan[order + k] * line, turning, real)
            turning += line
        for b in range(blocks):
            r = plan[down + b]
            transpose_lines(middle + (b * columns + c) * line, lines + r * line)
    return middle


def join_ends(work, source, step, m, size):
    """The first number and the last one count as real."""
    for i in range(GROUP):
        row = source + min(i, m - 1) * step
        begin, end = element(row, 0), element(row, 2 * size)
        put(work, i * COLUMNS, begin + end)
        put(work, i * COLUMNS + LANES, begin - end)


def finish_group(target, out_step, m, middle, table, plan, scale):
    """The second half: what were rows. Element k of a column is the result's k * rows + r."""
    rows, columns, real = plan[0], plan[1], np.int64(0 if plan[4] else LANES)
    line, block, down, order = 2 * LANES * SIZE, middle, plan[13], plan[16]
    for b in range(plan[11]):
        r = plan[down + b]
        transform(block, columns, table + plan[8] * SIZE, real, plan, plan[18])
        for k in range(columns):
            place, own = target + 2 * (k * rows + r) * SIZE, block + plan[order + k] * line
            deliver_group(place, out_step, m, own, scale)
        block += columns * line


def complex_rows(first, last, factors, out, x, at, plan):
    """Transform rows, GROUP at once."""
    rows, columns, step, out_step = plan[0], plan[1], plan[2] * SIZE, plan[3] * SIZE
    room, work = new_room(2 * rows + plan[11] * columns)
    target, source = np.int64(out.ctypes.data), np.int64(x.ctypes.data) + 2 * at * SIZE
    table, scale = np.int64(factors.ctypes.data), T(plan.view(np.float64)[5])
    for r in range(first, last, GROUP):
        m, goal, place = min(GROUP, last - r), target + r * out_step, source + r * step
        middle = begin_group(place, step, m, work, table, plan, 0)
        finish_group(goal, out_step, m, middle, table, plan, scale)
    return room[0]


def real_rows(first, last, factors, out, x, at, plan):
    """X[k] = e + w^k o of e = (Z[k] + Y[k]) / 2 and o = (Z[k] - Y[k]) / 2i, Y[k] = conj(Z[-k]).

    Z is the transform of the row of half the size whose parts are even and odd numbers.
    """
    rows, columns, step, out_step = plan[0], plan[1], plan[2] * SIZE, plan[3] * SIZE
    room, work = new_room(2 * rows + plan[11] * columns)
    target, source = np.int64(out.ctypes.data), np.int64(x.ctypes.data) + at * SIZE
    table, half = np.int64(factors.ctypes.data), T(plan.view(np.float64)[5]) * T(0.5)
    for r in range(first, last, GROUP):
        m, goal = min(GROUP, last - r), target + r * out_step
        middle = begin_group(source + r * step, step, m, work, table, plan, 0)
        for b in range(plan[11]):
            place = middle + 2 * b * columns * LANES * SIZE
            transform(place, columns, table + plan[8] * SIZE, np.int64(0), plan, plan[18])
        split_rows(goal, out_step, m, middle, table + plan[6] * SIZE, plan, half)
    return room[0]


def split_rows(target, out_step, m, middle, roots, plan, half):
    """Lines of the transform of m rows, and of opposite elements, give those of real rows."""
    rows, columns, blocks, order = plan[0], plan[1], plan[11], plan[16]
    size, line, is_whole = rows * columns, 2 * LANES * SIZE, plan[9] > rows * columns + 1
    for b in range(blocks):
        r, own = plan[plan[13] + b], middle + b * columns * line
        opposite = middle + (blocks - 1 - b) * columns * line
        first = middle + plan[plan[14] + b] * SIZE
        for k in range(columns):
            place, back = target + 2 * (k * rows + r) * SIZE, columns - 1 - k
            begin = (back + 1) % columns if r == 0 else back
            split_group(
                *(place, place + 2 * size * SIZE if is_whole else 0, out_step, m),
                *(own + plan[order + k] * line, opposite + plan[order + back] * line),
                *(first + plan[order + begin] * line, roots, half),
            )
            roots += line
    for i in range(0 if is_whole else m):
        goal, at = target + i * out_step, i * COLUMNS
        put(goal, 2 * size, T(2) * half * (element(middle, at) - element(middle, at + LANES)))
        put(goal, 2 * size + 1, T(0))


def mirror_row(target, source, size):
    """Elements 2 * size - k of a row, from 1 to size - 1, are the conjugates of those at k."""
    for each in range(1, size, COLUMNS):
        k = min(each, size - COLUMNS)
        mirror_line(target + 2 * (2 * size - k - COLUMNS + 1) * SIZE, source + 2 * k * SIZE)


def mirror_rows(first, last, opposite, out, x, at, plan):
    """The second half of each row from the first of the opposite one. plan: half of the size."""
    target, size = np.int64(out.ctypes.data), plan[0]
    for r in range(first, last):
        mirror_row(target + 4 * r * size * SIZE, target + 4 * opposite[r] * size * SIZE, size)


def rows_from_halves(first, last, factors, out, x, at, plan):
    """From the first halves of transforms those of rows whose parts are even and odd numbers.

    Z[k] = s + i t of s = X[k] + Y[k] and t = w^k (X[k] - Y[k]), Y[k] the conjugate of X[size - k];
    Z[size - k] = conj(s) + i conj(t). The first number and the last one of X count as real.
    """
    rows, columns, step, out_step = plan[0], plan[1], plan[2] * SIZE, plan[3] * SIZE
    room, work = new_room(2 * rows + plan[11] * columns)
    target, source = np.int64(out.ctypes.data), np.int64(x.ctypes.data) + 2 * at * SIZE
    table, scale = np.int64(factors.ctypes.data), T(plan.view(np.float64)[5])
    for r in range(first, last, GROUP):
        m, goal, place = min(GROUP, last - r), target + r * out_step, source + r * step
        middle = begin_group(place, step, m, work, table, plan, table + plan[6] * SIZE)
        finish_group(goal, out_step, m, middle, table, plan, scale)
    return room[0]


def complex_columns(first, last, factors, out, x, at, plan):
    """Blocks of LANES columns; x may be out. Lanes without one hold what lies behind the others."""
    size, columns, step, between = plan[0], plan[1], plan[2], plan[3]
    real, blocks, line = np.int64(0 if plan[4] else LANES), plan[6], 2 * LANES * SIZE
    room, work = new_room(size + 1)
    lines, table = work + size * line, np.int64(factors.ctypes.data)
    target, source = np.int64(out.ctypes.data), np.int64(x.ctypes.data) + 2 * at * SIZE
    scale, end = T(plan.view(np.float64)[5]), 2 * (x.size - at)
    for block in range(first, last):
        matrix, column = block // blocks, block % blocks * LANES
        m = min(LANES, columns - column)
        begin = matrix // between * size * step + matrix % between * (step // between) + 2 * column
        for k in range(size):
            place = source + (begin + k * step) * SIZE
            if m < LANES and begin + k * step + 2 * LANES > end:
                for i in range(2 * LANES):
                    put(lines, i, element(place, i) if i < 2 * m else T(0))
                place = lines
            take_line(work + k * line, place)
        transform(work, size, table, real, plan, HEAD + size)
        for k in range(size):
            place = target + (begin + k * step) * SIZE
            deliver_line(place if m == LANES else lines, work + plan[HEAD + k] * line, scale)
            if m < LANES:
                for i in range(2 * m):
                    put(place, i, element(lines, i))
    return room[0]
