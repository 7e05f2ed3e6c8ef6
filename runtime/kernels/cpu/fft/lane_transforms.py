"""Fourier transforms of sizes that are powers of two, in the lanes of vectors.

Columns are one in each lane: steps of four in place, in the first cache, on lines of real and
imaginary parts. An element is a line of LANES real parts and one of imaginary parts. The results
come in another order, which is undone where they are read.

A row is a matrix whose columns are transformed, turned by roots of unity, and turned over: what
were its rows are columns then, whose transforms are the result's (the four-step method: D. H.
Bailey, "FFTs in external or hierarchical memory", 1990). Short rows are several in the lanes. A
real row is seen as a complex one of half the size, whose transform is split by its symmetry
(`benchmarks/cases/linalg.py`).
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.cpu.aligned import empty_of
from torchgen_out._runtime.kernels.cpu.fft.fft_plans import roots_of_unity
from torchgen_out._runtime.kernels.cpu.fft.lane_steps import steps_text
from torchgen_out._runtime.kernels.cpu.matmul import register_tile

Array = Any
FEWEST_LANES = 4
HEAD = 10
"""Numbers of a kernel before the orders of its transforms."""


@cache
def lanes_of(dtype: Any) -> int:
    """How many numbers a vector holds, but four at least."""
    return max(register_tile.registers()[0] // np.dtype(dtype).itemsize, FEWEST_LANES)


def group_of(dtype: Any, size: int) -> int:
    """How many rows share the lanes of vectors: those whose columns do not fill them."""
    return max(lanes_of(dtype) // matrix_of(size)[1], 1)


def matrix_of(size: int) -> tuple[int, int]:
    """The rows and the columns of a row as a matrix: as many, or twice as many rows."""
    columns = 1 << (size.bit_length() - 1) // 2
    return size // columns, columns


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
    rows, columns = matrix_of(size)
    splitting = 2 * size * group_of(dtype, size)
    stages = splitting if kind == "c2c" else 2 * splitting
    places = splitting, stages, stages + sum(each.size for each in _stages(rows))
    head = rows, columns, *steps, int(forward), _bits(scale), *places, kept
    return np.array([*head, *order_of(rows), *order_of(columns)], np.int64)


def numbers_of_columns(
    size: int, columns: int, step: int, forward: bool, scale: float, blocks: int, between: int
) -> Array:
    """What the kernel of columns is told.

    step: the distance of an element and the next, in real numbers. blocks: of columns, in each
    matrix. between: how many matrices begin before the next element.
    """
    head = size, columns, step, between, int(forward), _bits(scale), blocks
    return np.array([*head, *[0] * (HEAD - len(head)), *order_of(size)], np.int64)


def _bits(number: float) -> int:
    return int(np.float64(number).view(np.int64))


@lru_cache(maxsize=32)
def factors_of_rows(dtype: Any, size: int, kind: str) -> Array:
    """Roots by which the lines of a row are turned, those by which it is split, and the steps'.

    kind: that of `entry_for`. Roots stand in lines of real parts and of imaginary ones.
    """
    lanes, group, (rows, columns) = lanes_of(dtype), group_of(dtype, size), matrix_of(size)
    powers = np.arange(rows)[:, None] * np.arange(columns)
    tables = [_in_lines(roots_of_unity(size, True)[powers].T, lanes, group)]
    halves = 1j * roots_of_unity(2 * size, False)[:size]
    if kind == "c2r":
        tables.append(_in_lines(halves.reshape(rows, columns).T, lanes, group))
    if kind == "r2c":
        tables.append(_in_lines(halves.conj().reshape(columns, rows).T, lanes, group))
    return _rounded(dtype, [*tables, *_stages(rows), *_stages(columns)])


def _in_lines(numbers: Array, lanes: int, group: int) -> Array:
    """Complex numbers (n, m) by blocks of as many of n as a row has of the lanes, then by m.

    Each block is repeated for the rows of a group: lines of real parts and of imaginary ones.
    """
    blocks = numbers.reshape(-1, lanes // group, numbers.shape[1]).swapaxes(1, 2)
    blocks = np.tile(blocks, group)
    return np.stack([blocks.real, blocks.imag], -2).reshape(-1)


@lru_cache(maxsize=32)
def factors_of_columns(dtype: Any, size: int) -> Array:
    """The factors of the steps of `transform`."""
    return _rounded(dtype, _stages(size))


def _rounded(dtype: Any, parts: list[Array]) -> Array:
    """Numbers of float64 in one vector that begins at a cache line."""
    made = empty_of(dtype)(sum(each.size for each in parts))
    made[:] = np.concatenate(parts)
    return made


@lru_cache(maxsize=32)
def _stages(size: int) -> list[Array]:
    """For each step of four, w^p, w^2p and w^3p, w the root of its size: the parts of each."""
    parts, left = [np.empty(0)], size
    while left >= 4:
        powers = np.arange(left // 4)[:, None] * np.arange(1, 4)
        parts.append(roots_of_unity(left, True)[powers].reshape(-1).view(np.float64))
        left //= 4
    return parts


@lru_cache(maxsize=32)
def order_of(size: int) -> list[int]:
    """Where each element of a transform lies: the digits of its number the other way round."""
    order, left = np.zeros(size, np.int64), size
    numbers = np.arange(size)
    while left > 1:
        radix = min(left, 4)
        left //= radix
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
        "@outer\n" + build.plain_source(transform),
        *("@inner\n" + build.plain_source(each) for each in inner),
        "@entry\n" + build.plain_source(function),
    ]
    table = np.dtype(np.int64) if kind == "mirror" else dtype
    arguments = (int, int, table, kinds[out], kinds[x], int, np.dtype(np.int64))
    name = f"fourier_{dtype.name}_{group}"
    return build.entry_point(name, "\n\n".join(parts), arguments, function.__name__)


# Compiled. Addresses are int64.


def new_room(lines):
    """(array, address of its first cache line) for lines of both parts."""
    room = np.empty((lines + 1) * 2 * LANES, T)
    start = np.int64(room.ctypes.data)
    return room, start + -start % 64


def transform(work, size, factors, real):
    """Transform the elements in place, their order to be found in `order_of`."""
    stay_apart()
    line, left = 2 * LANES * SIZE, size
    while left >= 4:
        quarter = left // 4
        for base in range(0, size, left):
            plain_step_of_four(work + base * line, quarter * 2 * LANES, real)
            for p in range(1, quarter):
                place = work + (base + p) * line
                step_of_four(place, quarter * 2 * LANES, factors + 6 * p * SIZE, real)
        factors += 6 * quarter * SIZE
        left = quarter
    if left == 2:
        for base in range(0, size, 2):
            step_of_two(work + base * line)


def begin_group(source, step, m, work, table, plan, joining):
    """The first half of transforms of m rows: their columns, turned, become columns of lines.

    joining: the roots by which halves of the transforms of real rows are joined, or 0.
    """
    rows, columns, real = plan[0], plan[1], np.int64(0 if plan[4] else LANES)
    line, turning = 2 * LANES * SIZE, table
    lines = work + rows * line
    middle = lines + rows * line
    for c in range(0, columns, COLUMNS):
        for j in range(rows):
            place, goal = source + 2 * (j * columns + c) * SIZE, work + j * line
            if joining:
                left = (rows - j) * columns - c - COLUMNS + 1
                join_group(goal, place, source + 2 * left * SIZE, step, m, joining)
                joining += line
            else:
                take_group(goal, place, step, m)
        if joining and c == 0:
            join_ends(work, source, step, m, rows * columns)
        transform(work, rows, table + plan[7] * SIZE, real)
        for k in range(rows):
            turn_line(lines + k * line, work + plan[HEAD + k] * line, turning, real)
            turning += line
        for r in range(0, rows, COLUMNS):
            transpose_lines(middle + (r // COLUMNS * columns + c) * line, lines + r * line)
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
    line, block = 2 * LANES * SIZE, middle
    for r in range(0, rows, COLUMNS):
        transform(block, columns, table + plan[8] * SIZE, real)
        for k in range(columns):
            place, own = target + 2 * (k * rows + r) * SIZE, block + plan[HEAD + rows + k] * line
            deliver_group(place, out_step, m, own, scale)
        block += columns * line


def complex_rows(first, last, factors, out, x, at, plan):
    """Transform rows, GROUP at once."""
    rows, columns, step, out_step = plan[0], plan[1], plan[2] * SIZE, plan[3] * SIZE
    room, work = new_room(2 * rows + rows * columns // COLUMNS)
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
    room, work = new_room(2 * rows + rows * columns // COLUMNS)
    target, source = np.int64(out.ctypes.data), np.int64(x.ctypes.data) + at * SIZE
    table, half = np.int64(factors.ctypes.data), T(plan.view(np.float64)[5]) * T(0.5)
    for r in range(first, last, GROUP):
        m, goal = min(GROUP, last - r), target + r * out_step
        middle = begin_group(source + r * step, step, m, work, table, plan, 0)
        for block in range(0, rows // COLUMNS * columns, columns):
            place = middle + 2 * block * LANES * SIZE
            transform(place, columns, table + plan[8] * SIZE, 0)
        split_rows(goal, out_step, m, middle, table + plan[6] * SIZE, plan, half)
    return room[0]


def split_rows(target, out_step, m, middle, roots, plan, half):
    """Lines of the transform of m rows, and of opposite elements, give those of real rows."""
    rows, columns, line, order = plan[0], plan[1], 2 * LANES * SIZE, HEAD + plan[0]
    size, blocks, is_whole = rows * columns, rows // COLUMNS, plan[9] > rows * columns + 1
    for b in range(blocks):
        own = middle + b * columns * line
        opposite = middle + (blocks - 1 - b) * columns * line
        first = middle + (blocks - b) % blocks * columns * line
        for k in range(columns):
            place = target + 2 * (k * rows + b * COLUMNS) * SIZE
            back = columns - 1 - k
            begin = (back + 1) % columns if b == 0 else back
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
    room, work = new_room(2 * rows + rows * columns // COLUMNS)
    target, source = np.int64(out.ctypes.data), np.int64(x.ctypes.data) + 2 * at * SIZE
    table, scale = np.int64(factors.ctypes.data), T(plan.view(np.float64)[5])
    for r in range(first, last, GROUP):
        m, goal, place = min(GROUP, last - r), target + r * out_step, source + r * step
        middle = begin_group(place, step, m, work, table, plan, table + plan[6] * SIZE)
        finish_group(goal, out_step, m, middle, table, plan, scale)
    return room[0]


def complex_columns(first, last, factors, out, x, at, plan):
    """Blocks of LANES columns; x may be out."""
    size, columns, step, between = plan[0], plan[1], plan[2], plan[3]
    real, blocks, line = np.int64(0 if plan[4] else LANES), plan[6], 2 * LANES * SIZE
    room, work = new_room(size + 1)
    lines, table = work + size * line, np.int64(factors.ctypes.data)
    target, source = np.int64(out.ctypes.data), np.int64(x.ctypes.data) + 2 * at * SIZE
    scale = T(plan.view(np.float64)[5])
    for block in range(first, last):
        matrix, column = block // blocks, block % blocks * LANES
        m = min(LANES, columns - column)
        begin = matrix // between * size * step + matrix % between * (step // between) + 2 * column
        for k in range(size):
            place = source + (begin + k * step) * SIZE
            if m < LANES:
                for i in range(2 * LANES):
                    put(lines, i, element(place, i) if i < 2 * m else T(0))
                place = lines
            take_line(work + k * line, place)
        transform(work, size, table, real)
        for k in range(size):
            place = target + (begin + k * step) * SIZE
            deliver_line(place if m == LANES else lines, work + plan[HEAD + k] * line, scale)
            if m < LANES:
                for i in range(2 * m):
                    put(place, i, element(lines, i))
    return room[0]
