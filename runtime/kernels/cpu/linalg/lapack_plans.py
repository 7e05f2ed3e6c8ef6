"""Plans of LAPACK's routines for small matrices, called from compiled code by their addresses.

SciPy's way to them costs 3 us a call, and another where results have to be copied. What is said in
LAPACK's words here is said of columns: a row-major matrix is its own transpose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.kernels import build, openblas, threads
from torchgen_out._runtime.kernels.cpu.linalg.lapack import LETTERS, MOST_ON_ONE_THREAD, spelled
from torchgen_out._runtime.kernels.cpu.small import INT64
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec, expanded_strides

NEVER_SPLIT = 1 << 12  # elements of matrices with which OpenBLAS uses one thread anyway
SIGNATURES = {
    "potrf": "wwnnn",
    "potri": "wwnnn",
    "potrs": "wwnnnnnn",
    "getrf": "wnnnnn",
    "getri": "wnnnnnn",
    "getrs": "wwnnnnnnn",
    "geqrf": "wnnnnnnn",
    "orgqr": "wnnnnnnnn",
    "ormqr": "wwwnnnnnnnnnn",
    "hetrf": "wwnnnnnn",
    "hetrs": "wwnnnnnnn",
    "sytrf": "wwnnnnnn",
    "sytrs": "wwnnnnnnn",
    "gesdd": "wwnnnnnnnnnnnn",
    "syevd": "wwwnnnnnnnn",
    "gels": "wwnnnnnnnnn",
    "gelsd": "wnnnnnnnnrnnnn",
    "gelss": "wnnnnnnnnrnnn",
    "gelsy": "wnnnnnnnnrnnn",
    "gemm": "wwwnnnrnnnnrnn",
    "trsm": "wwwwwnnnnnnn",
}
"""What the C interfaces take: words (layout, letters), whole numbers or addresses, and reals."""

OF_COMPLEX = {
    "gelsd": "wnnnnnnnnrnnnnn",
    "gelss": "wnnnnnnnnrnnnn",
    "gelsy": "wnnnnnnnnrnnnn",
    "gemm": "wwwnnnnnnnnnnn",
    "gesdd": "wwnnnnnnnnnnnnn",
    "syevd": "wwwnnnnnnnnnn",
}
"""The same for complex matrices, with an array of real numbers, or with addresses of factors."""

OF_BLAS = ("gemm", "trsm")

WORDS = """\
COLUMNS, UPPER, LOWER = np.int32(102), np.int32(ord("U")), np.int32(ord("L"))


@inner
def copy_matrix(to, start, a, at, rows, columns, row_step, column_step):
    \"\"\"Column by column.\"\"\"
    for j in range(columns):
        for i in range(rows):
            to[start + j * rows + i] = a[at + i * row_step + j * column_step]
"""


MANY, MOST_CONSTANT = 16, 8
"""Of how many matrices sizes up to which one are constants of the code."""


def sizes_text(numbers: Sequence[int], places: Mapping[str, int]) -> str:
    """Text that defines `name(plan)` for sizes, by their places in a plan that begins with a count.

    Loops of known length are unrolled: many inverses of 3 x 3 take a third of the time.
    """
    found = []
    for name, place in places.items():
        is_constant = numbers[0] >= MANY and numbers[place] <= MOST_CONSTANT
        value = int(numbers[place]) if is_constant else f"plan[{place}]"
        found.append(f"@inner\ndef {name}(plan):\n    return {value}\n\n\n")
    return "".join(found)


@cache
def text_of(dtype: Any, routines: tuple[str, ...], text: str) -> str | None:
    """Text that calls routines for one dtype; None where LAPACK is not found or has none."""
    if dtype.char not in LETTERS:
        return None
    real = dtype.type(0).real.dtype.name
    lines = [
        "from numba import types",
        f"T, R, W, N = np.{dtype.name}, types.{real}, types.int32, types.int64",
    ]
    is_complex = dtype.kind == "c"
    for name in routines:
        own = spelled(name, dtype)
        symbol = openblas.find_symbol(f"cblas_{own}" if name in OF_BLAS else f"LAPACKE_{own}_work")
        if symbol is None:
            return None
        signature = OF_COMPLEX.get(name) if is_complex else None
        arguments = ", ".join((signature or SIGNATURES[name]).upper())
        lines.append(f'{name} = types.ExternalFunction("{symbol}", N({arguments}))')
    title = f"{', '.join(routines)}: {dtype.name}."
    lines.append("conjugate = " + ("np.conj" if is_complex else "T"))
    return "\n\n".join([build.HEADER.format(title=title), "\n".join(lines), WORDS, text])


class Stack(NamedTuple):
    """Matrices of one operand: how many, their sizes, and the distances between neighbours."""

    count: int
    rows: int
    columns: int
    step: int
    row_step: int
    column_step: int

    @property
    def steps(self) -> tuple[int, int, int]:
        """From matrix to matrix, from row to row, and from column to column."""
        return self.step, self.row_step, self.column_step

    @property
    def turned(self) -> Stack:
        """The transposed matrices."""
        return Stack(
            self.count, self.columns, self.rows, self.step, self.column_step, self.row_step
        )


def stack_of(operand: TensorSpec, batch: Sequence[int] | None = None) -> Stack | None:
    """The matrices of an operand, whose batch dims broadcast to `batch` if that is given.

    None for large ones, of which none is left waiting for Python, and for unequal distances.
    """
    *own, rows, columns = operand.sizes
    batch = own if batch is None else batch
    sizes = (*batch, rows, columns)
    strides = expanded_strides((operand.sizes, operand.strides), sizes)
    if not prod(sizes) or rows * columns > MOST_ON_ONE_THREAD:
        return None
    several = [(size, step) for size, step in zip(batch, strides, strict=False) if size > 1]
    for (_, outer_step), (size, step) in pairwise(several):
        if outer_step != size * step:
            return None
    return Stack(prod(batch), rows, columns, several[-1][1] if several else 0, *strides[-2:])


def lies_by_columns(spec: TensorSpec) -> bool:
    """Whether matrices lie densely, one after the other, each column by column."""
    *batch, rows, columns = spec.sizes
    turned = spec._replace(
        sizes=(*batch, columns, rows),
        strides=(*spec.strides[:-2], spec.strides[-1], spec.strides[-2]),
    )
    return turned.is_contiguous


def plan_routines(
    routines: tuple[str, ...],
    text: str,
    outs: Sequence[TensorSpec],
    operands: Sequence[TensorSpec],
    numbers: Sequence[int],
    are_alike: bool = True,
    sizes: Mapping[str, int] | None = None,
) -> LaunchPlan | None:
    """The plan that calls `kernel(*outs, *operands, *offsets, numbers)` of a text.

    are_alike: whether all operands must have the dtype of the first. sizes: the places that
    `sizes_text` takes.
    """
    dtype = operands[0].dtype
    if are_alike and any(each.dtype != dtype for each in operands):
        return None
    whole = text_of(dtype, routines, sizes_text(numbers, sizes or {}) + text)
    if whole is None:
        return None
    dtypes = [each.dtype for each in (*outs, *operands)]
    signature = (*dtypes, *[int] * len(operands), INT64)
    entry = build.entry_point(f"{routines[0]}_{dtype.name}", whole, signature)
    numel = max(prod(each.sizes[-2:]) for each in operands)
    run = entry if numel <= NEVER_SPLIT else partial(_on_one_thread, entry)
    return LaunchPlan(run, np.array(numbers, np.int64))


def _on_one_thread(entry: Any, *args: Any) -> Any:
    """Call a kernel; small as its matrices are, OpenBLAS would share them among its threads."""
    if threads.get_num_threads() == 1:
        return entry(*args)
    with openblas.on_one_thread(openblas.numpy_library()):
        return entry(*args)
