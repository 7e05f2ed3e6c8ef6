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
from torchgen_out._runtime.kernels.cpu.matmul.tiled import PRODUCTS_PER_ELEMENT, Layout
from torchgen_out._runtime.kernels.plan import LaunchPlan
from torchgen_out._runtime.kernels.typed import REASSOCIATED

Array = Any
MOST_ALONG_SUMS, MOST_ALONG_RESULTS = 8, 12
"""Rows, by how the matrix lies: more are as fast in register tiles."""
SHORTEST_SUM, SHORTEST_RESULT = 16, 64
"""Elements of a run that are worth a kernel for their rows: for each row, and for all."""
DEEP, WIDE = 48, 256
"""Columns that threads share: of runs along the sum, a multiple of those that are summed together;
of runs along the results."""
NUMBERS = np.dtype(np.int64)

KERNEL = '''\
options = {{**options, {reassociated}}}
{decorators}
{apart}

@entry
def kernel(first, last, out, a, b, before, at_a, at_b, at_before, plan):
    """out[i] = before + a[i] @ b[i] for some units of columns; before: none if at_before < 0."""
    n, k, row_a, hop_a, row_b, hop_b = plan[0], plan[1], plan[2], plan[3], plan[4], plan[5]
    row, step, old_hop = plan[6], plan[7], plan[8]
    units = (n + {unit} - 1) // {unit}
    for item in range(first, last):
        i, start = item // units, item % units * {unit}
        count = min({unit}, n - start)
        x, y, to, old = at_a + i * hop_a, at_b + i * hop_b, i * {rows} * n + start, at_before
        if at_before >= 0:
            old += i * old_hop + start * step
{body}
'''

ALONG_SUMS = """\
j = 0
while j + {columns} <= count:
{several}
    j += {columns}
while j < count:
{single}
    j += 1"""

ALONG_RESULTS = """\
for r in range({rows}):
    own = out[to + r * n : to + r * n + count]
    for j in range(count):
        own[j] = before[old + r * row + j * step] if at_before >= 0 else T(0)
p = 0
while p + {steps} <= k:
{several}
    p += {steps}
while p < k:
{single}
    p += 1"""


@cache
def sums_at_once() -> int:
    """How many vectors of sums leave registers for what they are made of."""
    return 24 if register_tile.registers()[1] == 32 else 10


def _columns(rows: int, columns: int) -> list[str]:
    """What makes the results of some columns, each a run in memory."""
    cells = [(r, c) for r in range(rows) for c in range(columns)]
    place = "y + (start + j + {c}) * row_b"
    return [
        *(f"b{c} = b[{place} : {place} + k]".format(c=c) for c in range(columns)),
        *(f"s{r}{c} = T(0)" for r, c in cells),
        "for p in range(k):",
        *(f"    y{c} = b{c}[p]" for c in range(columns)),
        *(f"    x{r} = a{r}[p]" for r in range(rows)),
        *(f"    s{r}{c} += x{r} * y{c}" for r, c in cells),
        "if at_before >= 0:",
        *(f"    s{r}{c} += before[old + {r} * row + (j + {c}) * step]" for r, c in cells),
        *(f"out[to + {r} * n + j + {c}] = s{r}{c}" for r, c in cells),
    ]


def _steps(rows: int, steps: int) -> list[str]:
    """What adds some steps of the sum to all results, which are runs in memory."""
    place = "y + (p + {c}) * row_b + start"
    factors = ", ".join(f"x{c}" for c in range(steps))
    given = ", ".join(f"a[x + r * row_a + p + {c}]" for c in range(steps))
    return [
        *(f"b{c} = b[{place} : {place} + count]".format(c=c) for c in range(steps)),
        f"for r in range({rows}):",
        "    own = out[to + r * n : to + r * n + count]",
        f"    {factors} = {given}",
        "    for j in range(count):",
        "        own[j] += " + " + ".join(f"x{c} * b{c}[j]" for c in range(steps)),
    ]


def _indented(lines: list[str], by: int) -> str:
    return "\n".join(" " * by + line for line in lines)


@cache
def _text(dtype: Any, rows: int, is_along_sums: bool) -> str:
    """The kernel for a number of rows."""
    if is_along_sums:
        several = max(1, min(4, sums_at_once() // rows))
        make, unit, body = _columns, DEEP, ALONG_SUMS
    else:
        several = 8
        make, unit, body = _steps, WIDE, ALONG_RESULTS
    texts = {"several": _indented(make(rows, several), 4), "single": _indented(make(rows, 1), 4)}
    body = body.format(**texts, columns=several, steps=several, rows=rows)
    runs = [f"a{r} = a[x + {r} * row_a : x + {r} * row_a + k]" for r in range(rows)]
    kernel = KERNEL.format(
        reassociated=REASSOCIATED,
        decorators=build.DECORATORS,
        apart=build.apart(["out"]),
        unit=unit,
        rows=rows,
        body=_indented([*runs, *body.splitlines()], 8),
    )
    title = f"Products of {rows} rows: {dtype.name}."
    return "\n".join([build.HEADER.format(title=title), f"T = np.{dtype.name}", kernel])


def suits(dtype: Any, m: int, n: int, k: int, a: Layout, b: Layout) -> bool:
    """Whether the product of (m, k) and (k, n) is one of few rows that lie in long runs."""
    if dtype.name not in ("float32", "float64") or a.step != 1:
        return False
    if b.row == 1:
        return m <= MOST_ALONG_SUMS and k >= SHORTEST_SUM * m
    return b.step == 1 and m <= MOST_ALONG_RESULTS and n >= SHORTEST_RESULT


def plan_rows(
    dtype: Any,
    batch: int,
    sizes: tuple[int, int, int],
    a: Layout,
    b: Layout,
    before: Layout | None,
) -> LaunchPlan:
    """Plan out[i] = before + a[i] @ b[i], out being contiguous; before: None for nothing."""
    m, n, k = sizes
    is_along_sums = b.row == 1
    own = before or Layout(0, 1)
    leading = b.step if is_along_sums else b.row
    numbers = np.array([n, k, a.row, a.hop, leading, b.hop, *own], NUMBERS)
    name = f"few_rows_{m}_{dtype.name}"
    kinds = (int, int, dtype, dtype, dtype, dtype, int, int, int, NUMBERS)
    entry = build.entry_point(name, _text(dtype, m, is_along_sums), kinds)
    units = batch * -(-n // (DEEP if is_along_sums else WIDE))
    work = batch * m * n * k // PRODUCTS_PER_ELEMENT
    if work < 2 * threads.GRAIN:
        run = partial(entry, 0, units)
    else:
        run = partial(threads.run_ranges, entry, units, work)
    if before:
        return LaunchPlan(run, numbers)
    return LaunchPlan(partial(_run_product, run), numbers)


def plan_columns(
    dtype: Any,
    batch: int,
    sizes: tuple[int, int, int],
    a: Layout,
    b: Layout,
    before: Layout | None,
) -> LaunchPlan | None:
    """The same of one column, a row of what is turned over; None if its runs are not long."""
    m, _, k = sizes
    row, matrix = Layout(0, b.row, b.hop), Layout(a.step, a.row, a.hop)
    if not suits(dtype, 1, m, k, row, matrix):
        return None
    own = before and Layout(0, before.row, before.hop)
    run, numbers = plan_rows(dtype, batch, (1, m, k), row, matrix, own)
    return LaunchPlan(partial(_run_turned if before else _run_turned_product, run), numbers)


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
    run(out, b, a, at_b, at_a, numbers)


def _run_product(
    run: Any, out: Array, a: Array, b: Array, at_a: int, at_b: int, numbers: Array
) -> None:
    run(out, a, b, b, at_a, at_b, -1, numbers)
