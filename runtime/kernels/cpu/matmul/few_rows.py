"""Products of few rows and a matrix that is read once, as it lies: decoding, small batches.

OpenBLAS lays the matrix out anew before it multiplies, which takes several times as long as reading
it: 450 us for 4 rows of 1024 by (1024, 1024), here 50 (`benchmarks/cases/linalg.py`). The number of
rows is a constant of the code, so that all sums of a step stay in registers.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build, threads
from torchgen_out._runtime.kernels.cpu.matmul import register_tile
from torchgen_out._runtime.kernels.cpu.matmul.tiled import Layout, Task
from torchgen_out._runtime.kernels.plan import LaunchPlan
from torchgen_out._runtime.kernels.typed import REASSOCIATED

Array = Any
MOST_ALONG_SUMS, MOST_ALONG_RESULTS = 8, 12
"""Rows, by how the matrix lies: more are as fast in register tiles."""
SHORTEST_SUM = 64
"""Bytes of a run along the sum, for each row, that are worth a kernel for their number."""
SHORTEST_RESULT, LONGEST_NEEDED = 16, 64
"""Elements of a run along the results, for each row, but no more than so many in all."""
DEEP, WIDE = 48, 256
"""Columns that threads share: of runs along the sum, a multiple of those that are summed together;
of runs along the results."""
STEPS = 8
"""Rows of a matrix that are added at once."""
NUMBERS = np.dtype(np.int64)

KERNEL = '''\
options = {{**options, {reassociated}}}
{decorators}
{apart}

@entry
def kernel(first, last, out, a, b, before, at_a, at_b, at_before, plan):
    """out[i] = before + a[i] @ b[i] for some units of columns; before: none if at_before < 0."""
    n, k, row_a, step_a, hop_a, run_b, hop_b = (
        plan[0], plan[1], plan[2], plan[3], plan[4], plan[5], plan[6]
    )
    to_row, to_step, to_hop, row, step, hop = (
        plan[7], plan[8], plan[9], plan[10], plan[11], plan[12]
    )
    units, held = (n + {unit} - 1) // {unit}, np.int64(-1)
    room = np.empty({rows} * {room}, T)
    for item in range(first, last):
        i, start = item // units, item % units * {unit}
        count = min({unit}, n - start)
        x, y, to = at_a + i * hop_a, at_b + i * hop_b, i * to_hop + start * to_step
        old = at_before + i * hop + start * step
{body}
'''

ALONG_SUMS = """\
if i != held:
    for r in range({rows}):
        own = room[r * (k + 16) : r * (k + 16) + k]
        for p in range(k):
            own[p] = a[x + r * row_a + p * step_a]
    held = i
{runs}
j = 0
while j + {several} <= count:
{whole}
    j += {several}
while j < count:
{single}
    j += 1"""

ALONG_RESULTS = """\
for r in range({rows}):
    own = {own}
    for j in range(count):
        own[j] = before[old + r * row + j * step] if at_before >= 0 else T(0)
p = 0
while p + {several} <= k:
{whole}
    p += {several}
while p < k:
{single}
    p += 1"""

WRITTEN = """
for r in range({rows}):
    for j in range(count):
        out[to + r * to_row + j * to_step] = room[r * {unit} + j]"""

IN_PLACE = "out[to + r * to_row : to + r * to_row + count]"
IN_ROOM = f"room[r * {WIDE} : r * {WIDE} + count]"


@cache
def sums_at_once() -> int:
    """How many vectors of sums leave registers for what they are made of."""
    return 24 if register_tile.registers()[1] == 32 else 10


def _columns(rows: int, columns: int) -> list[str]:
    """What makes the results of some columns, each a run in memory."""
    cells = [(r, c) for r in range(rows) for c in range(columns)]
    place = "y + (start + j + {c}) * run_b"
    return [
        *(f"b{c} = b[{place} : {place} + k]".format(c=c) for c in range(columns)),
        *(f"s{r}{c} = T(0)" for r, c in cells),
        "for p in range(k):",
        *(f"    y{c} = b{c}[p]" for c in range(columns)),
        *(f"    x{r} = a{r}[p]" for r in range(rows)),
        *(f"    s{r}{c} += x{r} * y{c}" for r, c in cells),
        "if at_before >= 0:",
        *(f"    s{r}{c} += before[old + {r} * row + (j + {c}) * step]" for r, c in cells),
        *(f"out[to + {r} * to_row + (j + {c}) * to_step] = s{r}{c}" for r, c in cells),
    ]


def _steps(rows: int, steps: int, own: str) -> list[str]:
    """What adds some steps of the sum to all results, which are runs in memory."""
    place = "y + (p + {c}) * run_b + start"
    given = "a[x + r * row_a + (p + {c}) * step_a]"
    return [
        *(f"b{c} = b[{place} : {place} + count]".format(c=c) for c in range(steps)),
        f"for r in range({rows}):",
        f"    own = {own}",
        *(f"    x{c} = {given}".format(c=c) for c in range(steps)),
        "    for j in range(count):",
        "        own[j] += " + " + ".join(f"x{c} * b{c}[j]" for c in range(steps)),
    ]


def _indented(lines: list[str], by: int) -> str:
    return "\n".join(" " * by + line for line in lines)


@cache
def _text(dtype: Any, rows: int, is_along_sums: bool, is_dense: bool) -> str:
    """The kernel for a number of rows. is_dense: whether elements of a result are neighbours."""
    if is_along_sums:
        unit, room, several = DEEP, "(k + 16)", max(1, min(4, sums_at_once() // rows))
        parts = [_columns(rows, count) for count in (several, 1)]
        body = ALONG_SUMS
    else:
        unit, room, several = WIDE, f"{WIDE}", STEPS
        own = IN_PLACE if is_dense else IN_ROOM
        parts = [_steps(rows, count, own) for count in (several, 1)]
        body = ALONG_RESULTS.replace("{own}", own) + ("" if is_dense else WRITTEN)
    whole, single = [_indented(part, 4) for part in parts]
    runs = [f"a{r} = room[{r} * (k + 16) : {r} * (k + 16) + k]" for r in range(rows)]
    body = body.format(
        rows=rows, unit=unit, several=several, whole=whole, single=single, runs="\n".join(runs)
    )
    kernel = KERNEL.format(
        reassociated=REASSOCIATED,
        decorators=build.DECORATORS,
        apart=build.apart(["out"]),
        rows=rows,
        unit=unit,
        room=room,
        body=_indented(body.splitlines(), 8),
    )
    title = f"Products of {rows} rows: {dtype.name}."
    return "\n".join([build.HEADER.format(title=title), f"T = np.{dtype.name}", kernel])


def suits(dtype: Any, m: int, n: int, k: int, b: Layout) -> bool:
    """Whether the product of (m, k) and (k, n) is one of few rows and a matrix of long runs."""
    if dtype.name not in ("float32", "float64") or not m * n * k:
        return False
    if b.row == 1:
        return m <= MOST_ALONG_SUMS and k * dtype.itemsize >= SHORTEST_SUM * m and n >= m
    is_long = n >= min(SHORTEST_RESULT * m, LONGEST_NEEDED) and k >= STEPS
    return b.step == 1 and m <= MOST_ALONG_RESULTS and is_long


def suits_columns(dtype: Any, m: int, n: int, k: int, a: Layout) -> bool:
    """Whether a product is one of few columns."""
    return suits(dtype, n, m, k, _turned(a))


def plan_rows(dtype: Any, task: Task, is_added: bool) -> LaunchPlan:
    """Plan a product of few rows. is_added: whether to something."""
    run, numbers = _plan(dtype, task)
    return LaunchPlan(run if is_added else partial(_run_product, run), numbers)


def plan_columns(dtype: Any, task: Task, is_added: bool) -> LaunchPlan:
    """The same of few columns: rows of the product that is turned over."""
    m, n, k = task.sizes
    layouts = [_turned(each) for each in (task.b, task.a, task.out, task.before)]
    run, numbers = _plan(dtype, Task(task.batch, (n, m, k), *layouts))
    return LaunchPlan(partial(_run_turned if is_added else _run_turned_product, run), numbers)


def _turned(layout: Layout) -> Layout:
    return Layout(layout.step, layout.row, layout.hop)


def _plan(dtype: Any, task: Task) -> LaunchPlan:
    """The kernel's run(out, a, b, before, *where each begins but out, numbers).

    It always takes `before`, which begins at -1 where nothing is added; numbers: n, k, the layout
    of a, the distance of runs of b and of its matrices, the layouts of out and of before.
    """
    (m, n, k), b = task.sizes, task.b
    is_along_sums = b.row == 1
    leading = b.step if is_along_sums else b.row
    numbers = np.array([n, k, *task.a, leading, b.hop, *task.out, *task.before], NUMBERS)
    kinds = (int, int, dtype, dtype, dtype, dtype, int, int, int, NUMBERS)
    text = _text(dtype, m, is_along_sums, task.out.step == 1)
    entry = build.entry_point(f"few_rows_{m}_{dtype.name}", text, kinds)
    units = task.batch * -(-n // (DEEP if is_along_sums else WIDE))
    if task.work < 2 * threads.GRAIN:
        return LaunchPlan(partial(entry, 0, units), numbers)
    return LaunchPlan(partial(threads.run_ranges, entry, units, task.work), numbers)


def _run_product(
    run: Any, out: Array, a: Array, b: Array, at_a: int, at_b: int, numbers: Array
) -> None:
    run(out, a, b, b, at_a, at_b, -1, numbers)


def _run_turned(
    run: Any,
    out: Array,
    a: Array,
    b: Array,
    before: Array,
    at_a: int,
    at_b: int,
    at: int,
    numbers: Array,
) -> None:
    run(out, b, a, before, at_b, at_a, at, numbers)


def _run_turned_product(
    run: Any, out: Array, a: Array, b: Array, at_a: int, at_b: int, numbers: Array
) -> None:
    run(out, b, a, b, at_b, at_a, -1, numbers)
