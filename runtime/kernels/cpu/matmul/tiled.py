"""Matrix products of our own, on register tiles, for the sizes at which they beat OpenBLAS.

They read operands of any strides: only a panel of the second one is copied at a time, into the
first cache. `runtime.kernels.cpu.matmul.matrix_plans` asks whether a product suits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.kernels import build, threads
from torchgen_out._runtime.kernels.cpu.folding import contiguous
from torchgen_out._runtime.kernels.cpu.matmul.tile_product import product_text, product_tile
from torchgen_out._runtime.kernels.plan import LaunchPlan

Array = Any
BLOCK_ROWS = 288  # rows that meet a panel before the next is copied
WIDE = 128  # columns that repay a copy of rows which lie across
FEW_ROWS = 24  # a panel that meets no more rows is not copied, if it lies densely
SMALLEST, SMALLEST_TURNED, LARGEST = 1 << 20, 1 << 16, 1 << 27  # products of elements
FEWEST, FEWEST_TURNED = 13, 4  # rows: of fewer, OpenBLAS copies nothing either
SHORTEST_TURNED = 16  # elements of a sum that repay a copy of what lies across
LONG_SUM, FEWEST_OF_SUMS = 1 << 12, 4  # 20,000 products for each of (8, 8): 43 us, not 78
FEWEST_OF_ONE = 256  # rows of up to a vector: 20,000 of 4 by (4, 4) take 23 us, not 52
PRODUCTS_PER_ELEMENT = 16  # products that take as long as an element of element-wise work
MOST_NARROW = 3  # panels one vector wide
FILLED, FILLED_OF_FEW = 3 / 4, 7 / 16  # how much of the panels; of few columns OpenBLAS slows down
NUMBERS = np.dtype(np.int64)


def suits(dtype: Any, m: int, n: int, k: int, is_turned: bool) -> bool:
    """Whether the product of (m, k) and (k, n) takes less time here (`benchmarks/cases/linalg.py`).

    is_turned: whether the rows of the second operand are not contiguous: OpenBLAS takes longer.
    """
    if dtype.name not in ("float32", "float64"):
        return False
    if k >= LONG_SUM and m >= FEWEST_OF_SUMS and n == narrow_lanes(dtype, n):
        return m * n * k <= LARGEST
    if m < (FEWEST_TURNED if is_turned and k >= SHORTEST_TURNED else FEWEST):
        return False
    lanes = product_tile(dtype).lanes
    if 1 < n <= lanes // 2 or n == lanes:
        return m >= FEWEST_OF_ONE and m * n * k <= LARGEST
    tile = product_tile(dtype, narrow_lanes(dtype, n))
    are_few = n <= MOST_NARROW * lanes
    is_filled = n >= (FILLED_OF_FEW if are_few else FILLED) * tile.panels(n) * tile.width
    smallest = SMALLEST_TURNED if is_turned and n > tile.lanes else SMALLEST
    return is_filled and smallest <= m * n * k <= LARGEST


@cache
def narrow_lanes(dtype: Any, n: int) -> int:
    """The lanes of tiles one vector wide, where these hold fewer columns besides the n of a
    product; 0 where they do not. Few columns have part of a vector for their own."""
    wide = product_tile(dtype)
    if n <= wide.lanes // 2:
        return max(2, 1 << (n - 1).bit_length())
    narrow = product_tile(dtype, wide.lanes)
    is_less = narrow.panels(n) * narrow.width < wide.panels(n) * wide.width
    return wide.lanes if n <= MOST_NARROW * narrow.width and is_less else 0


class Layout(NamedTuple):
    """The distances of rows and of columns, and of the matrices of a batch, in elements."""

    row: int
    step: int
    hop: int = 0


class Task(NamedTuple):
    """out[i] = before + a[i] @ b[i] for (m, k) and (k, n); the columns of out are neighbours."""

    batch: int
    sizes: tuple[int, int, int]
    """m, n and k."""
    a: Layout
    b: Layout
    out: Layout
    before: Layout = Layout(0, 1)

    @property
    def is_wide(self) -> bool:
        """Whether threads share the columns: each then lays its own panels out, and reads all of a.

        Otherwise they share the rows, and all lay out the panels they need.
        """
        m, n, _ = self.sizes
        return self.batch == 1 and n >= m

    def units(self, dtype: Any) -> int:
        """The panels, or the tiles of rows of all matrices, that threads share."""
        tile = product_tile(dtype, narrow_lanes(dtype, self.sizes[1]))
        if self.is_wide:
            return tile.panels(self.sizes[1])
        return self.batch * -(-self.sizes[0] // tile.rows)

    def numbers(self) -> Array:
        """What the kernel reads."""
        layouts = *self.a, *self.b, self.out.row, self.out.hop, *self.before
        return np.array([int(self.is_wide), *self.sizes, *layouts], NUMBERS)

    @property
    def work(self) -> int:
        """In elements of element-wise work."""
        return self.batch * prod(self.sizes) // PRODUCTS_PER_ELEMENT


def plan_tiles(dtype: Any, task: Task, is_added: bool) -> LaunchPlan:
    """Plan a task whose results are contiguous. is_added: whether to something."""
    run = launch(task, dtype)
    return LaunchPlan(run if is_added else partial(_run_product, run), task.numbers())


def launch(task: Task, dtype: Any) -> Callable[..., None]:
    """run(out, a, b, before, *where each begins but out, numbers of the task) over flat memory;
    `before` begins at -1 if it is nothing."""
    return partial(_run, _entry(dtype, task.sizes[1]), task.units(dtype), task.work)


def _run_product(
    run: Callable[..., None],
    out: Array,
    a: Array,
    b: Array,
    at_a: int,
    at_b: int,
    numbers: Array,
) -> None:
    run(out, a, b, b, at_a, at_b, -1, numbers)


def multiply(task: Task, out: Array, a: Array, b: Array, before: Array | None) -> None:
    """Do a task on flat arrays; before: None for nothing."""
    old, at_old = (b, -1) if before is None else (before, 0)
    launch(task, out.dtype)(out, a, b, old, 0, 0, at_old, task.numbers())


def _run(entry: Any, units: int, work: int, *args: Any) -> None:
    """Call the kernel for all units, or split them among the threads."""
    if work < 2 * threads.GRAIN:
        entry(0, units, *args)
    else:
        threads.run_ranges(entry, units, work, *args)


class Packed:
    """A matrix (k, n) laid out in panels once, for products with many others."""

    def __init__(self, matrix: Array) -> None:
        dense = matrix if matrix.T.flags.c_contiguous else contiguous(matrix)
        row, step = (stride // dense.itemsize for stride in dense.strides)
        flat = (dense if step == 1 else dense.T).reshape(-1)
        k, n = matrix.shape
        tile = product_tile(matrix.dtype)
        self.panels = np.empty(tile.panels(n) * tile.width * k, matrix.dtype)
        self.numbers = np.array([k, n, row, step], NUMBERS)
        _compiled(matrix.dtype, "pack_matrix")(self.panels, flat, self.numbers)

    def multiply(self, out: Array, a: Array, before: Array | None = None) -> None:
        """out = before + a @ matrix, all contiguous."""
        old, at_old = (a, -1) if before is None else (before, 0)
        flat = out.reshape(-1), a.reshape(-1), self.panels, old.reshape(-1)
        _compiled(out.dtype, "multiply_packed")(*flat, len(a), at_old, self.numbers)


# Compiled. Addresses are int64, distances in elements. An array whose address is taken is returned,
# in part, lest it be freed before.


def copy_column(context, target, at, source, start):
    """target[at + r] = source[start + r] for r < ROWS."""

    def emit(context, builder, signature, args):
        to, origin = (data_of(context, builder, signature, args, i) for i in (0, 2))
        vector = ir.VectorType(origin.type.pointee, ROWS)
        value = builder.load(vector_place(builder, origin, args[3], vector), align=SIZE)
        builder.store(value, vector_place(builder, to, args[1], vector), align=SIZE)
        return context.get_dummy_value()

    return types.void(target, types.int64, source, types.int64), emit


def pack_rows(target, a, step_a, m, steps):
    """Lay a transposed block, whose rows are neighbours, out in tiles: target[tile, k, row]."""
    stay_apart()
    for i in range(0, m, ROWS):
        to, source = target + i * steps * SIZE, a + i * SIZE
        if m - i >= ROWS:
            for k in range(steps):
                copy_column(to, k * ROWS, source, k * step_a)
        else:
            for k in range(steps):
                for r in range(m - i):
                    put(to, k * ROWS + r, element(source, k * step_a + r))


def multiply_block(
    out, gap, before, old_gap, old_step, m, n, k, a, row_a, step_a, b, row_b, step_b, panel, tiles
):
    """out[i, j] = before[i, j] + the sum over k of a[i, k] * b[k, j] for all columns.

    before: 0 for nothing. panel, tiles: room for a panel and what multiply_panel needs, and for the
    packed rows of a, or 0.
    """
    stay_apart()
    edge = panel + DEPTH * WIDTH * SIZE
    for q in range(0, max(k, 1), DEPTH):
        steps = min(DEPTH, k - q)
        x, row, step, run, jump = a + q * step_a * SIZE, row_a, step_a, m, np.int64(0)
        if tiles:
            pack_rows(tiles, x, step_a, m, steps)
            x, row, step, run, jump = tiles, np.int64(1), np.int64(ROWS), ROWS, steps * SIZE
        for j in range(0, n, WIDTH):
            here = min(WIDTH, n - j)
            source, hop = b + (q * row_b + j * step_b) * SIZE, row_b
            if here < WIDTH or step_b != 1 or m > FEW_ROWS:
                pack_panel(panel, source, row_b, step_b, steps, here)
                source, hop = panel, WIDTH
            for i in range(0, m, run):
                at = out + (i * gap + j) * SIZE
                if q:
                    start, far = at, gap
                elif before:
                    start, far = before + (i * old_gap + j * old_step) * SIZE, old_gap
                else:
                    start, far = edge + ROWS * WIDTH * SIZE, 0
                multiply_panel(
                    *(at, gap, start, far, min(run, m - i), here),
                    *(x + i * jump, row, step, source, hop, steps, edge),
                )


def multiply_matrices(first, last, out, a, b, before, at_a, at_b, at_before, plan):
    """out[i] = before + a[i] @ b[i] (before: none if at_before < 0) for some units (Task.units).

    Tiles of rows are numbered through all matrices; plan: Task.numbers.
    """
    is_wide, m, n, k, row_a, step_a, hop_a, row_b, step_b, hop_b, gap, hop, row, step, old_hop = (
        plan
    )
    is_packed = row_a == 1 and step_a > 1 and n >= WIDE
    room = np.empty((DEPTH + ROWS + 2) * WIDTH + is_packed * BLOCK_ROWS * DEPTH, T)
    panel = np.int64(room.ctypes.data)
    panel += -panel % (WIDTH * SIZE)
    for j in range(WIDTH):
        put(panel, (DEPTH + ROWS) * WIDTH + j, T(0))
    packed = is_packed * (panel + (DEPTH + ROWS + 1) * WIDTH * SIZE)
    to, old = np.int64(out.ctypes.data), np.int64(before.ctypes.data) + at_before * SIZE
    at_a, at_b = np.int64(a.ctypes.data) + at_a * SIZE, np.int64(b.ctypes.data) + at_b * SIZE
    tiles = (m + ROWS - 1) // ROWS
    if is_wide:
        column = first * WIDTH
        n = min(last * WIDTH, n) - column
        to, at_b, old = (
            to + column * SIZE,
            at_b + column * step_b * SIZE,
            old + column * step * SIZE,
        )
        first, last = 0, tiles
    unit = first
    while unit < last:
        item, tile = divmod(unit, tiles)
        count = min(tiles - tile, last - unit, BLOCK_ROWS // ROWS)
        i = tile * ROWS
        start = old + (item * old_hop + i * row) * SIZE if at_before >= 0 else np.int64(0)
        multiply_block(
            *(to + (item * hop + i * gap) * SIZE, gap),
            *(start, row, step),
            *(min(count * ROWS, m - i), n, k),
            *(at_a + (item * hop_a + i * row_a) * SIZE, row_a, step_a),
            *(at_b + item * hop_b * SIZE, row_b, step_b, panel, packed),
        )
        unit += count
    return room[0]


def pack_matrix(panels, matrix, plan):
    """Lay a matrix out in panels."""
    k, n, row, step = plan
    pack(np.int64(panels.ctypes.data), np.int64(matrix.ctypes.data), row, step, k, n)


def multiply_packed(out, a, panels, before, m, at_before, plan):
    """out = before + a @ the matrix that `pack_matrix` laid out; before: none if at_before < 0."""
    k, n, _, _ = plan
    edge = np.empty((ROWS + 1) * WIDTH, T)
    edge[ROWS * WIDTH :] = 0
    old = np.int64(before.ctypes.data) if at_before >= 0 else np.int64(0)
    multiply(
        *(np.int64(out.ctypes.data), n, old, n, m, n, np.int64(a.ctypes.data), k, np.int64(1)),
        *(np.int64(panels.ctypes.data), k, k, np.int64(edge.ctypes.data)),
    )
    return edge[0]


_KERNELS: dict[str, tuple[Any, str]] = {
    "multiply_matrices": (multiply_matrices, "nnTTTTnnni"),
    "pack_matrix": (pack_matrix, "TTi"),
    "multiply_packed": (multiply_packed, "TTTTnni"),
}
"""The kernels and their arguments: arrays of T, numbers, arrays of int64."""


def _entry(dtype: Any, n: int) -> Any:
    """The compiled `multiply_matrices` for products of n columns."""
    return _compiled(dtype, "multiply_matrices", narrow_lanes(dtype, n))


@cache
def _compiled(dtype: Any, name: str, narrow: int = 0) -> Any:
    """A compiled kernel for one element type; the text is that of all, which share their parts."""
    title = f"{'Narrow products' if narrow else 'Products'} of matrices: {dtype.name}."
    parts = [
        build.HEADER.format(title=title),
        product_text(dtype, narrow),
        f"BLOCK_ROWS, FEW_ROWS, WIDE = {BLOCK_ROWS}, {FEW_ROWS}, {WIDE}\n",
        "@intrinsic\n" + build.plain_source(copy_column),
        *("@outer\n" + build.plain_source(f) for f in (pack_rows, multiply_block)),
        *("@entry\n" + build.plain_source(function) for function, _ in _KERNELS.values()),
    ]
    types = {"T": dtype, "n": int, "i": NUMBERS}
    arguments = tuple([types[kind] for kind in _KERNELS[name][1]])
    return build.entry_point(f"products_{dtype.name}", "\n\n".join(parts), arguments, name)
