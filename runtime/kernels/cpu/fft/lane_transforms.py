"""Fourier transforms of many rows or columns at once, one in each lane of a vector.

Steps of four in place, in the first cache, on lines of real and imaginary parts: line 2k of LANES
numbers holds the real parts of elements k, line 2k + 1 the imaginary ones. The results come in
another order, which is undone where they are read. A real row is seen as a complex one of half the
size, whose transform is split by its symmetry. For sizes that are powers of two
(`benchmarks/cases/linalg.py`).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build, threads
from torchgen_out._runtime.kernels.cpu.fft.lane_steps import steps_text
from torchgen_out._runtime.kernels.cpu.folding import contiguous
from torchgen_out._runtime.kernels.cpu.matmul import register_tile

Array = Any
SMALLEST, LARGEST = 16, 4096  # elements of a transform: the work of larger ones leaves the cache
FEWEST = 1 << 12  # elements in all
PASSES = 8  # how much more an element costs than in element-wise work
CHARACTERS = "fdFD"  # of the dtypes: float32, float64, complex64, complex128


def suits(array: Array, size: int) -> bool:
    """Whether transforms of some elements of an array have kernels here, and lanes are filled."""
    return (
        SMALLEST <= size <= LARGEST
        and size & (size - 1) == 0
        and array.size >= FEWEST
        and array.dtype.char in CHARACTERS
        and array.size // size >= _lanes(array.real.dtype)
        and array.flags.c_contiguous
    )


def transform_real_rows(out: Array, x: Array, scale: float) -> None:
    """out[r, k] = scale * the transform of the rows of x, for as many k as out has columns."""
    rows, size = x.shape
    numbers = rows, size // 2, out.shape[1], _step(x), _step(out)
    _run("real_rows", -(-rows // _lanes(x.dtype)), out, x, numbers, scale)


def transform_to_real_rows(out: Array, x: Array, scale: float) -> None:
    """out = scale * the real rows whose transforms have the first halves x; scale is that of rows.

    Even and odd numbers are the parts of a complex row of half the size, made in out's memory.
    """
    rows, size = out.shape
    halves = out.view(x.dtype)
    numbers = halves.view(out.dtype), contiguous(x).view(out.dtype)
    threads.run_ranges(join_halves, rows, out.size, *numbers, _half_roots(out.dtype, size // 2))
    transform_rows(halves, halves, scale, False)


@cache
def _half_roots(dtype: Any, half: int) -> Array:
    """exp(i pi k / half) for k < half: real and imaginary parts."""
    return np.exp(1j * np.pi * np.arange(half) / half).view(np.float64).astype(dtype)


def transform_rows(out: Array, x: Array, scale: float, forward: bool) -> None:
    """out = scale * the transforms of the rows of x, or those with the opposite sign."""
    rows, size = x.shape
    numbers = rows, size, int(forward), _step(x), _step(out)
    _run("complex_rows", -(-rows // _lanes(x.real.dtype)), out, x, numbers, scale)


def transform_columns(out: Array, x: Array, scale: float, forward: bool) -> None:
    """out = scale * the transforms of the columns of x, which may be out itself."""
    size, columns = x.shape
    numbers = columns, size, int(forward), _step(x), _step(out)
    _run("complex_columns", -(-columns // _lanes(x.real.dtype)), out, x, numbers, scale)


def _step(matrix: Array) -> int:
    """The distance of rows, in real numbers."""
    return int(matrix.strides[0] // matrix.real.itemsize)


def _run(
    name: str, blocks: int, out: Array, x: Array, numbers: tuple[int, ...], scale: float
) -> None:
    dtype = out.real.dtype
    addresses = out.__array_interface__["data"][0], x.__array_interface__["data"][0]
    plan = np.array(addresses + numbers, np.int64)
    work = numbers[0] * numbers[1] * PASSES
    tables = _factors(dtype, numbers[1], name == "real_rows"), _order(numbers[1])
    threads.run_ranges(_entry(dtype, name), blocks, work, *tables, plan, float(scale))


@cache
def _lanes(dtype: Any) -> int:
    return register_tile.registers()[0] // np.dtype(dtype).itemsize


@cache
def _factors(dtype: Any, size: int, is_half: bool) -> Array:
    """For each step of four, w^p, w^2p and w^3p: real and imaginary parts, w the root of its size.

    is_half: those of a real transform of twice the size come last, its roots w^k.
    """
    parts, left = [np.empty(0, complex)], size
    while left >= 4:
        powers = np.arange(left // 4)[:, None] * np.arange(1, 4)
        parts.append(np.exp(-2j * np.pi * powers / left).reshape(-1))
        left //= 4
    if is_half:
        parts.append(np.exp(-1j * np.pi * np.arange(size) / size))
    return np.concatenate(parts).view(np.float64).astype(dtype)


@cache
def _order(size: int) -> Array:
    """Where each element of the transform lies: the digits of its number the other way round."""
    order, left = np.zeros(size, np.int64), size
    numbers = np.arange(size)
    while left > 1:
        radix = min(left, 4)
        left //= radix
        order += numbers % radix * left
        numbers //= radix
    return order


@cache
def _entry(dtype: Any, name: str) -> Any:
    """A kernel for one element type; the text is that of all, which share their parts."""
    inner = new_room, clear, transform, deliver_halves
    parts = [
        build.HEADER.format(title=f"Fourier transforms: {dtype.name}."),
        steps_text(dtype, _lanes(dtype)),
        *("@inner\n" + build.plain_source(function) for function in inner),
        *("@entry\n" + build.plain_source(f) for f in (real_rows, complex_rows, complex_columns)),
    ]
    arguments = (int, int, dtype, np.dtype(np.int64), np.dtype(np.int64), float)
    return build.entry_point(f"fourier_{dtype.name}", "\n\n".join(parts), arguments, name)


@build.kernel
def join_halves(start, stop, out, x, roots):
    """From the first halves of transforms of real rows those of complex rows, even + i odd.

    Z[k] = s + i t of s = X[k] + Y[k] and t = w^k (X[k] - Y[k]), Y[k] the conjugate of X[half - k];
    Z[half - k] = conj(s) + i conj(t). The first number and the last one of X count as real.
    """
    half = roots.size // 2
    for r in range(start, stop):
        row, line = x[r], out[r]
        line[0] = row[0] + row[2 * half]
        line[1] = row[0] - row[2 * half]
        for k in range(1, half // 2 + 1):
            i, j = np.uint64(2 * k), np.uint64(2 * (half - k))
            odd = np.uint64(1)
            a, b, c, d = row[i], row[i + odd], row[j], row[j + odd]
            real, imaginary = a - c, b + d
            s, t = a + c, b - d
            u = roots[i] * real - roots[i + odd] * imaginary
            v = roots[i] * imaginary + roots[i + odd] * real
            line[i], line[i + odd] = s - v, t + u
            line[j], line[j + odd] = s + v, u - t


# Compiled. Addresses are int64.


def new_room(lines):
    """(array, address of its first cache line)."""
    room = np.empty((lines + 1) * LANES, T)
    start = np.int64(room.ctypes.data)
    return room, start + -start % (LANES * SIZE)


def clear(work, size):
    """Write zeros: lanes of no row are computed, too."""
    for i in range(2 * size * LANES):
        put(work, i, T(0))


def transform(work, size, factors, real):
    """Transform the elements in place, their order to be found in `_order`."""
    line, left = 2 * LANES * SIZE, size
    while left >= 4:
        quarter = left // 4
        for base in range(0, size, left):
            for p in range(quarter):
                place = work + (base + p) * line
                step_of_four(place, quarter * 2 * LANES, factors + 6 * p * SIZE, real)
        factors += 6 * quarter * SIZE
        left = quarter
    if left == 2:
        for base in range(0, size, 2):
            step_of_two(work + base * line)


def real_rows(first, last, factors, order, plan, scale):
    """Blocks of LANES rows of 2 * size numbers."""
    out, x, rows, size, count, row, out_row = plan
    room, work = new_room(2 * size + 2 * LANES)
    table, half = np.int64(factors.ctypes.data), T(scale) * T(0.5)
    roots = table + (factors.size - 2 * size) * SIZE
    for block in range(first, last):
        r = block * LANES
        m = min(LANES, rows - r)
        if m < LANES:
            clear(work, size)
        transpose(work, 0, LANES, x + r * row * SIZE, 0, row, 2 * size, m)
        transform(work, size, table, np.int64(0))
        target = out + r * out_row * SIZE
        deliver_halves(target, out_row, m, work, size, count, order, roots, half)
    return room[0]


def deliver_halves(target, out_row, m, work, size, count, order, roots, half):
    """Split the transform and write LANES / 2 elements to the front and to the back at once.

    If count is size + 1, only the first element of the back is wanted.
    """
    line, few = 2 * LANES * SIZE, LANES // 2
    front = work + size * line
    back = front + few * line
    for start in range(0, size, few):
        for i in range(min(few, size - start)):
            k = start + i
            opposite = work + order[(size - k) & (size - 1)] * line
            split_half(
                *(front + i * line, back + i * line, work + order[k] * line, opposite),
                *(roots + 2 * k * SIZE, half),
            )
        lines = 2 * min(few, size - start)
        transpose(target, 2 * start, out_row, front, 0, LANES, m, lines)
        if start == 0 or count > size + 1:
            lines = min(lines, 2 * (count - size))
            transpose(target, 2 * (size + start), out_row, back, 0, LANES, m, lines)


def complex_rows(first, last, factors, order, plan, scale):
    """Blocks of LANES rows."""
    out, x, rows, size, forward, row, out_row = plan
    room, work = new_room(2 * size + LANES)
    real, line = np.int64(0 if forward else LANES), 2 * LANES * SIZE
    lines = work + size * line
    for block in range(first, last):
        r = block * LANES
        m = min(LANES, rows - r)
        if m < LANES:
            clear(work, size)
        transpose(work, 0, LANES, x + r * row * SIZE, 0, row, 2 * size, m)
        transform(work, size, np.int64(factors.ctypes.data), real)
        target = out + r * out_row * SIZE
        for start in range(0, size, LANES // 2):
            chunk = min(LANES // 2, size - start)
            for k in range(chunk):
                scale_line(lines + k * line, work + order[start + k] * line, T(scale))
            transpose(target, 2 * start, out_row, lines, 0, LANES, m, 2 * chunk)
    return room[0]


def complex_columns(first, last, factors, order, plan, scale):
    """Blocks of LANES columns."""
    out, x, columns, size, forward, row, out_row = plan
    room, work = new_room(2 * size + 2)
    real, line = np.int64(0 if forward else LANES), 2 * LANES * SIZE
    lines = work + size * line
    for block in range(first, last):
        m, at = min(LANES, columns - block * LANES), block * line
        if m < LANES:
            clear(work, size)
        for k in range(size):
            source = x + at + k * row * SIZE
            if m == LANES:
                exchange_parts(work + k * line, source, False)
            else:
                for i in range(2 * m):
                    put(work, k * 2 * LANES + i % 2 * LANES + i // 2, element(source, i))
        transform(work, size, np.int64(factors.ctypes.data), real)
        for k in range(size):
            target = out + at + k * out_row * SIZE
            scale_line(lines, work + order[k] * line, T(scale))
            if m == LANES:
                exchange_parts(target, lines, True)
            else:
                for i in range(2 * m):
                    put(target, i, element(lines, i % 2 * LANES + i // 2))
    return room[0]
